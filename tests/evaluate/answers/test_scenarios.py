from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devmind.evaluate.answers.cosines import CORRECTNESS, COSINES, GROUNDEDNESS, RECALL, Cosines, Placed
from devmind.evaluate.answers.scenarios import (
    MIN_PAIRS,
    Calibration,
    Threshold,
    calibrate,
    floor,
    is_forced,
    scenario,
)
from devmind.evaluate.types import Span, Topic, Truth


@pytest.mark.parametrize(("t", "expected"), [(0.8, 0.28), (0.9, 0.62), (0.95, 0.805)])
def test_worked_examples_of_the_angle_inequality(t: float, expected: float) -> None:
    assert floor(t, t) == pytest.approx(math.cos(2 * math.acos(t)))
    assert floor(t, t) == pytest.approx(expected, abs=5e-4)


def test_the_floor_ends_at_opposite_directions() -> None:
    assert floor(1, 1) == 1
    assert floor(0, 0) == pytest.approx(-1)
    assert floor(-0.5, -0.5) == -1


@given(st.lists(st.lists(st.floats(-1, 1), min_size=4, max_size=4), min_size=3, max_size=3))
def test_no_three_vectors_break_the_floor(vectors: Sequence[Sequence[float]]) -> None:
    rows = np.array(vectors)
    norms = np.linalg.norm(rows, axis=1)
    if norms.min() < 1e-3:
        return
    retrieved, answer, reference = rows / norms[:, None]
    recall, groundedness = np.clip([retrieved @ reference, answer @ retrieved], -1, 1)
    assert answer @ reference >= floor(recall, groundedness) - 1e-6


def bars(recall: float | None = 0.6, correctness: float | None = 0.5, groundedness: float | None = 0.7) -> Calibration:
    values = dict(zip(COSINES, (recall, correctness, groundedness), strict=True))
    return Calibration({name: Threshold(name, value) for name, value in values.items()}, "repository", 1)


@pytest.mark.parametrize(
    ("recall", "correctness", "expected"), [(0.59, 0.5, "A"), (0.6, 0.49, "B"), (0.6, 0.5, "C"), (0.59, 0.49, "D")]
)
def test_four_scenarios(recall: float, correctness: float, expected: str) -> None:
    assert scenario(Cosines(recall, correctness, 0.9), bars()) == expected


def test_what_is_not_known_has_no_scenario() -> None:
    assert scenario(Cosines(None, 0.9, 0.9), bars()) is None
    assert scenario(Cosines(0.9, None, 0.9), bars()) is None
    assert scenario(Cosines(0.9, 0.9, 0.9), bars(recall=None)) is None
    assert scenario(Cosines(0.9, 0.9, None), bars()) == "C"


def test_a_correctness_that_geometry_forces_is_known_as_such() -> None:
    assert is_forced(Cosines(0.9, 0.7, 0.9), bars())  # at least .62
    assert not is_forced(Cosines(0.8, 0.7, 0.8), bars())  # at least .28
    assert not is_forced(Cosines(0.9, 0.7, None), bars())
    assert bars(0.9, 0.5, 0.9).floor == pytest.approx(0.62)
    assert bars(recall=None).floor is None


def topics(n: int, *, n_repos: int = 1) -> list[Topic]:
    return [Topic(f"t{i}", f"q{i}", repo=f"r{i % n_repos}", reference_answer=f"answer {i}") for i in range(n)]


def placed(n: int, *, noise: float, seed: int = 3) -> Placed:
    """Place each topic on an axis of its own plus noise, the answer and the text near the reference."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(n, 32))

    def near() -> np.ndarray:
        rows = base + noise * rng.normal(size=base.shape)
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    return Placed(near(), near(), near())


def test_thresholds_are_the_percentile_of_shuffled_pairs() -> None:
    vectors = placed(30, noise=0.5)
    found = calibrate(topics(30), vectors)
    shuffled = (vectors.answers @ vectors.references.T)[~np.eye(30, dtype=bool)]
    threshold = found.thresholds[CORRECTNESS]
    assert threshold.value == pytest.approx(np.percentile(shuffled, 95), abs=1e-6)
    assert (threshold.n_true, threshold.n_shuffled) == (30, 870)
    assert threshold.auroc is not None and threshold.auroc > 0.95
    assert threshold.share_high is not None and threshold.share_high > 0.9
    assert found.within == "repository"


def test_a_space_that_cannot_tell_pairs_apart_says_so() -> None:
    rng = np.random.default_rng(1)
    noise = [rng.normal(size=(40, 16)).astype(np.float32) for _ in range(3)]
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in noise]
    found = calibrate(topics(40), Placed(*unit)).thresholds[RECALL]
    assert found.auroc is not None and 0.35 < found.auroc < 0.65
    assert found.share_high is not None and found.share_high < 0.2


def test_pairs_are_of_one_repository_where_there_are_enough() -> None:
    near = calibrate(topics(40, n_repos=2), placed(40, noise=0.5))
    assert (near.within, near.thresholds[RECALL].n_shuffled) == ("repository", 2 * 20 * 19)
    far = calibrate(topics(20, n_repos=20), placed(20, noise=0.5))
    assert (far.within, far.thresholds[RECALL].n_shuffled) == ("dataset", 20 * 19)


def test_too_few_topics_give_no_threshold_and_a_reason() -> None:
    found = calibrate(topics(10), placed(10, noise=0.5))
    assert {threshold.value for threshold in found.thresholds.values()} == {None}
    assert found.thresholds[RECALL].reason.startswith(f"90 mismatched pairs of texts, {MIN_PAIRS} are needed")
    assert calibrate([], Placed(*[np.zeros((0, 4), np.float32)] * 3)).value(RECALL) is None


def test_topics_with_an_answer_in_common_are_no_mismatch() -> None:
    same = [Topic(f"t{i}", "q", repo="r", reference_answer="one answer") for i in range(12)]
    assert calibrate(same, placed(12, noise=0.5)).thresholds[RECALL].n_shuffled == 0
    one = [Topic(f"t{i}", "q", repo="r", truths=(Truth(Span("a.py", 1, 10)),)) for i in range(6)]
    other = [Topic(f"u{i}", "q", repo="r", truths=(Truth(Span("a.py", 11, 20)),)) for i in range(6)]
    assert calibrate(one + other, placed(12, noise=0.5)).thresholds[RECALL].n_shuffled == 2 * 36


def test_rows_without_a_vector_are_in_no_pair() -> None:
    vectors = placed(20, noise=0.5)
    vectors.answers[:5] = 0
    found = calibrate(topics(20), vectors).thresholds
    assert (found[CORRECTNESS].n_true, found[CORRECTNESS].n_shuffled) == (15, 15 * 19)
    assert (found[RECALL].n_true, found[GROUNDEDNESS].n_true) == (20, 15)


def test_a_large_dataset_is_sampled_by_the_seed() -> None:
    vectors, many = placed(150, noise=0.5), topics(150)
    assert calibrate(many, vectors, seed=1) == calibrate(many, vectors, seed=1)
    one, other = (calibrate(many, vectors, seed=seed).thresholds[RECALL] for seed in (1, 2))
    assert one.n_shuffled == 10_000
    assert one.value != other.value
    assert one.value == pytest.approx(other.value, abs=0.01)
