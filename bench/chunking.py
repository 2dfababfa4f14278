"""What each way of chunking is worth: the figures of `quality` on a few repositories, indexed anew by each strategy."""

from __future__ import annotations

import os
from typing import Final

from bench.ablations import changed
from bench.corpora import OUT, REPOS
from bench.figures import FIGURES, Values, difference, estimated, head, row, values
from bench.runs import run as run_of
from bench.topics import TRAPS, topics
from bench.variants import Variant
from devmind.evaluate.chunkers import BASELINE, STRATEGIES
from devmind.ingest import IngestOptions, Writer
from devmind.settings import Strategy

# Small ones of every suite but the chains: 14 MB, which four strategies index in about two minutes.
WANTED: Final = os.environ.get(
    "BENCH_CHUNKING_REPOS",
    "flask-2.2.5 flask-3.1.2 maxkb-81ffe59c pytest-4.4.2 requests-2.32.5 requests-2.4.3 semble-axum semble-chi "
    "semble-circe semble-express semble-fastapi semble-fmtlib semble-guzzle semble-httpx semble-lazy.nvim semble-plug "
    "semble-redux semble-requests semble-starlette semble-xmonad",
).split()


def run() -> None:
    asked = [topic for topic in topics() if topic.repo in WANTED and topic.suite != TRAPS]
    present = sorted({topic.repo for topic in asked if (REPOS / topic.repo).is_dir()})
    if missing := sorted(set(WANTED) - set(present)):
        print(f"Left out, for they are not in {REPOS} or have no knowledge base: {', '.join(missing)}.")
    asked = [topic for topic in asked if topic.repo in present]
    if not asked:
        return
    print(f"{len(present)} repositories, {len(asked)} topics. Bold: the 95 % interval of the paired difference to "
          f"{BASELINE} excludes 0.\n")  # fmt: skip
    columns = [figure for figure in FIGURES if any(figure.of(topic) for topic in asked)]
    head("chunking", "chunks", *(figure.short for figure in columns))
    ordered = sorted(STRATEGIES, key=lambda strategy: strategy != BASELINE)
    base: dict[str, Values] = {}
    for strategy in ordered:
        kbs = f"kb-{strategy}"
        n_chunks = sum(_indexed(repo, strategy, kbs) for repo in present)
        rows = run_of(asked, Variant(f"chunks-{strategy}", strategy, kbs=kbs))
        found = {figure.short: values(figure, asked, rows) for figure in columns}
        base = base or found
        cells = (changed(estimated(found[one]), difference(found[one], base[one])) for one in found)
        row(strategy, f"{n_chunks:,}", *cells)


def _indexed(repo: str, strategy: Strategy, kbs: str) -> int:
    """Index a repository if it is not yet, and return how many chunks it has."""
    with Writer(OUT / kbs / repo, IngestOptions(strategy=strategy, n_workers=1)) as writer:
        return writer.add(str(REPOS / repo), name=repo, exclude=(".bench-ok",)).n_chunks
