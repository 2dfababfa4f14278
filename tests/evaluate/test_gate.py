"""The gate: what passes, what is missed, and what cannot be judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from devmind.errors import DevMindError, UpstreamError, UsageError
from devmind.evaluate.gate import Limits, judge, refuse_lost
from devmind.evaluate.score import score_run
from devmind.evaluate.types import Failure, Response, Scores

RIGHT, WRONG = "a.py[1,9]", "b.py[1,9]"


@pytest.fixture
def scores(
    topic: Callable[..., Any], response: Callable[..., Any], dataset: Callable[..., Any], run: Callable[..., Any]
) -> Callable[..., Scores]:
    """Score a run of one sign a topic: "+" finds the truth at rank 1, "-" never, "!" failed, " " is missing."""

    def make(said: str, *, content_hash: str = "abc", match: str = "overlap", n_repos: int = 5) -> Scores:
        topics = [topic(RIGHT, f"t{n}", repo=f"r{n % n_repos}") for n in range(len(said))]
        responses: list[Response] = []
        for n, sign in enumerate(said):
            if sign == "!":
                responses.append(Response(f"t{n}", failure=Failure("http_500", "broken")))
            elif sign != " ":
                responses.append(response(RIGHT if sign == "+" else WRONG, f"t{n}"))
        return score_run(dataset(*topics, content_hash=content_hash), run(*responses), match=match)

    return make


def test_the_same_run_passes(scores: Callable[..., Scores]) -> None:
    verdict = judge(scores("+-" * 10), scores("+-" * 10), Limits(allowed={"Recall@5": 0}))
    assert verdict.passed
    assert [check.kind for check in verdict.checks] == ["drop"]
    assert (verdict.checks[0].estimate.low, verdict.checks[0].estimate.high) == (0, 0)


def test_a_drop_that_noise_explains_passes_and_a_sure_one_is_missed(scores: Callable[..., Scores]) -> None:
    before = scores("+" * 40)
    one_lost, half_lost = scores("-" + "+" * 39), scores("-+" * 20)
    limits = Limits(allowed={"Recall@5": 0})
    assert judge(one_lost, before, limits).passed  # its interval reaches up to 0
    verdict = judge(half_lost, before, limits)
    (check,) = verdict.checks
    assert (verdict.passed, check.passed) == (False, False)
    assert check.estimate.high is not None and check.estimate.high < 0
    assert (check.baseline, check.candidate) == (1.0, 0.5)
    assert "allowed drop 0" in check.message and "1.0000 → 0.5000" in check.message


def test_the_allowed_drop_is_what_the_interval_must_lie_below(scores: Callable[..., Scores]) -> None:
    before, after = scores("+" * 40), scores("-+" * 20)
    high = -0.5  # every repository loses the same share, so the interval is one point, up to the clusters
    verdict = judge(after, before, Limits(allowed={"Recall@5": 0.5}))
    assert verdict.passed
    assert verdict.checks[0].estimate.mean == high
    assert not judge(after, before, Limits(allowed={"Recall@5": 0.3})).passed


def test_an_improvement_passes(scores: Callable[..., Scores]) -> None:
    assert judge(scores("+" * 20), scores("-+" * 10), Limits(allowed={"Recall@5": 0, "RR@10": 0})).passed


def test_where_less_is_better_a_rise_is_the_drop(
    topic: Callable[..., Any], response: Callable[..., Any], dataset: Callable[..., Any], run: Callable[..., Any]
) -> None:
    topics = [topic(RIGHT, f"t{n}", repo=f"r{n % 4}") for n in range(20)]
    before = score_run(dataset(*topics), run(*(response(RIGHT, f"t{n}") for n in range(20))))
    after = score_run(dataset(*topics), run(*(response(RIGHT, f"t{n}", abstained=True) for n in range(20))))
    limits = Limits(allowed={"false refusal": 0.1})
    assert not judge(after, before, limits).passed
    assert judge(before, after, limits).passed
    assert not judge(after, None, Limits(ceilings={"false refusal": 0.5})).passed
    assert judge(before, None, Limits(ceilings={"false refusal": 0})).passed


def test_floors(scores: Callable[..., Scores]) -> None:
    measured = scores("+-" * 10)
    assert judge(measured, None, Limits(floors={"Recall@5": 0.5})).passed
    verdict = judge(measured, None, Limits(floors={"Recall@5": 0.51, "hit@1": 0.5}))
    assert [check.passed for check in verdict.checks] == [False, True]
    assert "floor 0.51" in verdict.checks[0].message


NEVER_VACUOUS: Sequence[tuple[str, str, Limits, str, str]] = [
    ("no limits", "+" * 9, Limits(), "no_limits", "--allow"),
    ("unknown measure", "+" * 9, Limits(allowed={"Recal@5": 0}), "bad_measure", "Recall@5"),
    ("unknown floor", "+" * 9, Limits(floors={"nonsense": 0}), "bad_measure", "nonsense"),
    ("negative drop", "+" * 9, Limits(allowed={"Recall@5": -0.1}), "usage", "0 or more"),
    ("infinite drop", "+" * 9, Limits(allowed={"Recall@5": float("inf")}), "usage", "0 or more"),
    ("no such number", "+" * 9, Limits(floors={"Recall@5": float("nan")}), "usage", "finite"),
    ("floor of a cost", "+" * 9, Limits(floors={"false refusal": 0}), "usage", "--ceiling"),
    ("ceiling of a gain", "+" * 9, Limits(ceilings={"Recall@5": 1}), "usage", "--floor"),
    ("all failed", "!" * 9, Limits(allowed={"Recall@5": 1}), "too_many_lost", "9 of 9"),
    ("all missing", " " * 9, Limits(allowed={"Recall@5": 1}, max_lost=1), "too_many_lost", "9 missing"),
    ("too many failed", "!" + "+" * 8, Limits(allowed={"Recall@5": 1}), "too_many_lost", "1 of 9"),
    ("not a share", "+" * 9, Limits(allowed={"Recall@5": 1}, max_lost=5), "usage", "--max-lost"),
    ("undefined", "+" * 9, Limits(floors={"chain@10": 0}), "usage", "defined for no topic"),
    ("undefined drop", "+" * 9, Limits(allowed={"chain@10": 0}), "too_few_topics", "at least 2"),
    ("one topic", "+", Limits(allowed={"Recall@5": 0}), "too_few_topics", "at least 2"),
]


@pytest.mark.parametrize(("said", "limits", "code", "named"), [row[1:] for row in NEVER_VACUOUS],
                         ids=[row[0] for row in NEVER_VACUOUS])  # fmt: skip
def test_nothing_passes_for_want_of_evidence(
    scores: Callable[..., Scores], said: str, limits: Limits, code: str, named: str
) -> None:
    with pytest.raises(DevMindError) as caught:
        judge(scores(said), scores("+" * len(said)), limits)
    assert caught.value.code == code
    assert named in str(caught.value)


def test_a_baseline_must_be_of_the_same_dataset_rule_and_topics(scores: Callable[..., Scores]) -> None:
    limits = Limits(allowed={"Recall@5": 0})
    for other, named in (
        (scores("+" * 9, content_hash="other"), "different datasets"),
        (scores("+" * 9, match="contain"), "match by"),
        (scores("+" * 8), "only the candidate has topic"),
    ):
        with pytest.raises(UsageError, match=named):
            judge(scores("+" * 9), other, limits)
    with pytest.raises(UsageError, match="--baseline"):
        judge(scores("+" * 9), None, limits)


def test_a_measure_of_the_few_that_did_not_fail_is_not_judged(scores: Callable[..., Scores]) -> None:
    before, after = scores("+" * 10), scores("!" * 4 + "+" * 6)
    limits = Limits(allowed={"unmapped": 0}, max_lost=0.4)  # not defined where nothing came
    assert judge(after, before, limits).passed
    with pytest.raises(UsageError, match="6 topics only, of 10"):
        judge(replace(after, n_failed=0), before, replace(limits, max_lost=0.05))


def test_few_failures_are_judged_as_zeros(scores: Callable[..., Scores]) -> None:
    verdict = judge(scores("!" + "+" * 39), scores("+" * 40), Limits(allowed={"Recall@5": 0}))
    assert (verdict.n_failed, verdict.checks[0].candidate) == (1, 39 / 40)
    with pytest.raises(UpstreamError):
        refuse_lost(scores("!!!" + "+" * 37))
    refuse_lost(scores("!!" + "+" * 38))
