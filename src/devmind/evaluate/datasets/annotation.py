"""What two or more people said about a topic: merging it, where they differ, how it was settled, how far they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from devmind.errors import UsageError
from devmind.evaluate.datasets.check import overlap
from devmind.evaluate.types import Annotation, Span, Topic, Truth

State = Literal["open", "single", "agreed", "conflict", "resolved"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """One difference between two annotators about one topic; ``a`` or ``b`` is None if only the other saw a span.

    ``kind``: ``missing`` (only one marked it), ``lines`` (they share lines but not all), ``grade``.
    """

    topic_id: str
    kind: Literal["missing", "lines", "grade"]
    annotator_a: str
    annotator_b: str
    a: Truth | None
    b: Truth | None


@dataclass(frozen=True, slots=True)
class Progress:
    """How many topics are in which state, and how many each annotator has done."""

    n_topics: int
    n_by_state: Mapping[State, int]
    n_by_annotator: Mapping[str, int]


def merged(topics: Sequence[Topic], incoming: Sequence[Topic]) -> tuple[list[Topic], int]:
    """Add the annotations of ``incoming`` to the topics with the same ids; returns how many were new or changed.

    A later annotation by the same person replaces the earlier one. Nothing else of ``incoming`` is taken.

    Raises:
        UsageError: ``incoming`` has a topic that ``topics`` lacks, or an annotation without a name.
    """
    by_id = {topic.topic_id: topic for topic in topics}
    n_changed = 0
    for topic in incoming:
        known = by_id.get(topic.topic_id)
        if known is None:
            raise UsageError(
                f"annotations for the topic {topic.topic_id!r}, which the dataset does not have; "
                "import them into the dataset that they were made for",
                code="unknown_topic",
            )
        for annotation in topic.annotations:
            if not annotation.annotator.strip():
                raise UsageError(f"topic {topic.topic_id!r}: an annotation without an annotator; name who made it")
            if annotation not in known.annotations:
                known = annotated(known, annotation)
                n_changed += 1
        by_id[topic.topic_id] = known
    return [by_id[topic.topic_id] for topic in topics], n_changed


def annotated(topic: Topic, annotation: Annotation) -> Topic:
    """Add an annotation, in place of an earlier one by the same person. What was resolved is open again."""
    others = [known for known in topic.annotations if known.annotator != annotation.annotator]
    return replace(topic, annotations=(*others, annotation), resolution="")


def renamed(topics: Sequence[Topic], names: Mapping[str, str]) -> list[Topic]:
    """Give annotators other names: tools export them as numbers."""
    return [
        replace(
            topic,
            annotations=tuple(
                replace(item, annotator=names.get(item.annotator, item.annotator)) for item in topic.annotations
            ),
        )
        for topic in topics
    ]


def conflicts(topic: Topic) -> Iterator[Conflict]:
    """Yield each difference of each pair of annotators, in the order of the annotations and their spans."""
    for one, other in combinations(topic.annotations, 2):
        pairs = _paired(one.truths, other.truths)
        for a, b in pairs:
            if a is None or b is None:
                yield Conflict(topic.topic_id, "missing", one.annotator, other.annotator, a, b)
            elif a.span != b.span:
                yield Conflict(topic.topic_id, "lines", one.annotator, other.annotator, a, b)
            elif a.grade != b.grade:
                yield Conflict(topic.topic_id, "grade", one.annotator, other.annotator, a, b)


def _paired(one: Sequence[Truth], other: Sequence[Truth]) -> list[tuple[Truth | None, Truth | None]]:
    """Pair the spans that share most lines, each at most once; what is left stands alone."""
    shared = sorted(
        (-_n_shared(a.span, b.span), i, j)
        for i, a in enumerate(one)
        for j, b in enumerate(other)
        if overlap(a.span, b.span)
    )
    partner: dict[int, int] = {}
    for _, i, j in shared:
        if i not in partner and j not in partner.values():
            partner[i] = j
    pairs: list[tuple[Truth | None, Truth | None]] = [
        (truth, other[partner[i]] if i in partner else None) for i, truth in enumerate(one)
    ]
    return pairs + [(None, truth) for j, truth in enumerate(other) if j not in partner.values()]


def _n_shared(a: Span, b: Span) -> float:
    """Return the number of common lines; that of equal spans counts above all."""
    if a == b:
        return float("inf")
    if a.whole_file or b.whole_file:
        whole, part = (a, b) if a.whole_file else (b, a)
        return part.end_line - part.start_line + 1 if whole.whole_file else 0
    return min(a.end_line, b.end_line) - max(a.start_line, b.start_line) + 1


def state(topic: Topic) -> State:
    """Return how far a topic is: ``open`` has no annotation, ``single`` one, ``agreed`` several alike."""
    if topic.resolution:
        return "resolved"
    n_annotators = len({annotation.annotator for annotation in topic.annotations})
    if n_annotators < 2:
        return "single" if n_annotators else "open"
    return "conflict" if any(conflicts(topic)) else "agreed"


def progress(topics: Sequence[Topic]) -> Progress:
    names = Counter(annotation.annotator for topic in topics for annotation in topic.annotations)
    return Progress(len(topics), Counter(map(state, topics)), dict(sorted(names.items())))


def resolved(topic: Topic, *, by: str, reason: str, take: str = "", truths: Sequence[Truth] | None = None) -> Topic:
    """Settle a topic: its truths become those of the annotator ``take``, or ``truths``; who and why is recorded.

    Raises:
        UsageError: nobody or no reason is named, or there is no annotation by ``take``.
    """
    if not by.strip() or not reason.strip():
        raise UsageError(f"topic {topic.topic_id!r}: say who settled it and why (--by, --reason)", code="no_reason")
    if truths is None:
        chosen = next((item for item in topic.annotations if item.annotator == take), None)
        if chosen is None:
            names = ", ".join(item.annotator for item in topic.annotations) or "nobody"
            raise UsageError(f"topic {topic.topic_id!r} has no annotation by {take!r}; it has those of {names}")
        truths = chosen.truths
    how = f"took the spans of {take}" if take else "chose other spans"
    return replace(topic, truths=tuple(truths), resolution=f"{by.strip()} {how}: {reason.strip()}")


def settled(topics: Sequence[Topic]) -> tuple[list[Topic], int]:
    """Resolve each topic whose annotators agree; returns how many."""
    found = []
    n_settled = 0
    for topic in topics:
        if state(topic) == "agreed":
            names = ", ".join(annotation.annotator for annotation in topic.annotations)
            topic = replace(topic, truths=topic.annotations[0].truths, resolution=f"agreed: {names}")
            n_settled += 1
        found.append(topic)
    return found, n_settled
