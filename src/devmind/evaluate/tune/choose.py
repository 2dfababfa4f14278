"""Examples of the development part → weights of files that are better than those they start from, or none.

How far the weights may move is chosen by cross-validation; a way to move that is better by less than chance would make
it is not believed. So a team with few questions keeps the shipped weights, or stays near them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from devmind.evaluate.statistics import sign_flips
from devmind.evaluate.tune.examples import FEATURES, RULES, Example, Matrix
from devmind.evaluate.tune.fit import Towards, fit
from devmind.evaluate.tune.folds import cross_validated
from devmind.retrieve.weights import Weights

# How far a weight may move, in units of its feature's spread: the standard deviation of the prior around the start.
# The shipped weights are of size .05 to 1.5 in these units; 1.6 lets a strong one change its sign.
FREEDOMS: Final = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
# The p at which a fit counts as better than the start. With random labels and 30 topics a fit that is better by one
# standard error is found more often than not (2026-11-30).
SURE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights of files and what cross-validation says of them.

    Attributes:
        weights: by feature; None when no fit was better than the start.
        freedom: one of `FREEDOMS`, 0 without a fit.
        ndcg: cross-validated nDCG of the files by freedom; 0 stands for the start.
    """

    weights: dict[str, float] | None
    freedom: float
    ndcg: dict[float, float]


def fit_files(
    examples: Sequence[Example], start: Weights, *, progress: Callable[[int, int], None] = lambda done, total: None
) -> Fitted:
    """Return the weights for ``examples``, all of which count alike."""
    shares = np.ones(len(examples))
    towards = [_towards(start, len(examples), freedom) for freedom in FREEDOMS]
    held = _towards(start, len(examples), FREEDOMS[0], free=False)
    found = {}
    for done, (freedom, one) in enumerate(zip((0.0, *FREEDOMS), (held, *towards), strict=True)):
        progress(done, len(FREEDOMS) + 1)
        found[freedom] = cross_validated(examples, shares, one)[:, 0]
    progress(len(FREEDOMS) + 1, len(FREEDOMS) + 1)
    ndcg = {freedom: float(values.mean()) for freedom, values in found.items()}
    freedom = chosen(found)
    if not freedom:
        return Fitted(None, 0.0, ndcg)
    weights = fit(examples, shares, _towards(start, len(examples), freedom))
    return Fitted(dict(zip(FEATURES, map(float, weights), strict=True)), freedom, ndcg)


def chosen(by_freedom: dict[float, Matrix]) -> float:
    """Return the least freedom that is as good as the best, up to chance; 0 if none is surely better than the start.

    Args:
        by_freedom: the measure of each example, topics in the same order; 0 is the start.

    Source: the one-standard-error rule (Breiman et al. 1984), on paired differences.
    """
    start = by_freedom[0.0]
    best = max(
        (freedom for freedom in by_freedom if freedom), key=lambda freedom: (by_freedom[freedom].mean(), -freedom)
    )
    if not is_surely_better(by_freedom[best] - start):
        return 0.0
    for freedom in sorted(by_freedom):
        behind = by_freedom[best] - by_freedom[freedom]
        if freedom and behind.mean() <= standard_error(behind) and is_surely_better(by_freedom[freedom] - start):
            return freedom
    return best


def is_surely_better(differences: Matrix, *, sure: float = SURE) -> bool:
    """Return whether paired differences are above 0 by more than chance, at the two-sided p ``sure``."""
    p = sign_flips(differences.reshape(-1, 1))[0]
    return float(differences.mean()) > 0 and p is not None and p <= sure


def standard_error(differences: Matrix) -> float:
    return float(differences.std(ddof=1)) / len(differences) ** 0.5 if len(differences) > 1 else float("inf")


def _towards(start: Weights, n_examples: int, freedom: float, *, free: bool = True) -> Towards:
    movable = np.array([free and name not in RULES for name in FEATURES])
    return Towards(np.array([start.files[name] for name in FEATURES]), 1 / (n_examples * freedom**2), movable)
