"""A run → the forms that other tools score: TREC, and JSON Lines with hits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from devmind.errors import UsageError
from devmind.evaluate.datasets.docid import docid
from devmind.evaluate.types import Dataset, Retrieved, Run, Span


def trec_lines(run: Run, dataset: Dataset) -> Iterator[str]:
    """Yield ``qid Q0 docid rank score tag`` for every hit that has a place, in the dataset's order.

    The scores of a topic are whole numbers that fall strictly: tools break ties in different ways, and our lists are
    scored by position. A document that was named before is left out, for tools keep one score a document.
    """
    tag = "-".join(run.system.split()) or "devmind"
    for topic in dataset.topics:
        response = run.responses.get(topic.topic_id)
        places = [_place(hit) for hit in response.hits] if response is not None else []
        documents = list(dict.fromkeys(docid(topic.repo, place) for place in places if place is not None))
        for rank, document in enumerate(documents, start=1):
            yield f"{topic.topic_id} Q0 {document} {rank} {len(documents) + 1 - rank} {tag}"


def hit_lines(run: Run, dataset: Dataset) -> Iterator[str]:
    """Yield one JSON object a response: ``{"id", "repo", "query", "hits", "abstain", "confidence"?}``, for scripts."""
    for topic in dataset.topics:
        response = run.responses.get(topic.topic_id)
        if response is None:
            continue
        row: dict[str, Any] = {
            "id": topic.topic_id,
            "repo": topic.repo,
            "query": topic.query,
            "hits": [_hit(hit) for hit in response.hits],
            "abstain": response.abstained,
        }
        if response.confidence is not None:
            row["confidence"] = response.confidence
        yield json.dumps(row, ensure_ascii=False)


def write_lines(lines: Iterator[str], path: Path) -> int:
    """Write each line to ``path`` and return how many there are.

    Raises:
        UsageError: The file cannot be written.
    """
    try:
        with path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            n_lines = 0
            for line in lines:
                file.write(line + "\n")
                n_lines += 1
            return n_lines
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}; choose another file") from error


def _place(hit: Retrieved) -> Span | None:
    return hit.span or (Span(hit.file) if hit.file else None)


def _hit(hit: Retrieved) -> dict[str, Any]:
    place = hit.span or Span(hit.file)
    lines = (None, None) if place.whole_file else (place.start_line, place.end_line)
    row: dict[str, Any] = {"file": place.file, "start_line": lines[0], "end_line": lines[1]}
    if hit.symbol:
        row["symbol"] = hit.symbol
    if hit.score is not None:
        row["score"] = hit.score
    return row
