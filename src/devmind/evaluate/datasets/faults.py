"""What is wrong with a topic by itself, without looking at any code; and topics → a ``Dataset``, if nothing is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from devmind.evaluate.datasets.files import dump
from devmind.evaluate.datasets.place import Place, Placed
from devmind.evaluate.datasets.record import record_of
from devmind.evaluate.types import TRAP, Dataset, Topic, Truth

# Faults that make a topic useless or scores wrong: no dataset is made while one stands. The others wait for `check`.
FATAL = frozenset({"empty_id", "empty_query", "reversed_span", "bad_lines", "bad_path"})


@dataclass(frozen=True, slots=True)
class Fault:
    """A stable ``kind``, the field of the topic, and a sentence that says what to do."""

    kind: str
    field: str
    message: str


def content_hash(topics: Sequence[Topic]) -> str:
    """Return 32 hexadecimal digits that depend on every field of every topic, and not on their order (BLAKE2b)."""
    digest = hashlib.blake2b(digest_size=16)
    for topic in sorted(topics, key=lambda topic: topic.topic_id):
        digest.update(dump(_sorted(record_of(topic))).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def _sorted(record: dict[str, object]) -> dict[str, object]:
    inner = {key: dict(sorted(value.items())) for key, value in record.items() if isinstance(value, dict)}
    return record | inner


def dataset_of(name: str, topics: Sequence[Topic]) -> Dataset:
    return Dataset(name, tuple(topics), content_hash(topics))


def validated(name: str, placed: Sequence[Placed], *, file: str) -> Dataset:
    """Return the dataset.

    Raises:
        UsageError: there is no topic, an id stands twice, or a topic has a fatal fault; with file, line, topic, field.
    """
    if not placed:
        raise Place(file).error("holds no topics; a dataset needs at least one")
    seen: dict[str, int] = {}
    for item in placed:
        topic, place = item.topic, replace(item.place, topic=item.topic.topic_id)
        for fault in faults(topic):
            if fault.kind in FATAL:
                raise place.error(fault.message, field=fault.field)
        if topic.topic_id in seen:
            first = f" (first in line {seen[topic.topic_id]})" if seen[topic.topic_id] else ""
            raise place.error(f"this id stands twice{first}; give each topic its own", field="topic_id")
        seen[topic.topic_id] = place.line
    return dataset_of(name, [item.topic for item in placed])


def faults(topic: Topic) -> Iterator[Fault]:
    """Yield what is wrong with ``topic``, in the order of its fields."""
    if not topic.topic_id.strip():
        yield Fault("empty_id", "topic_id", "is empty; give the topic an id")
    if not topic.query.strip():
        yield Fault("empty_query", "query", "is empty; write the question, or remove the topic")
    if topic.category == TRAP and topic.truths:
        yield Fault(
            "trap_with_truths",
            "truths",
            f"a trap is about something that does not exist, but {len(topic.truths)} spans answer it; "
            "remove them or change the category",
        )
    if topic.category != TRAP and not topic.truths and topic.status != "pending":
        yield Fault("no_truth", "truths", f"nothing answers this topic; label it, or make its category {TRAP!r}")
    for number, truth in enumerate(topic.truths):
        yield from truth_faults(truth, f"truths[{number}].")
    for number, annotation in enumerate(topic.annotations):
        for inner, truth in enumerate(annotation.truths):
            yield from truth_faults(truth, f"annotations[{number}].truths[{inner}].")


def truth_faults(truth: Truth, at: str) -> Iterator[Fault]:
    """Yield what is wrong with a truth; ``at`` is its path in the topic, such as ``truths[0].``."""
    span = truth.span
    if not span.file.strip() or span.file.startswith("/") or ".." in PurePosixPath(span.file).parts:
        yield Fault("bad_path", at + "file", f"is {span.file!r}; it must be a path relative to the repository's root")
    if span.whole_file:
        return
    if span.start_line < 1 or span.end_line < 1:
        yield Fault(
            "bad_lines",
            at + ("start_line" if span.start_line < 1 else "end_line"),
            f"the lines are {span.start_line} to {span.end_line}; lines begin at 1 (leave both out for the whole file)",
        )
    elif span.start_line > span.end_line:
        yield Fault(
            "reversed_span",
            at + "start_line",
            f"the span is reversed: it begins at {span.start_line} and ends at {span.end_line}; swap them",
        )
    elif truth.core and not span.start_line <= truth.core[0] <= truth.core[1] <= span.end_line:
        yield Fault(
            "core_outside",
            at + "core",
            f"the core {truth.core[0]}-{truth.core[1]} is not inside {span.start_line}-{span.end_line}; correct one",
        )
