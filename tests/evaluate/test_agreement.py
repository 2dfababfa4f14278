"""Agreement between annotators, on ratings and on spans."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devmind.evaluate.agreement import (
    cohen_kappa,
    grade_ratings,
    krippendorff_alpha,
    line_agreement,
    mean_over_pairs,
    raw_agreement,
    span_f1,
)
from devmind.evaluate.types import Annotation, Span, Topic, Truth

A = Annotation("ann", (Truth(Span("f", 10, 20)), Truth(Span("g", 1, 5), "weak")))
B = Annotation("ben", (Truth(Span("f", 11, 21)),))
NONE = Annotation("cem", ())


def test_missing_ratings_are_left_out() -> None:
    assert raw_agreement([1, None, 2], [1, 1, 0]).value == 0.5
    assert raw_agreement([None], [1]).degenerate
    assert cohen_kappa([1, 0, None, 1], [1, 0, 1, None]) == cohen_kappa([1, 0], [1, 0])


def test_alpha_of_four_raters_with_missing_ratings() -> None:
    """The example of Krippendorff 2011, section C: nominal .743, ordinal .815."""
    data = [
        "1 2 3 3 2 1 4 1 2 * * *",
        "1 2 3 3 2 2 4 1 2 5 * 3",
        "* 3 3 3 2 3 4 2 2 5 1 *",
        "1 2 3 3 2 4 4 1 2 5 1 *",
    ]
    ratings = [[None if value == "*" else int(value) for value in row.split()] for row in data]
    assert krippendorff_alpha(ratings).value == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(ratings, level="ordinal").value == pytest.approx(0.815, abs=5e-4)


def test_a_step_of_the_scale_that_nobody_used_counts_when_the_scale_is_given() -> None:
    first, second = [0, 3, 3, 0], [0, 3, 0, 0]
    assert cohen_kappa(first, second, weights="linear").value == pytest.approx(0.5)
    given_scale = cohen_kappa([0, 1, 3, 3], [0, 3, 1, 3], weights="linear", categories=(0, 1, 2, 3))
    seen_only = cohen_kappa([0, 1, 3, 3], [0, 3, 1, 3], weights="linear")
    assert given_scale.value != seen_only.value


def test_nothing_rated_twice_is_degenerate() -> None:
    assert krippendorff_alpha([[1, None], [None, 2]]).degenerate
    assert krippendorff_alpha([[1, 1]]).value is None


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=20))
def test_nominal_alpha_from_pairs_of_all_values(pairs: list[tuple[int, int]]) -> None:
    """Disagreement inside items over disagreement between any two of all ratings."""
    values = [value for pair in pairs for value in pair]
    every = list(combinations(values, 2))
    expected = sum(a != b for a, b in every) / len(every)
    found = krippendorff_alpha([[a for a, _ in pairs], [b for _, b in pairs]])
    if expected == 0:
        assert found.value is None and found.degenerate
    else:
        assert found.value == pytest.approx(1 - sum(a != b for a, b in pairs) / len(pairs) / expected)


def test_span_f1_and_lines() -> None:
    assert span_f1(A, B).value == pytest.approx(2 / 3)  # precision 1 of 1, recall 1 of 2
    assert span_f1(B, A).value == pytest.approx(2 / 3)
    assert span_f1(A, B, match="contain").value == 0
    assert line_agreement(A, B).value == pytest.approx(10 / 17)
    assert span_f1(A, NONE).value == 0 and line_agreement(A, NONE).value == 0


def test_two_annotators_who_found_nothing_cannot_be_compared() -> None:
    for measure in (span_f1, line_agreement):
        found = measure(NONE, NONE)
        assert found.value is None and found.degenerate


def test_ratings_come_from_spans_that_match() -> None:
    topics = [
        Topic("q1", "what?", annotations=(A, B)),
        Topic("q2", "what?", annotations=(Annotation("ben", (Truth(Span("h", 1, 2), "weak"),)), NONE)),
        Topic("q3", "what?", annotations=(A,)),
    ]
    found = grade_ratings(topics)
    assert found.annotators == ("ann", "ben", "cem")
    assert [(topic, truth.span.file) for topic, truth in found.items] == [("q1", "f"), ("q1", "g"), ("q2", "h")]
    assert found.grades == ((2, 1, None), (2, 0, 1), (None, None, 0))


def test_mean_over_pairs_of_annotators() -> None:
    topics = [Topic("q1", "what?", annotations=(A, B, NONE)), Topic("q2", "what?", annotations=(NONE, NONE))]
    found = mean_over_pairs(topics, span_f1)
    assert (found.value, found.n) == (pytest.approx((2 / 3 + 0 + 0) / 3), 3)
    assert mean_over_pairs([], span_f1).degenerate
