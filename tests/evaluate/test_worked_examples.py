"""Worked examples of every measure: values computed by hand, by the rules that `docs/measures.md` states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from devmind.evaluate.agreement import cohen_kappa, krippendorff_alpha, raw_agreement
from devmind.evaluate.alignment import Cover, iou
from devmind.evaluate.measures import f1, ndcg
from devmind.evaluate.score import score_run, score_topic
from devmind.evaluate.statistics import sign_flip
from devmind.evaluate.types import Span, Truth

NEAR = {"abs": 5e-5}  # the examples are printed to four digits

SPANS = [
    pytest.param("f[10,20]", "f[1,60]", {"contain": {"Recall@1": 1, "IoU@1": 0.1833}}, id="W1"),
    pytest.param("f[10,20]", "f[11,20]", {"contain": {"Recall@1": 0, "IoU@1": 0.9091}}, id="W2"),
    pytest.param(
        "f[10,20] f[50,60] f[100,110]",
        "f[1,200]",
        {
            "contain": {"Recall@1": 1, "Precision@1": 1, "RR": 1, "IoU@1": 0.165, "line Precision@1": 0.165},
            "iou50": {"Recall@1": 0},
        },
        id="W3",
    ),
    pytest.param(
        "f[10,20] f[50,60]",
        "f[5,25] f[8,22] f[10,20]",
        {"contain": {"Recall@3": 0.5, "Precision@3": 1, "novel Precision@3": 0.3333, "RR": 1}},
        id="W4",
    ),
    pytest.param(
        "f[10,40]",
        "f[1,25] f[26,50]",
        {"contain": {"Recall@2": 0}, "iou50": {"Recall@2": 0}, "overlap": {"line Recall@2": 1}},
        id="W5",
    ),
    pytest.param(
        "f[10,20] g[1,5] h[30,40]",
        "x[1,50] f[1,60] f[5,25] g[1,5] h[31,40]",
        {
            "contain": {
                "Recall@5": 0.6667,
                "Precision@5": 0.6,
                "novel Precision@5": 0.4,
                "RR": 0.5,
                "F1@5": 0.5,
                "nDCG@5": 0.4982,
            },
            "iou50": {"Recall@5": 1, "Precision@5": 0.6, "RR": 0.3333, "F1@5": 0.75, "nDCG@5": 0.6183},
        },
        id="W6",
    ),
    pytest.param(
        "a[1,9] b[1,9] c[1,9]",
        "x[1,9] a[1,9] y[1,9] b[1,9] z[1,9]",
        {
            "overlap": {
                "Precision@3": 0.3333,
                "Precision@5": 0.4,
                "Recall@3": 0.3333,
                "Recall@5": 0.6667,
                "F1@5": 0.5,
                "RR": 0.5,
                "AP": 0.3333,
                "nDCG@5": 0.498189,
                "hit@1": 0,
                "hit@3": 1,
            }
        },
        id="W7",
    ),
    pytest.param("", "x[1,9] a[1,9]", {"overlap": {"Recall@5": None, "RR": None, "AP": None}}, id="W8"),
    pytest.param("f[1,10] f[8,17]", "f[5,13] f[1,10]", {"iou40": {"Recall@1": 1}}, id="W9"),
    pytest.param(
        "a[1,9]",
        " ".join(f"x{i}[1,9]" for i in range(10)) + " a[1,9]",
        {"overlap": {"RR": 0.0909, "RR@10": 0}},
        id="W12",
    ),
]


@pytest.mark.parametrize(("truths", "hits", "expected"), SPANS)
def test_measures_of_one_topic(
    truths: str, hits: str, expected: dict[str, dict[str, float | None]], topic: Any, response: Any
) -> None:
    for match, values in expected.items():
        said = score_topic(topic(truths), response(hits), match=match, ks=(1, 2, 3, 5, 10)).measures
        for measure, value in values.items():
            found = said.get(measure)
            assert found == (value if value is None else pytest.approx(value, **NEAR)), (match, measure)


@pytest.mark.parametrize(
    ("truth", "hit", "expected"),
    [
        pytest.param((10, 20), (1, 200), 0.055, id="W3"),
        pytest.param((10, 40), (1, 25), 0.4, id="W5 first"),
        pytest.param((10, 40), (26, 50), 0.3659, id="W5 second"),
    ],
)
def test_iou_of_one_hit_and_one_truth(truth: tuple[int, int], hit: tuple[int, int], expected: float) -> None:
    assert iou(Span("f", *truth), Span("f", *hit)) == pytest.approx(expected, **NEAR)


def test_w8_a_trap_is_left_out_of_the_means_and_counted_apart(
    topic: Any, response: Any, dataset: Any, run: Any
) -> None:
    topics = dataset(topic("a[1,9]", "q1"), topic("", "t1", category="trap"), topic("", "t2", category="trap"))
    scores = score_run(topics, run(response("a[1,9]", "q1"), response("a[1,9]", "t1"), response("", "t2")))
    assert (scores.overall["Recall@10"].mean, scores.overall["Recall@10"].n) == (1, 1)
    assert (scores.overall["refusal"].mean, scores.overall["refusal"].n) == (0.5, 2)


def test_w10_recall_is_the_mean_over_topics_not_over_truths(topic: Any, response: Any, dataset: Any, run: Any) -> None:
    nine = " ".join(f"b{i}[1,9]" for i in range(9))
    topics = dataset(topic("a[1,9]", "q1"), topic(nine, "q2"))
    scores = score_run(topics, run(response("a[1,9]", "q1"), response("b0[1,9]", "q2")))
    assert scores.overall["Recall@10"].mean == pytest.approx(0.5556, **NEAR)
    n_found = sum((t.measures["Recall@10"] or 0) * n for t, n in zip(scores.topics, (1, 9), strict=True))
    assert n_found / 10 == pytest.approx(0.2)


def test_w11_f1_is_the_mean_over_topics_not_made_of_means() -> None:
    first, second = f1(0.5, 1.0), f1(1.0, 0.25)
    assert first is not None and second is not None
    assert (first + second) / 2 == pytest.approx(0.5333, **NEAR)
    assert f1(0.75, 0.625) == pytest.approx(0.6818, **NEAR)


def test_w11_of_a_run_is_the_mean_of_f1(topic: Any, response: Any, dataset: Any, run: Any) -> None:
    # precision 1, recall .5 at k = 4 needs 4 of 8 truths; precision .25, recall 1 needs 1 of 1
    eight = [f"a{i}[1,9]" for i in range(8)]
    topics = dataset(topic(" ".join(eight), "q1"), topic("b[1,9]", "q2"))
    answers = run(response(" ".join(eight[:4]), "q1"), response("b[1,9] x[1,9] y[1,9] z[1,9]", "q2"))
    assert score_run(topics, answers, ks=(4,)).overall["F1@4"].mean == pytest.approx(0.5333, **NEAR)


@pytest.mark.parametrize(
    ("gains", "expected"),
    [pytest.param((3, 2, 1), 0.735007, id="linear"), pytest.param((7, 3, 1), 0.692020, id="2^g-1")],
)
def test_w13_ndcg_with_three_grades(gains: tuple[float, ...], expected: float) -> None:
    a, b, c = (Truth(Span(name, 1, 1)) for name in "abc")
    ranked = Cover((a, b, c), matched=(True, False, True), new=((1,), (), (0,)))  # b, x, a
    assert ndcg(ranked, gains, 3) == pytest.approx(expected, abs=5e-7)


def test_w14_a_topic_that_the_run_lacks_scores_0(topic: Any, response: Any, dataset: Any, run: Any) -> None:
    scores = score_run(dataset(topic("a[1,9]", "q1"), topic("b[1,9]", "q2")), run(response("a[1,9]", "q1")))
    for measure in ("Recall@10", "nDCG@10", "RR", "AP", "line Recall@10", "file Recall@10"):
        assert scores.overall[measure].mean == 0.5, measure
    assert scores.n_missing == 1


def test_w15_sign_flip() -> None:
    assert sign_flip([0.5, 0, 0.5, 0.5, 0, 0.5]) == 0.125


def test_w15_the_sampled_p_is_never_0() -> None:
    assert sign_flip([1.0] * 100) == 1 / 10_001


@pytest.mark.parametrize(
    ("first", "second", "raw", "kappa", "alpha"),
    [
        pytest.param("1100101000", "1000101100", 0.8, 0.5833, 0.6042, id="W16"),
        pytest.param("1111111111", "1111111110", 0.9, 0, 0, id="W17"),
        pytest.param("1111111111", "1111111111", 1, None, None, id="W18"),
    ],
)
def test_nominal_agreement(first: str, second: str, raw: float, kappa: float | None, alpha: float | None) -> None:
    a, b = list(map(int, first)), list(map(int, second))
    assert raw_agreement(a, b).value == raw
    for found, expected in ((cohen_kappa(a, b), kappa), (krippendorff_alpha([a, b]), alpha)):
        assert found.value == (None if expected is None else pytest.approx(expected, **NEAR))
        assert found.degenerate == (expected is None)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        pytest.param(lambda a, b: cohen_kappa(a, b), 0.52, id="W19 kappa"),
        pytest.param(lambda a, b: cohen_kappa(a, b, weights="linear"), 0.6842, id="W19 linear"),
        pytest.param(lambda a, b: cohen_kappa(a, b, weights="quadratic"), 0.8286, id="W19 quadratic"),
        pytest.param(lambda a, b: krippendorff_alpha([a, b], level="ordinal"), 0.7578, id="W19 ordinal alpha"),
    ],
)
def test_graded_agreement(measure: Callable[..., Any], expected: float) -> None:
    assert measure([0, 1, 2, 3, 3, 2], [0, 2, 2, 3, 2, 2]).value == pytest.approx(expected, **NEAR)


def test_w6_does_not_depend_on_scores(topic: Any, response: Any) -> None:
    truths = topic("f[10,20] g[1,5] h[30,40]")
    listed = response("x[1,50] f[1,60] f[5,25] g[1,5] h[31,40]")
    rising = replace(listed, hits=tuple(replace(hit, score=float(i)) for i, hit in enumerate(listed.hits)))
    assert score_topic(truths, listed).measures == score_topic(truths, rising).measures
