"""Abstention: traps refused, answerable questions wrongly refused, and citations that resolve."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from bench.corpora import SUITES, json_lines, open_service


def run() -> None:
    by_repo: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for topic in json_lines(SUITES / "realrepos" / "dev.jsonl"):
        if topic["category"] == "trap" or topic["source"] in ("swe-qa", "semble-zh"):
            by_repo[topic["repo"]].append(topic)
    n: dict[str, int] = defaultdict(int)
    for repo, topics in sorted(by_repo.items()):
        with open_service(repo) as service:
            for topic in topics:
                answer = service.ask(topic["query"])
                kind = "trap" if topic["category"] == "trap" else "answerable"
                n[kind] += 1
                n[f"{kind} refused"] += answer.abstained
                for citation in answer.citations:
                    n["citations"] += 1
                    lines = service.sources.lines(citation.repo, citation.path, answer.evidence[0].generation)
                    ok = (
                        citation.verified
                        and lines is not None
                        and 1 <= citation.start_line <= citation.end_line <= len(lines)
                    )
                    n["citations that resolve"] += ok
    for name in sorted(n):
        print(f"{name:28s} {n[name]}")
