"""A topic ↔ its JSON object: DevMind's own shape, which holds every field and leaves out what is empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast, get_args

from devmind.evaluate.datasets.row import Row
from devmind.evaluate.types import Annotation, Grade, Span, Topic, Truth

GRADES: Final = get_args(Grade)
STATUSES: Final = ("accepted", "rejected", "pending")
TRUTH_KEYS: Final = ("file", "start_line", "end_line", "grade", "symbol", "role", "core", "text")
ANNOTATION_KEYS: Final = ("annotator", "truths", "note")
TOPIC_KEYS: Final = (
    "topic_id", "query", "category", "truths", "repo", "commit", "language", "reference_answer", "labels",
    "annotations", "resolution", "provenance", "status",
)  # fmt: skip


def topic_of(row: Row) -> Topic:
    """Read a topic. Spans may still be reversed and ids repeated: see :mod:`devmind.evaluate.datasets.faults`."""
    row.only(TOPIC_KEYS)
    return Topic(
        topic_id=row.text("topic_id"),
        query=row.text("query"),
        category=row.text("category", ""),
        truths=truths_of(row.rows("truths")),
        repo=row.text("repo", ""),
        commit=row.text("commit", ""),
        language=row.text("language", ""),
        reference_answer=row.text("reference_answer", ""),
        labels=row.strings("labels"),
        annotations=annotations_of(row.rows("annotations")),
        resolution=row.text("resolution", ""),
        provenance=row.strings("provenance"),
        status=cast(Any, row.choice("status", STATUSES, "accepted")),
    )


def truths_of(rows: Sequence[Row]) -> tuple[Truth, ...]:
    return tuple(map(truth_of, rows))


def truth_of(row: Row) -> Truth:
    row.only(TRUTH_KEYS)
    return Truth(
        span=Span(row.text("file"), row.number("start_line", 0), row.number("end_line", 0)),
        grade=cast(Grade, row.choice("grade", GRADES, "strong")),
        symbol=row.text("symbol", ""),
        core=row.pair("core"),
        text=row.text("text", ""),
        role=row.text("role", ""),
    )


def annotations_of(rows: Sequence[Row]) -> tuple[Annotation, ...]:
    found = []
    for row in rows:
        row.only(ANNOTATION_KEYS)
        found.append(Annotation(row.text("annotator"), truths_of(row.rows("truths")), row.text("note", "")))
    return tuple(found)


def record_of(topic: Topic) -> dict[str, Any]:
    """Return the object of a topic; ``topic_of`` makes the same topic of it again."""
    return _without_defaults(
        {
            "topic_id": topic.topic_id,
            "query": topic.query,
            "category": topic.category,
            "truths": [truth_record(truth) for truth in topic.truths],
            "repo": topic.repo,
            "commit": topic.commit,
            "language": topic.language,
            "reference_answer": topic.reference_answer,
            "labels": dict(topic.labels),
            "annotations": [annotation_record(annotation) for annotation in topic.annotations],
            "resolution": topic.resolution,
            "provenance": dict(topic.provenance),
            "status": topic.status,
        },
        {"status": "accepted"},
        keep=("topic_id", "query"),
    )


def truth_record(truth: Truth) -> dict[str, Any]:
    return _without_defaults(
        {
            "file": truth.span.file,
            "start_line": truth.span.start_line,
            "end_line": truth.span.end_line,
            "grade": truth.grade,
            "symbol": truth.symbol,
            "role": truth.role,
            "core": list(truth.core) if truth.core else None,
            "text": truth.text,
        },
        {"grade": "strong"},
        keep=("file",),
    )


def annotation_record(annotation: Annotation) -> dict[str, Any]:
    truths = [truth_record(truth) for truth in annotation.truths]
    return _without_defaults(
        {"annotator": annotation.annotator, "truths": truths, "note": annotation.note}, {}, keep=("annotator", "truths")
    )


def _without_defaults(values: Mapping[str, Any], defaults: Mapping[str, Any], *, keep: Sequence[str]) -> dict[str, Any]:
    return {
        key: value
        for key, value in values.items()
        if key in keep or (value != defaults[key] if key in defaults else value not in ("", 0, None, [], {}))
    }
