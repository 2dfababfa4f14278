"""Runs of several systems → the spans worth an annotator's look: the first hits of each, by topic.

To judge only what one system found would favour it; pooling several, and what a person finds by reading, does not.

Source: pooling as TREC does it (Spärck Jones and van Rijsbergen, 1975).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from devmind.evaluate.datasets.files import read_json_lines
from devmind.evaluate.datasets.foreign import clean_path, row_of
from devmind.evaluate.datasets.row import Row
from devmind.evaluate.types import Span

DEPTH = 10  # hits of each run: what a reader of results looks at


def read_pool(runs: Sequence[Path], *, depth: int = DEPTH) -> Mapping[str, tuple[Span, ...]]:
    """Return the union of the first hits, each once, by topic id.

    Args:
        runs: JSON Lines ``{"id", "hits": [{"file", "start_line", "end_line"}…]}``: what ``devmind search --batch``
            writes.
    """
    found: dict[str, dict[Span, None]] = {}
    for path in runs:
        for line, values in read_json_lines(path):
            row = row_of(path, line, values, "id")
            spans = found.setdefault(row.identity("id"), {})
            for hit in row.rows("hits", required=True)[:depth]:
                spans[_span(hit)] = None
    return {topic_id: tuple(spans) for topic_id, spans in found.items()}


def _span(hit: Row) -> Span:
    return Span(clean_path(hit.text("file")), hit.number("start_line", 0), hit.number("end_line", 0))
