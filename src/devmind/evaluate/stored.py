"""Scores ↔ a file of JSON Lines: what a baseline is, and what a run leaves beside its responses.

The first line says what was measured and how it was made; every other line holds the measures of one topic, in the
order of the header. Neither questions nor labels are in it, so it may lie beside code whose test half is kept apart.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast, get_args

from devmind.errors import StoreError, UsageError
from devmind.evaluate.datasets.files import dump, read_text, write_text
from devmind.evaluate.score import overall_of
from devmind.evaluate.types import Outcome, Scores, TopicScore

FORMAT: Final = 1  # 1: first format
_OUTCOMES: Final = get_args(Outcome)
_MOST: Final = sys.float_info.max  # `isfinite` cannot be asked of a whole number of 400 digits


@dataclass(frozen=True, slots=True)
class StoredScores:
    """Scores without groups, the name of their dataset, and how they were made."""

    scores: Scores
    dataset: str
    provenance: Mapping[str, str]


def write_scores(path: Path, stored: StoredScores) -> None:
    """Write the scores so that the file is either the old one or the new one.

    Raises:
        UsageError: it cannot be written.
    """
    scores = stored.scores
    measures = list(scores.overall)
    header = {
        "format": FORMAT,
        "system": scores.system,
        "dataset": stored.dataset,
        "dataset_hash": scores.dataset_hash,
        "match": scores.match,
        "confidence_auroc": scores.confidence_auroc,
        "provenance": dict(stored.provenance),
        "measures": measures,
    }
    rows = [[t.topic_id, t.repo, t.outcome, [t.measures.get(name) for name in measures]] for t in scores.topics]
    write_text(path, "".join(dump(value) + "\n" for value in ({"scores": header}, *rows)))


def read_scores(path: Path) -> StoredScores:
    """Return the scores in ``path``; their means and intervals are made anew from the topics.

    Raises:
        UsageError: the file cannot be read, or holds no scores or none of any topic.
        StoreError: it is damaged.
    """
    from devmind.evaluate.datasets.files import parse_json
    from devmind.evaluate.datasets.place import Place

    lines = [(number, line) for number, line in enumerate(read_text(path).split("\n"), start=1) if line.strip()]
    if not lines or not lines[0][1].startswith('{"scores": '):
        raise UsageError(
            f"{path} holds no scores: name a baseline of 'devmind eval gate --write-baseline', or the folder of a run",
            code="not_scores",
        )
    values = [(number, parse_json(line, Place(str(path), number))) for number, line in lines]
    header = _header(values[0][1]["scores"], path)
    topics = [_topic(row, header["measures"], f"{path}:{number}") for number, row in values[1:]]
    if not topics:
        raise UsageError(f"{path} holds the scores of no topic: there is nothing to compare with", code="no_topics")
    _refuse_repeated(topics, path)
    scores = Scores(
        system=header["system"],
        overall=overall_of(topics),
        groups={},
        topics=topics,
        n_missing=sum(topic.outcome == "missing" for topic in topics),
        n_failed=sum(topic.outcome == "failed" for topic in topics),
        match=header["match"],
        dataset_hash=header["dataset_hash"],
        confidence_auroc=header["confidence_auroc"],
    )
    return StoredScores(scores, header["dataset"], header["provenance"])


def _header(row: Any, path: Path) -> dict[str, Any]:
    if not isinstance(row, dict) or row.get("format") != FORMAT:
        version = row.get("format") if isinstance(row, dict) else None
        raise StoreError(
            f"{path} has format {version!r}, this devmind reads format {FORMAT}: write the baseline again",
            code="format",
        )
    kinds = {"system": str, "dataset": str, "dataset_hash": str, "match": str, "provenance": dict, "measures": list}
    for key, kind in kinds.items():
        if not isinstance(row.get(key), kind):
            raise StoreError(f"{path}:1: field {key!r} is {row.get(key)!r:.60}; write the baseline again")
    return {"confidence_auroc": None, **row}


def _topic(row: Any, measures: Sequence[str], where: str) -> TopicScore:
    sound = isinstance(row, list) and len(row) == 4 and isinstance(row[3], list) and len(row[3]) == len(measures)
    if not sound or row[2] not in _OUTCOMES or not all(isinstance(text, str) for text in row[:3]):
        raise StoreError(f"{where}: is no topic's scores ({row!r:.80}); write the baseline again")
    for name, value in zip(measures, row[3], strict=True):
        number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _MOST
        if value is not None and not number:
            raise StoreError(f"{where}: topic {row[0]!r}, {name} is {value!r:.40}, no number; write the baseline again")
    # a measure that a topic does not have is absent there, and None where it is not defined: both are None here
    return TopicScore(row[0], dict(zip(measures, row[3], strict=True)), cast(Outcome, row[2]), row[1])


def _refuse_repeated(topics: Sequence[TopicScore], path: Path) -> None:
    seen: set[str] = set()
    for topic in topics:
        if topic.topic_id in seen:
            raise StoreError(f"{path}: topic {topic.topic_id!r} stands twice; write the baseline again")
        seen.add(topic.topic_id)
