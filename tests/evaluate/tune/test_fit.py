"""The listwise fit: it finds the one minimum of its loss, stays where it is held, and changes no rule."""

from __future__ import annotations

import numpy as np
import pytest

from devmind.evaluate.tune.choose import chosen, fit_files, is_surely_better
from devmind.evaluate.tune.examples import FEATURES, RULES, Example, Matrix, file_measures
from devmind.evaluate.tune.fit import Towards, fit, times
from devmind.evaluate.tune.folds import N_FOLDS, Unseen, cross_validated, folds_of, likelihoods
from devmind.retrieve.rank import SHIPPED

N = len(FEATURES)
START = np.array([SHIPPED.files[name] for name in FEATURES])
FREE = np.array([name not in RULES for name in FEATURES])
EVERY = np.ones(N, bool)


def examples(n: int, *, truth: Matrix, noise: float = 0.5, seed: int = 0) -> list[Example]:
    """Return topics of 12 files whose right one has the highest score by the weights ``truth``, up to noise."""
    rng = np.random.default_rng(seed)
    made = []
    for at in range(n):
        features = rng.normal(size=(12, N))
        gains = np.zeros(12)
        gains[np.argmax(features @ truth + noise * rng.normal(size=12))] = 2.0
        made.append(Example(f"t{at}", features, gains, (2.0,)))
    return made


def loss(weights: Matrix, found: list[Example], towards: Towards, spread: Matrix) -> float:
    """Return the loss by its definition, topic by topic."""
    total = 0.0
    for one in found:
        scores = one.features @ weights
        log = scores - scores.max() - np.log(np.exp(scores - scores.max()).sum())
        total -= float(one.gains @ log) / float(one.gains.sum())
    change = (weights - towards.start) * spread
    return total / len(found) + towards.l2 / 2 * float(change @ change)


@pytest.mark.parametrize("l2", [1e-3, 0.1, 3.0])
@pytest.mark.parametrize("start", [np.zeros(N), START])
def test_no_step_from_the_fitted_weights_lowers_the_loss(l2: float, start: Matrix) -> None:
    rng = np.random.default_rng(3)
    found = examples(40, truth=rng.normal(size=N))
    towards = Towards(start, l2, EVERY)
    spread = np.concatenate([one.features for one in found]).std(0)
    weights = fit(found, np.ones(40), towards)
    least = loss(weights, found, towards, spread)
    assert least < loss(start, found, towards, spread)
    for scale in (0.3, 0.03):
        for _ in range(20):
            assert loss(weights + scale * rng.normal(size=N), found, towards, spread) > least


def test_a_fit_that_is_held_hard_stays_and_a_rule_always_stays() -> None:
    found = examples(40, truth=-START)
    assert fit(found, np.ones(40), Towards(START, 1e6, FREE)) == pytest.approx(START, abs=1e-4)
    moved = fit(found, np.ones(40), Towards(START, 1e-3, FREE))
    assert moved[~FREE] == pytest.approx(START[~FREE], abs=0)
    assert np.abs(moved - START)[FREE].min() > 0.01


def test_a_feature_that_never_varies_keeps_its_weight() -> None:
    found = [
        Example(e.group, np.where(np.arange(N) == 4, 1.0, e.features), e.gains, e.ideal)
        for e in examples(30, truth=START)
    ]
    assert fit(found, np.ones(30), Towards(START, 0.01, FREE))[4] == pytest.approx(START[4])


def test_topics_without_a_right_candidate_say_nothing() -> None:
    found = examples(30, truth=START[::-1].copy())
    lost = [Example("lost", one.features, np.zeros(12), (2.0,)) for one in examples(9, truth=START, seed=5)]
    towards = Towards(START, 0.05, FREE)
    with_lost = fit([*found, *lost], np.ones(39), towards)
    assert with_lost == pytest.approx(fit(found, np.ones(30), towards))
    assert fit(lost, np.ones(9), towards) == pytest.approx(START)


def test_what_a_topic_counts_matters() -> None:
    one, other = examples(1, truth=START, seed=1) * 20, examples(1, truth=-START, seed=2) * 20
    towards = Towards(np.zeros(N), 0.01, EVERY)
    towards_one = fit([*one, *other], np.r_[np.full(20, 9.0), np.full(20, 1.0)], towards)
    alike = fit([*one, *other], np.ones(40), towards)
    right = int(np.argmax(one[0].gains))
    assert _odds(one[0], towards_one)[right] > _odds(one[0], alike)[right]


def _odds(found: Example, weights: Matrix) -> Matrix:
    scores = np.exp(times(found.features, weights) - times(found.features, weights).max())
    return np.asarray(scores / scores.sum())


