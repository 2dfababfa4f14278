"""Examples of the development part → weights of files that are better than those they start from, or none.

How far the weights may move is chosen by cross-validation: as far as makes the right files of unseen questions most
likely. That is believed only if it is no mere chance, and if their nDCG rises, too. Likelihoods tell the two apart with
fewer questions than nDCG, in which one file's step from rank 2 to 1 weighs a third of everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from devmind.evaluate.statistics import sign_flips
from devmind.evaluate.tune.examples import FEATURES, RULES, Example, Matrix
from devmind.evaluate.tune.fit import Towards, fit
from devmind.evaluate.tune.folds import Unseen, cross_validated
from devmind.evaluate.types import OnStep
from devmind.retrieve.weights import Weights

# How far a weight may move, in units of its feature's spread: the standard deviation of the prior around the start.
# The shipped weights are of size .05 to 1.5 in these units; 1.6 lets a strong one change its sign.
FREEDOMS: Final = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
# The two-sided p at which a fit counts as better than the start. On seven projects, each with a start fitted without it
# (2026-11-30), file nDCG@10 of unseen questions rose by .014 with 35 to 129 questions to fit on and by .002 with 30.
# None of 21 sets of 32 random labels was believed. With .05: .010, .002, none. By nDCG at .05: .005, -.001, none.
# Without such a rule: .023, -.001, 17 of 21.
SURE: Final = 0.2


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


def fit_files(examples: Sequence[Example], start: Weights, *, progress: OnStep = lambda done, total: None) -> Fitted:
    """Return the weights for ``examples``, all of which count alike."""
    shares = np.ones(len(examples))
    towards = [_towards(start, len(examples), freedom) for freedom in FREEDOMS]
    held = _towards(start, len(examples), FREEDOMS[0], free=False)
    found = {}
    for done, (freedom, one) in enumerate(zip((0.0, *FREEDOMS), (held, *towards), strict=True)):
        progress(done, len(FREEDOMS) + 1)
        found[freedom] = cross_validated(examples, shares, one)
    progress(len(FREEDOMS) + 1, len(FREEDOMS) + 1)
    ndcg = {freedom: float(one.ndcg.mean()) for freedom, one in found.items()}
    freedom = chosen(found)
    if not freedom:
        return Fitted(None, 0.0, ndcg)
    weights = fit(examples, shares, _towards(start, len(examples), freedom))
    rounded = (round(float(weight), 4) for weight in weights)  # a file that a person can read
    return Fitted(dict(zip(FEATURES, rounded, strict=True)), freedom, ndcg)


def chosen(by_freedom: Mapping[float, Unseen]) -> float:
    """Return the freedom that is best, 0 if it is not surely better than the start, which is freedom 0."""
    start = by_freedom[0.0]
    best = max(
        (freedom for freedom in by_freedom if freedom), key=lambda one: (by_freedom[one].likelihood.mean(), -one)
    )
    rises = by_freedom[best].ndcg.mean() > start.ndcg.mean()
    return best if rises and is_surely_better(by_freedom[best].likelihood - start.likelihood) else 0.0


def is_surely_better(differences: Matrix, *, sure: float = SURE) -> bool:
    """Return whether paired differences are above 0 by more than chance, at the two-sided p ``sure``."""
    p = sign_flips(differences.reshape(-1, 1))[0]
    return float(differences.mean()) > 0 and p is not None and p <= sure


def _towards(start: Weights, n_examples: int, freedom: float, *, free: bool = True) -> Towards:
    movable = np.array([free and name not in RULES for name in FEATURES])
    return Towards(np.array([start.files[name] for name in FEATURES]), 1 / (n_examples * freedom**2), movable)
