"""Rows for ragas: ``user_input, reference_contexts, reference_context_ids, reference`` as JSON Lines or a JSON list.

The ids of the reference contexts are our spans (:mod:`devmind.evaluate.datasets.docid`), so they come back as truths.
A context without an id has no place in any file: it is kept as provenance ``unplaced_contexts``, a JSON list, until
somebody aligns it to the code. ``retrieved_contexts`` and ``response`` belong to a run and are not read.

Source: ragas 0.4, ``SingleTurnSample``; it ignores unknown keys of a row, so ours (``id``, ``reference_grades``, …)
do no harm.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from devmind.evaluate.datasets.docid import docid, parse_docid
from devmind.evaluate.datasets.files import dump, dump_lines, read_rows, write_text
from devmind.evaluate.datasets.foreign import extras, made_id, row_of
from devmind.evaluate.datasets.place import Placed
from devmind.evaluate.datasets.record import GRADES
from devmind.evaluate.datasets.row import Row, shown
from devmind.evaluate.types import Dataset, Span, Topic, Truth

OF_A_RUN: Final = ("retrieved_contexts", "retrieved_context_ids", "response", "multi_responses")
TEXTS: Final = ("category", "repo", "commit", "language")
KNOWN: Final = (
    "id", "user_input", "reference", "reference_contexts", "reference_context_ids", "reference_grades",
    *TEXTS, *OF_A_RUN,
)  # fmt: skip
TextOf = Callable[[Topic, Span], str]


def read(path: Path) -> tuple[str, list[Placed]]:
    found: list[Placed] = []
    taken: set[str] = set()
    for line, values in read_rows(path):
        row = row_of(path, line, values, "id")
        query = row.text("user_input")
        topic_id = row.identity("id") if values.get("id") is not None else made_id(query, taken)
        taken.add(topic_id)
        found.append(Placed(_topic(row, topic_id, query), row.place))
    return path.stem, found


def _topic(row: Row, topic_id: str, query: str) -> Topic:
    contexts, ids = row.items("reference_contexts"), row.items("reference_context_ids")
    for number, context in enumerate(contexts):
        if not isinstance(context, str):
            raise row.fail(f"reference_contexts[{number}]", f"must be a string, not {shown(context)}")
    if ids and contexts and len(ids) != len(contexts):
        raise row.fail("reference_context_ids", f"{len(ids)} ids for {len(contexts)} reference_contexts; give each one")
    grades = row.items("reference_grades") or ["strong"] * len(ids)
    if len(grades) != len(ids) or any(grade not in GRADES for grade in grades):
        raise row.fail("reference_grades", f"must be one of {', '.join(GRADES)} for each of the {len(ids)} ids")
    placed = [parse_docid(str(name)) for name in ids]
    texts = contexts if contexts and ids else [""] * len(ids)
    unplaced = {"unplaced_contexts": dump(contexts)} if contexts and not ids else {}
    return Topic(
        topic_id,
        query,
        category=row.text("category", ""),
        truths=tuple(
            Truth(span, grade, text=text) for (_, span), grade, text in zip(placed, grades, texts, strict=True)
        ),
        repo=row.text("repo", "") or next((repo for repo, _ in placed if repo), ""),
        commit=row.text("commit", ""),
        language=row.text("language", ""),
        reference_answer=row.text("reference", ""),
        provenance=extras(row.values, KNOWN) | unplaced,
    )


def write(dataset: Dataset, path: Path, text_of: TextOf) -> None:
    """Write JSON Lines, or a list if the path ends in ``.json``."""
    rows = [_record(topic, text_of) for topic in dataset.topics]
    listed = path.suffix.lower() == ".json"
    write_text(path, dump(rows, indent=1) + "\n" if listed else dump_lines(rows))


def _record(topic: Topic, text_of: TextOf) -> dict[str, Any]:
    own = {name: getattr(topic, name) for name in TEXTS if getattr(topic, name)}
    return {
        "id": topic.topic_id,
        "user_input": topic.query,
        "reference_contexts": [text_of(topic, truth.span) for truth in topic.truths],
        "reference_context_ids": [docid(topic.repo, truth.span) for truth in topic.truths],
        "reference_grades": [truth.grade for truth in topic.truths],
        "reference": topic.reference_answer,
        **own,
    }