def test_measures_of_files_by_hand() -> None:
    found = Example("t", np.zeros((4, N)), np.array([0.0, 2.0, 1.0, 0.0]), (2.0, 1.0, 1.0))
    ndcg, recall = file_measures(found, np.array([4.0, 3.0, 2.0, 1.0]))
    ideal = 2.0 + 1 / np.log2(3) + 1 / 2
    assert ndcg == pytest.approx((2 / np.log2(3) + 1 / 2) / ideal)
    assert recall == pytest.approx(2 / 3)
    assert file_measures(found, np.array([1.0, 4.0, 3.0, 2.0]))[0] == pytest.approx((2.0 + 1 / np.log2(3)) / ideal)


def test_a_fold_holds_whole_groups_and_the_same_ones_each_time() -> None:
    groups = [f"g{at // 3}" for at in range(60)]
    folds = folds_of(groups)
    assert len(set(folds)) == N_FOLDS
    assert all(len({folds[at] for at in range(60) if groups[at] == name}) == 1 for name in groups)
    assert (folds == folds_of(groups)).all()


def test_cross_validation_judges_by_what_was_not_seen() -> None:
    """Features that tell each topic's file and nothing else are learned by heart, and of no use elsewhere."""
    found = examples(8, truth=np.zeros(N), noise=1.0, seed=9)
    towards = Towards(np.zeros(N), 1e-4, EVERY)
    weights = fit(found, np.ones(8), towards)
    seen = np.mean([file_measures(one, times(one.features, weights))[0] for one in found])
    unseen = cross_validated(found, np.ones(8), towards).ndcg.mean()
    assert seen > 0.75
    assert unseen < 0.55


@pytest.mark.parametrize("n", [20, 60, 200])
def test_a_start_that_is_right_is_mostly_kept_and_else_hardly_left(n: int) -> None:
    """Chance makes one fit in five look better; such a fit ranks other topics as well as the start."""
    fitted = [fit_files(examples(n, truth=START, noise=4.0, seed=seed), SHIPPED) for seed in range(4)]
    assert set(fitted[0].ndcg) == {0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6}
    believed = [one.weights for one in fitted if one.weights is not None]
    assert len(believed) <= 2
    others = examples(400, truth=START, noise=4.0, seed=99)
    for weights in believed:
        moved = np.array([weights[name] for name in FEATURES])
        assert _ndcg(others, moved) > _ndcg(others, START) - 0.02


def _ndcg(found: list[Example], weights: Matrix) -> float:
    return float(np.mean([file_measures(one, times(one.features, weights))[0] for one in found]))


def test_a_start_that_is_wrong_is_left_in_the_right_direction() -> None:
    stem = FEATURES.index("stem")
    truth = START.copy()
    truth[stem] = -START[stem]
    fitted = fit_files(examples(60, truth=truth), SHIPPED)
    assert fitted.weights is not None and fitted.freedom > 0
    assert fitted.weights["stem"] < SHIPPED.files["stem"] - 1
    assert fitted.ndcg[fitted.freedom] > fitted.ndcg[0.0]


def unseen(likelihood: Matrix, ndcg: float) -> Unseen:
    return Unseen(np.full(len(likelihood), ndcg), np.zeros(len(likelihood)), likelihood)


def test_the_freedom_that_makes_unseen_answers_most_likely_is_taken_if_it_is_no_chance() -> None:
    rng = np.random.default_rng(0)
    likelihood = rng.uniform(-3, 0, 50)
    start, small = unseen(likelihood, 0.5), unseen(likelihood + 0.2 + rng.normal(0, 0.1, 50), 0.6)
    large = unseen(likelihood + 0.3 + rng.normal(0, 0.1, 50), 0.55)
    assert chosen({0.0: start, 0.2: small, 0.4: large}) == 0.4
    assert chosen({0.0: start, 0.2: small, 0.4: unseen(likelihood - 0.1, 0.9)}) == 0.2
    assert chosen({0.0: start, 0.2: unseen(small.likelihood, 0.5)}) == 0.0  # more likely, but in no better order
    assert chosen({0.0: start, 0.2: unseen(likelihood + rng.normal(0.01, 0.4, 50), 0.9)}) == 0.0  # chance


def test_likelihoods_by_hand() -> None:
    found = Example("t", np.zeros((3, N)), np.array([0.0, 1.0, 0.0]), (1.0,))
    odds = np.exp([1.0, 2.0, 0.0])
    assert likelihoods(found, np.array([1.0, 2.0, 0.0]), np.array([1.0, 0.0])) == pytest.approx(
        [np.log(odds[1] / odds.sum()), np.log(1 / 3)]
    )
    assert (likelihoods(Example("t", np.zeros((3, N)), np.zeros(3), (1.0,)), np.zeros(3), np.ones(2)) == 0).all()


def test_better_means_by_more_than_chance() -> None:
    assert not is_surely_better(np.array([0.5] * 3 + [0.0] * 20))  # three lucky topics
    assert is_surely_better(np.array([0.5] * 4 + [0.0] * 20))
    assert not is_surely_better(np.array([0.5] * 4 + [0.0] * 20), sure=0.05)
    assert not is_surely_better(-np.array([0.5] * 4 + [0.0] * 20))
    assert not is_surely_better(np.array([0.5, -0.4] * 10))
    assert not is_surely_better(np.zeros(20))
