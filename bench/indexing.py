"""Completeness, chunk invariants and speed of indexing on every benchmark repository."""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter

from bench.corpora import index, open_service, repositories


def run() -> None:
    reasons: Counter[str] = Counter()
    n_files = n_bytes = n_wrong = 0
    seconds = 0.0
    for folder in repositories():
        started = time.monotonic()
        report = index(folder)
        took = time.monotonic() - started
        reasons.update(report.skips_by_reason)
        n_files += report.n_indexed
        if report.changed:
            n_bytes += report.bytes_indexed
            seconds += took
        wrong = _inexact_chunks(folder.name)
        n_wrong += wrong
        rate = report.bytes_indexed / 1e6 / max(took, 1e-9)
        print(
            f"{folder.name:28s} {report.n_indexed:6d} files {report.n_chunks:7d} chunks "
            f"{report.bytes_indexed / 1e6:7.1f} MB {took:6.1f} s "
            f"{rate:5.2f} MB/s complete {report.completeness:.4f} inexact {wrong}",
            flush=True,
        )
    peak = (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + 2 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    )
    unit = 1 if sys.platform == "darwin" else 1024
    print(f"all: {n_files} files, inexact chunks {n_wrong}, skips {dict(reasons)}")
    if seconds:
        print(f"rate {n_bytes / 1e6 / seconds:.2f} MB/s; peak memory (main + 2 workers) <= {peak * unit / 1e9:.2f} GB")


def _inexact_chunks(name: str) -> int:
    """Count chunks whose content is not the lines of their file, and non-blank lines in no chunk."""
    wrong = 0
    with open_service(name) as service:
        for document in service.export(name):
            lines = document["text"].split("\n")
            covered: set[int] = set()
            for chunk in document["chunks"]:
                start, end = chunk["start_line"], chunk["end_line"]
                wrong += chunk["content"] != "\n".join(lines[start - 1 : end])
                covered.update(range(start, end + 1))
            wrong += sum(1 for n, line in enumerate(lines, 1) if line.strip() and n not in covered)
    return wrong
