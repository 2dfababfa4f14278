"""Quality of retrieval on both suites; the suites' own scripts do the scoring."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

from bench.corpora import OUT, SUITES, as_hits, json_lines, open_service, semble_topics

K = 10


def run(kinds: tuple[str, ...] = ("semble", "realrepos")) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    if "semble" in kinds:
        _semble(OUT / "semble.jsonl")
        _score(SUITES / "semble" / "score.py", [str(OUT / "semble.jsonl")], lines=9)
    if "realrepos" in kinds:
        bench = SUITES / "realrepos" / "dev.jsonl"
        _realrepos(bench, OUT / "realrepos.jsonl")
        script = SUITES / "realrepos" / "score.py"
        _score(script, ["--bench", str(bench), "--results", str(OUT / "realrepos.jsonl")], lines=60)


def _semble(out: Path) -> None:
    by_repo: dict[str, list[str]] = defaultdict(list)
    for repo, query in semble_topics():
        by_repo[repo].append(query)
    times = []
    with out.open("w") as file:
        for repo, queries in by_repo.items():
            with open_service(f"semble-{repo}") as service:
                for query in queries:
                    started = time.process_time()
                    result = service.search(query, k=K)
                    times.append(time.process_time() - started)
                    file.write(json.dumps({"repo": repo, "query": query, "hits": as_hits(result)}) + "\n")
    print(f"semble: {len(times)} queries, median {sorted(times)[len(times) // 2] * 1000:.1f} ms CPU a query")


def _realrepos(bench: Path, out: Path) -> None:
    by_repo: dict[str, list[dict[str, str]]] = defaultdict(list)
    for topic in json_lines(bench):
        by_repo[topic["repo"]].append(topic)
    with out.open("w") as file:
        for repo, topics in sorted(by_repo.items()):
            with open_service(repo) as service:
                for topic in topics:
                    result = service.search(topic["query"], k=K)
                    row = {"id": topic["id"], "hits": as_hits(result), "confidence": result.confidence}
                    file.write(json.dumps(row) + "\n")


def _score(script: Path, arguments: list[str], *, lines: int) -> None:
    said = subprocess.run([sys.executable, str(script), *arguments], capture_output=True, text=True)
    print("\n".join((said.stdout or said.stderr).splitlines()[:lines]))
