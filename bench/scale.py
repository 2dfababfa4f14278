"""Speed in one knowledge base of many repositories: indexing, an unchanged source again, cold and warm queries."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from statistics import median

from bench.corpora import OUT, repositories
from devmind.ingest import IngestOptions, Writer
from devmind.service import Service
from devmind.settings import Settings

WANTED_CHUNKS = 100_000
QUERIES = (
    "where are requests retried after a timeout",
    "how is the configuration file loaded and merged",
    "parse a date string with a time zone",
    "hash map grows when it is full",
    "validate user input and report errors",
    "middleware that checks permissions",
    "write a response header",
    "close idle connections of the pool",
    "用户登录时如何校验密码",
    "缓存在哪里失效",
)


def run() -> None:
    kb = OUT / "kb-scale"
    n_chunks, n_bytes, cpu, wall, largest = 0, 0, 0.0, 0.0, None
    for folder in sorted(repositories(), key=lambda f: ("semble" in f.name, f.name), reverse=True):
        if n_chunks >= WANTED_CHUNKS:
            break
        before, started = _cpu(), time.monotonic()
        with Writer(kb, IngestOptions()) as writer:
            report = writer.add(str(folder), name=folder.name)
        wall, cpu = wall + time.monotonic() - started, cpu + _cpu() - before
        n_chunks, n_bytes = n_chunks + report.n_chunks, n_bytes + report.bytes_indexed
        if largest is None or report.n_indexed > largest[1]:
            largest = (folder, report.n_indexed)
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + 2 * children) / 1e6
    print(
        f"index: {n_bytes / 1e6:.1f} MB, {n_chunks} chunks, {n_bytes / 1e6 / wall:.2f} MB/s, "
        f"{cpu / n_bytes * 1e6:.2f} CPU-s a MB"
    )
    print(f"peak memory, this process and two workers: <= {peak:.2f} GB")
    if largest is not None:
        started, before = time.monotonic(), _cpu()
        with Writer(kb, IngestOptions()) as writer:
            report = writer.add(str(largest[0]), name=largest[0].name)
        took = time.monotonic() - started
        print(
            f"unchanged again: {report.n_indexed} files in {took:.2f} s "
            f"({_cpu() - before:.2f} CPU-s), changed {report.changed}"
        )
    _queries(kb)


def _queries(kb: object) -> None:
    with Service(Settings(home=OUT / "kb-scale")) as service:
        names = [
            row[0] for row in service.catalog.rows("SELECT DISTINCT name FROM symbol ORDER BY content_id LIMIT 4000")
        ]
        queries = [*QUERIES, *(f"how does {names[i]} work" for i in range(0, len(names), max(1, len(names) // 100)))]
        service.search("warm up")
        times = []
        for query in queries:
            started = time.perf_counter()
            service.search(query)
            times.append((time.perf_counter() - started) * 1000)
        times.sort()
        print(
            f"warm query: p50 {median(times):.1f} ms, "
            f"p95 {times[int(len(times) * 0.95)]:.1f} ms over {len(times)} queries"
        )
    command = [sys.executable, "-m", "devmind", "--kb", str(kb), "--json", "search", "hash map growth"]
    cold = []
    for _ in range(5):
        before = _cpu()
        subprocess.run(command, check=True, capture_output=True)
        cold.append(_cpu() - before)
    print(f"cold search: median {median(cold):.2f} CPU-s of 5")


def _cpu() -> float:
    return sum(
        u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
