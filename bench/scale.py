"""Speed in one knowledge base of many repositories: indexing, an unchanged source again, a cold query."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from bench.corpora import OUT, repositories
from devmind.ingest import IngestOptions, Writer

WANTED_CHUNKS = 100_000


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
    _cold(kb)


def _cold(kb: Path) -> None:
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
