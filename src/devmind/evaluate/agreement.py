"""What annotators said → how far they agree. An agreement that is not defined is None and marked degenerate.

κ and α compare the disagreement seen with the one expected by chance. Where all ratings are one value no disagreement
can be expected, and neither says anything: raw agreement belongs beside them. ``grade_ratings`` makes ratings of spans;
it knows only of spans that somebody labelled, so it never sees two annotators agree on "not relevant".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from devmind.evaluate.alignment import MatchRule, count_lines, lines_of, match_rule, normal_path
from devmind.evaluate.measures import f1, line_iou
from devmind.evaluate.statistics import mean
from devmind.evaluate.types import GAIN, Annotation, Topic, Truth

Weights = Literal["none", "linear", "quadratic"]
Level = Literal["nominal", "ordinal"]
Distance = Callable[[int, int], float]  # between two categories by number


@dataclass(frozen=True, slots=True)
class Agreement:
    """``n``: the items that were compared. ``degenerate``: no value, because none could differ from chance."""

    value: float | None
    n: int
    degenerate: bool = False


@dataclass(frozen=True, slots=True)
class GradeRatings:
    """Grades (0 not relevant, 1 weak, 2 strong) by annotator and labelled span; None: did not annotate the topic."""

    annotators: tuple[str, ...]
    items: tuple[tuple[str, Truth], ...]  # topic id, the first annotator's truth for the span
    grades: tuple[tuple[int | None, ...], ...]  # [annotator][item]


def raw_agreement(first: Sequence[Hashable | None], second: Sequence[Hashable | None]) -> Agreement:
    """Return the share of the items rated by both on which they say the same."""
    pairs = _pairs(first, second)
    if not pairs:
        return Agreement(None, 0, degenerate=True)
    return Agreement(sum(a == b for a, b in pairs) / len(pairs), len(pairs))


def cohen_kappa(
    first: Sequence[Hashable | None],
    second: Sequence[Hashable | None],
    *,
    weights: Weights = "none",
    categories: Sequence[Hashable] | None = None,
) -> Agreement:
    """Return Cohen's κ of two raters over the items that both rated.

    Args:
        weights: how far a disagreement counts: wholly, by the steps between both categories, or by their square.
        categories: the scale in order; by default the values seen, sorted. Weights need it when a step is never used.

    Source: Cohen 1960, 1968.
    """
    pairs = _pairs(first, second)
    number = _numbered((value for pair in pairs for value in pair), categories)
    distance = _distance_of(weights)
    n = len(pairs)
    rows, columns = Counter(number[a] for a, _ in pairs), Counter(number[b] for _, b in pairs)
    seen = sum(distance(number[a], number[b]) for a, b in pairs)
    expected = sum(rows[i] * columns[j] * distance(i, j) for i in rows for j in columns)
    if not expected:
        return Agreement(None, n, degenerate=True)
    return Agreement(1 - n * seen / expected, n)


def krippendorff_alpha(
    ratings: Sequence[Sequence[Hashable | None]],
    *,
    level: Level = "nominal",
    categories: Sequence[Hashable] | None = None,
) -> Agreement:
    """Return Krippendorff's α of any number of raters; None in ``ratings`` is a missing rating.

    Args:
        ratings: [rater][item].
        level: whether the categories have an order.
        categories: the scale in order; by default the values seen, sorted.

    Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability".
    """
    units = [[value for value in column if value is not None] for column in zip(*ratings, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    number = _numbered((value for unit in units for value in unit), categories)
    counts = [Counter(number[value] for value in unit) for unit in units]
    totals: Counter[int] = Counter()
    for count in counts:
        totals.update(count)
    n = totals.total()
    distance = _nominal if level == "nominal" else _ordinal(totals)
    seen = sum(_disagreement(count, distance) / (count.total() - 1) for count in counts)
    expected = _disagreement(totals, distance)
    if not expected:
        return Agreement(None, len(units), degenerate=True)
    return Agreement(1 - (n - 1) * seen / expected, len(units))


def span_f1(first: Annotation, second: Annotation, *, match: str = "iou50") -> Agreement:
    """Return the harmonic mean of the shares of each annotator's spans that match some span of the other."""
    ours, theirs = first.truths, second.truths
    if not ours and not theirs:
        return Agreement(None, 0, degenerate=True)
    n = len(ours) + len(theirs)
    if not ours or not theirs:
        return Agreement(0.0, n)
    rule = match_rule(match)
    return Agreement(f1(_matched_share(ours, theirs, rule), _matched_share(theirs, ours, rule)), n)


