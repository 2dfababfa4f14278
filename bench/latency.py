"""How long a warm query takes: CPU in one repository, wall in 105,000 chunks. Never kept on disk."""

from __future__ import annotations

import os
import time
from statistics import median
from typing import Final

from bench.corpora import OUT
from bench.figures import head, row
from bench.topics import SEMBLE, by_repo, topics
from devmind.service import Service
from devmind.settings import Settings

MARK_CPU_MS, MARK_WALL_MS = 3.0, 10.0
LARGE: Final = OUT / "kb-scale"
N_NAMES: Final = 100
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
    cpu, n_repos = _one_repository()
    print(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors.\n")
    head("warm query", "queries", "mark", "p50", "p95")
    if cpu:
        row(f"CPU, one repository ({n_repos} in turn)", str(len(cpu)), f"{MARK_CPU_MS:.0f} ms", *_told(cpu))
    if not (LARGE / "catalog.sqlite").exists():
        print(f"\nNo large knowledge base in {LARGE}: run 'python -m bench scale' first.")
        return
    wall, cpu, n_chunks = _large()
    row(f"wall, {n_chunks:,} chunks", str(len(wall)), f"{MARK_WALL_MS:.0f} ms", *_told(wall))
    row("… CPU", str(len(cpu)), "–", *_told(cpu))


def _told(times: list[float]) -> tuple[str, str]:
    return f"{median(times):.1f} ms", f"{sorted(times)[int(len(times) * 0.95)]:.1f} ms"


def _one_repository() -> tuple[list[float], int]:
    """Return the milliseconds of CPU of each query of the semble suite, asked of its own repository."""
    times = []
    repos = by_repo(topic for topic in topics() if topic.suite == SEMBLE)
    for repo, own in repos.items():
        with Service(Settings(home=OUT / "kb" / repo), cache_seconds=0) as service:
            service.search("warm up")
            for topic in own:
                started = time.process_time()
                service.search(topic.query)
                times.append((time.process_time() - started) * 1000)
    return times, len(repos)


def _large() -> tuple[list[float], list[float], int]:
    """Return the milliseconds of wall and of CPU of each query, and how many chunks are searched."""
    wall, cpu = [], []
    with Service(Settings(home=LARGE), cache_seconds=0) as service:
        names = [
            row[0] for row in service.catalog.rows("SELECT DISTINCT name FROM symbol ORDER BY content_id LIMIT 4000")
        ]
        step = max(1, len(names) // N_NAMES)
        service.search("warm up")
        for query in [*QUERIES, *(f"how does {name} work" for name in names[::step])]:
            started, before = time.perf_counter(), time.process_time()
            service.search(query)
            wall.append((time.perf_counter() - started) * 1000)
            cpu.append((time.process_time() - before) * 1000)
        return wall, cpu, service.retriever.published.lexical.n_chunks
