"""How long a run takes: 600 distinct topics against DevMind in this process, and what evaluation itself adds."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from bench.corpora import OUT, REPOS, index, open_service
from devmind.evaluate.runner import Progress, RunOptions, failures_by_kind, run_target
from devmind.evaluate.targets import open_target
from devmind.evaluate.types import Dataset, Response, Retrieved, Span, Topic
from devmind.settings import Settings
from devmind.types import stable_id

REPO = os.environ.get("BENCH_EVAL_REPO", "flask-3.1.2")
N_TOPICS = 600
K = 10


class Nothing:
    """A target that costs nothing: the time of its run is evaluation's own."""

    name = "nothing"

    def respond(self, topic: Topic, *, k: int) -> Response:
        hits = tuple(Retrieved(Span("a.py", n, n + 20), text="x = 1\n" * 20, score=1 / n) for n in range(1, k + 1))
        return Response(topic.topic_id, hits=hits)

    def close(self) -> None:
        """Nothing is open."""

    def settings(self) -> Mapping[str, str]:
        return {}


def run() -> None:
    if not (OUT / "kb" / REPO / "catalog.sqlite").exists():
        index(REPOS / REPO)
    topics = _topics()
    dataset = Dataset("made of symbols", topics, stable_id(*(t.query for t in topics)))
    print(f"{REPO}: {len(topics)} topics, k {K}")
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        run_target(dataset, Nothing(), k=K, out=Path(folder) / "nothing.jsonl")
        own_ms = (time.perf_counter() - started) / len(topics) * 1000
        print(f"evaluation itself: {own_ms:.2f} ms a topic, journal on disk included")
        for spec in ("devmind", "devmind:ask"):
            for concurrency in (1, 4):
                _measure(dataset, spec, Path(folder) / f"{stable_id(spec, concurrency)}.jsonl", concurrency=concurrency)


def _topics() -> tuple[Topic, ...]:
    """Return distinct questions about what the repository defines."""
    queries: dict[str, None] = {}
    with open_service(REPO) as service:
        for document in service.export():
            for symbol in document["symbols"]:
                name, told = symbol["qualified_name"], symbol["docstring"].strip().partition("\n")[0]
                queries[f"Where is {name} defined and what is it for?"] = None
                if len(told.split()) >= 4:
                    queries[told] = None
    chosen = islice(queries, 0, None, max(1, len(queries) // N_TOPICS))
    return tuple(Topic(f"t{n}", query, repo=REPO) for n, query in enumerate(islice(chosen, N_TOPICS), start=1))


def _measure(dataset: Dataset, spec: str, out: Path, *, concurrency: int) -> None:
    told: list[Progress] = []
    options = RunOptions(concurrency=concurrency)
    target = open_target(spec, settings=Settings(home=OUT / "kb" / REPO))
    try:
        wall, cpu = time.perf_counter(), time.process_time()
        result = run_target(dataset, target, k=K, out=out, options=options, progress=told.append)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        resumed = time.perf_counter()
        run_target(dataset, target, k=K, out=out, options=options)
        resumed = time.perf_counter() - resumed
    finally:
        target.close()
    seconds = sorted(response.seconds for response in result.responses.values())
    print(
        f"{spec:12s} concurrency {concurrency}: {wall:5.1f} s, {cpu:5.1f} s CPU; a topic p50 "
        f"{seconds[len(seconds) // 2] * 1000:.1f} ms, p99 {seconds[int(len(seconds) * 0.99)] * 1000:.1f} ms; "
        f"{len(told)} batches, {out.stat().st_size / 1e6:.1f} MB; "
        f"opened again {resumed:.2f} s; failures {failures_by_kind(result.responses)}"
    )
