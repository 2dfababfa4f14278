"""Annotations and the code → a grade of every definition in reach by every annotator, "not relevant" included.

Labelled spans alone show only what somebody found relevant; chance-corrected agreement also needs what both left out.
In reach are the definitions of the files in which somebody labelled something: both annotators had them before them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal

from devmind.evaluate.agreement import (
    Agreement,
    cohen_kappa,
    grade_ratings,
    krippendorff_alpha,
    line_agreement,
    mean_over_pairs,
    raw_agreement,
    span_f1,
)
from devmind.evaluate.datasets.formats import Texts
from devmind.evaluate.datasets.units import symbols_of
from devmind.evaluate.types import GAIN, Annotation, Span, Topic, Truth

# What a person labels. Fields, constants and keys come by the dozen and would drown the rest in agreement.
LABELLED_KINDS: Final = frozenset(
    {
        "function", "method", "class", "struct", "interface", "trait", "protocol", "enum", "object", "union", "type",
        "macro", "route", "heading", "target", "message", "service", "rpc", "table", "view", "stage",
    }
)  # fmt: skip
MIN_SHARE: Final = 0.5  # of a definition's lines that a label must hold to mean it
GRADES: Final = (0, 1, 2)  # not relevant, weak, strong


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How far two annotators agree on the grades of the units that both saw."""

    annotator_a: str
    annotator_b: str
    raw: Agreement
    kappa: Agreement
    kappa_quadratic: Agreement


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """How far all annotators agree. ``units``: what κ and α compare; without code only labelled spans are known."""

    n_topics: int
    annotators: tuple[str, ...]
    units: Literal["definitions", "labelled spans"]
    pairs: tuple[PairAgreement, ...]
    alpha_nominal: Agreement
    alpha_ordinal: Agreement
    span_f1: Agreement
    line_iou: Agreement


def agreement_report(topics: Sequence[Topic], texts: Texts | None) -> AgreementReport:
    """Return the agreement over the topics that at least two people annotated."""
    both = [topic for topic in topics if len({item.annotator for item in topic.annotations}) > 1]
    if texts is not None:
        names, grades = unit_ratings(both, texts)
    else:
        spans = grade_ratings(both)
        names, grades = spans.annotators, spans.grades
    return AgreementReport(
        n_topics=len(both),
        annotators=names,
        units="definitions" if texts is not None else "labelled spans",
        pairs=tuple(
            PairAgreement(
                names[i],
                names[j],
                raw_agreement(grades[i], grades[j]),
                cohen_kappa(grades[i], grades[j], categories=GRADES),
                cohen_kappa(grades[i], grades[j], weights="quadratic", categories=GRADES),
            )
            for i, j in combinations(range(len(grades)), 2)
        ),
        alpha_nominal=krippendorff_alpha(grades, level="nominal", categories=GRADES),
        alpha_ordinal=krippendorff_alpha(grades, level="ordinal", categories=GRADES),
        span_f1=mean_over_pairs(both, span_f1),
        line_iou=mean_over_pairs(both, line_agreement),
    )


def unit_ratings(topics: Sequence[Topic], texts: Texts) -> tuple[tuple[str, ...], tuple[tuple[int | None, ...], ...]]:
    """Return the annotators, and for each the grade of every unit (None: did not see the topic).

    A topic counts if at least two people annotated it. A label that means no definition is a unit of its own.
    """
    seen = [topic for topic in topics if len({item.annotator for item in topic.annotations}) > 1]
    names = tuple(sorted({item.annotator for topic in seen for item in topic.annotations}))
    columns: list[list[int | None]] = []
    for topic in seen:
        said = {item.annotator: item for item in topic.annotations}
        for unit in _units(topic, texts):
            columns.append([_grade(unit, said[name]) if name in said else None for name in names])
    return names, tuple(zip(*columns, strict=True)) if columns else tuple(() for _ in names)


def _units(topic: Topic, texts: Texts) -> Iterator[Span]:
    truths = [truth for annotation in topic.annotations for truth in annotation.truths]
    for file in sorted({truth.span.file for truth in truths}):
        text = texts(topic.repo, topic.commit, file)
        units = _definitions(file, text) if text is not None else []
        own = {truth.span for truth in truths if truth.span.file == file}
        yield from units
        yield from sorted(
            (span for span in own if not any(_means(span, unit) for unit in units)),
            key=lambda span: (span.start_line, span.end_line),
        )


def _definitions(file: str, text: str) -> list[Span]:
    """Return the definitions that hold no other one, in order."""
    kept = [symbol for symbol in symbols_of(file, text) if symbol.kind in LABELLED_KINDS]
    spans = sorted({(symbol.start_line, symbol.end_line) for symbol in kept})
    return [
        Span(file, start, end)
        for start, end in spans
        if not any(start <= other[0] and other[1] <= end and other != (start, end) for other in spans)
    ]


def _means(label: Span, unit: Span) -> bool:
    if label.file != unit.file or label.whole_file or unit.whole_file:
        return label == unit
    shared = min(label.end_line, unit.end_line) - max(label.start_line, unit.start_line) + 1
    return shared >= MIN_SHARE * (unit.end_line - unit.start_line + 1)


def _grade(unit: Span, annotation: Annotation) -> int:
    def gain(truth: Truth) -> int:
        return GAIN[truth.grade] if _means(truth.span, unit) else 0

    return max(map(gain, annotation.truths), default=0)