def line_agreement(first: Annotation, second: Annotation) -> Agreement:
    """Return the lines that both annotators labelled over the lines that either did (whole files left out)."""
    counts = count_lines([t.span for t in first.truths if not t.span.whole_file], second.truths)
    n = (counts.n_hit or 0) + counts.n_truth - counts.n_shared
    if not n:
        return Agreement(None, 0, degenerate=True)
    return Agreement(line_iou(counts) or 0.0, n)


def grade_ratings(topics: Iterable[Topic], *, match: str = "iou50") -> GradeRatings:
    """Return who gave which grade to which span; spans of one topic that match are one item.

    A topic counts only if at least two annotators saw it: one that labelled nothing there says "not relevant" to all.
    """
    topics = [topic for topic in topics if len({a.annotator for a in topic.annotations}) > 1]
    rule = match_rule(match)
    annotators = tuple(sorted({a.annotator for topic in topics for a in topic.annotations}))
    items: list[tuple[str, Truth]] = []
    columns: list[list[int | None]] = []
    for topic in topics:
        said = {annotation.annotator: annotation.truths for annotation in topic.annotations}
        for truth in _distinct_spans(topic.annotations, rule):
            items.append((topic.topic_id, truth))
            columns.append([_grade_of(truth, said.get(name), rule) for name in annotators])
    return GradeRatings(annotators, tuple(items), tuple(zip(*columns, strict=True)))


def mean_over_pairs(topics: Iterable[Topic], measure: Callable[[Annotation, Annotation], Agreement]) -> Agreement:
    """Return the mean of `span_f1` or `line_agreement` over every two annotators of every topic where it is defined."""
    values = [
        value
        for topic in topics
        for first, second in combinations(topic.annotations, 2)
        if (value := measure(first, second).value) is not None
    ]
    return Agreement(mean(values), len(values), degenerate=not values)


def _pairs(first: Sequence[Hashable | None], second: Sequence[Hashable | None]) -> list[tuple[Hashable, Hashable]]:
    return [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]


def _numbered(values: Iterable[Hashable], categories: Sequence[Hashable] | None) -> dict[Hashable, int]:
    scale = sorted(set(values), key=_sortable) if categories is None else categories
    return {value: i for i, value in enumerate(scale)}


def _sortable(value: Hashable) -> tuple[bool, float, str]:
    """Numbers by size, then everything else by its text."""
    return (False, float(value), "") if isinstance(value, (int, float)) else (True, 0.0, str(value))


def _distance_of(weights: Weights) -> Distance:
    if weights == "none":
        return _nominal
    power = 1 if weights == "linear" else 2
    return lambda i, j: float(abs(i - j) ** power)


def _nominal(i: int, j: int) -> float:
    return float(i != j)


def _ordinal(totals: Counter[int]) -> Distance:
    """Squared count of the ratings between two categories, each end by half."""

    def distance(i: int, j: int) -> float:
        low, high = min(i, j), max(i, j)
        between = sum(totals[category] for category in range(low, high + 1))
        return (between - (totals[low] + totals[high]) / 2) ** 2 if i != j else 0.0

    return distance


def _disagreement(counts: Counter[int], distance: Distance) -> float:
    return sum(counts[i] * counts[j] * distance(i, j) for i in counts for j in counts)


def _matched_share(truths: Sequence[Truth], others: Sequence[Truth], rule: MatchRule) -> float:
    return sum(any(_match(truth, other, rule) for other in others) for truth in truths) / len(truths)


def _match(first: Truth, second: Truth, rule: MatchRule) -> bool:
    if normal_path(first.span.file) != normal_path(second.span.file):
        return False
    if first.span.whole_file or second.span.whole_file:
        return first.span.whole_file and second.span.whole_file
    return rule.test(*lines_of(first.span), *lines_of(second.span))


def _distinct_spans(annotations: Iterable[Annotation], rule: MatchRule) -> list[Truth]:
    found: list[Truth] = []
    for truth in (truth for annotation in annotations for truth in annotation.truths):
        if not any(_match(truth, known, rule) for known in found):
            found.append(truth)
    return found


def _grade_of(truth: Truth, said: Sequence[Truth] | None, rule: MatchRule) -> int | None:
    if said is None:
        return None
    return max((GAIN[other.grade] for other in said if _match(truth, other, rule)), default=0)
