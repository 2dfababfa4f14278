"""Intervals, tests and corrections."""

from __future__ import annotations

import random

import numpy as np
import pytest

from devmind.evaluate.statistics import auroc, effect_size, estimate, estimates, holm, sign_flip, sign_flips


def test_an_interval_holds_the_mean_and_is_the_same_each_time() -> None:
    values = [random.Random(1).random() for _ in range(60)]
    values = [v * i % 1 for i, v in enumerate(values)]
    found = estimate(values, ["r"] * 60)
    assert found.low is not None and found.high is not None and found.mean is not None
    assert found.low < found.mean < found.high
    assert found == estimate(values, ["r"] * 60)
    assert found != estimate(values, ["r"] * 60, seed=7)


def test_the_interval_is_as_wide_as_theory_says() -> None:
    """For 400 independent topics the bootstrap's interval is close to ± 1.96 standard errors."""
    rng = np.random.default_rng(5)
    values = rng.normal(0.5, 0.2, 400)
    found = estimate(list(values), list(range(400)))
    assert found.low is not None and found.high is not None
    assert found.high - found.low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.05)


def test_topics_of_one_repository_do_not_count_as_independent() -> None:
    """Ten repositories whose topics all do the same hold ten observations, not a hundred."""
    by_repo = [0.1, 0.9, 0.3, 0.8, 0.2, 0.7, 0.4, 0.95, 0.15, 0.5]
    values = [value for value in by_repo for _ in range(10)]
    repos = [f"r{i}" for i in range(10) for _ in range(10)]
    clustered, apart = estimate(values, repos), estimate(values, list(range(100)))
    alone = estimate(by_repo, list(range(10)))
    assert (clustered.low, clustered.high) == (pytest.approx(alone.low), pytest.approx(alone.high))
    assert clustered.low is not None and clustered.high is not None and apart.low is not None and apart.high is not None
    assert clustered.high - clustered.low > 2.5 * (apart.high - apart.low)


def test_what_is_undefined_is_left_out() -> None:
    found = estimate([1.0, None, 0.0, None], ["a", "a", "b", "b"])
    assert (found.mean, found.n) == (0.5, 2)
    nothing = estimate([None, None], ["a", "b"])
    assert (nothing.mean, nothing.low, nothing.high, nothing.n) == (None, None, None, 0)


def test_one_topic_has_no_interval() -> None:
    found = estimate([0.4], ["a"])
    assert (found.mean, found.low, found.high, found.n) == (0.4, None, None, 1)


def test_columns_do_not_disturb_each_other() -> None:
    values = np.array([[1.0, np.nan, 0.2], [0.0, 0.5, 0.4], [1.0, 0.7, 0.9], [0.5, np.nan, 0.1]])
    repos = ["a", "a", "b", "c"]
    together = estimates(values, repos)
    for column in range(3):
        alone = estimates(values[:, [column]], repos)[0]
        assert together[column].n == alone.n
        assert [together[column].low, together[column].high] == pytest.approx([alone.low, alone.high], abs=1e-12)


def test_sign_flip_of_nothing_and_of_no_difference() -> None:
    assert sign_flip([]) is None
    assert sign_flips(np.array([[np.nan], [np.nan]])) == [None]
    assert sign_flip([0.0, 0.0]) == 1


def test_the_sampled_p_is_close_to_the_exact_one() -> None:
    rng = random.Random(3)
    differences = [rng.uniform(-0.6, 1) for _ in range(16)]
    exact = sign_flip(differences)
    sampled = sign_flip([*differences, 1e-9])  # one more, so that it is sampled
    assert exact is not None and sampled is not None and 0.001 < exact < 0.999
    assert sampled == pytest.approx(exact, abs=0.02)


def test_sign_flip_does_not_mistake_rounding_for_a_difference() -> None:
    assert sign_flip([0.1, 0.2, -0.3]) == 1


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03, None]) == [pytest.approx(0.03), pytest.approx(0.06), pytest.approx(0.06), None]
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_effect_size() -> None:
    assert effect_size([1.0, 2.0, 3.0]) == pytest.approx(2.0)
    assert effect_size([0.5, 0.5]) is None
    assert effect_size([0.5]) is None


def test_auroc() -> None:
    assert auroc([0.9, 0.2], [0.5, 0.1]) == 0.75
    assert auroc([0.5], [0.5]) == 0.5
    assert auroc([], [0.5]) is None
