"""Examples and a way to fit → how good it is on examples that it did not see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from devmind.evaluate.tune.examples import Example, Matrix, file_measures
from devmind.evaluate.tune.fit import Towards, fit, times

N_FOLDS: Final = 8
SEED: Final = 0
# Factors of all scores: how sure a ranking is has nothing to do with its order, and other questions are harder.
SCALES: Final = np.geomspace(0.03, 3.0, 24)


@dataclass(frozen=True, slots=True)
class Unseen:
    """Each example by weights that were fitted without its fold.

    Attributes:
        ndcg, recall: of its files.
        likelihood: the logarithm of the probability of its right files, by scores of the scale that suits the folds
            that were seen.
    """

    ndcg: Matrix
    recall: Matrix
    likelihood: Matrix


def folds_of(groups: Sequence[str]) -> npt.NDArray[np.intp]:
    """Return the fold of each example: a group has one, and folds hold about as many groups each."""
    names = sorted(set(groups))
    order = np.random.default_rng(SEED).permutation(len(names))
    fold_by_name = {names[at]: place % N_FOLDS for place, at in enumerate(order)}
    return np.array([fold_by_name[name] for name in groups], np.intp)


def cross_validated(examples: Sequence[Example], shares: Matrix, towards: Towards) -> Unseen:
    """Return how good weights are on each example that they were not fitted to."""
    folds = folds_of([one.group for one in examples])
    found = np.zeros((3, len(examples)))
    for fold in np.unique(folds):
        seen = np.flatnonzero(folds != fold).tolist()
        weights = fit([examples[at] for at in seen], shares[seen], towards)
        scores = [times(one.features, weights) for one in examples]
        scale = SCALES[[int(np.argmax(sum(likelihoods(examples[at], scores[at], SCALES) for at in seen)))]]
        for at in np.flatnonzero(folds == fold).tolist():
            found[:2, at] = file_measures(examples[at], scores[at])
            found[2, at] = likelihoods(examples[at], scores[at], scale)[0]
    return Unseen(*found)


def likelihoods(found: Example, scores: Matrix, scales: Matrix) -> Matrix:
    """Return the log-likelihood of the right files by each scale of the scores; 0 without a right candidate."""
    if not found.is_usable:
        return np.zeros(len(scales))
    scaled = (scores - scores.max())[:, None] * scales
    log = scaled - np.log(np.exp(scaled).sum(0))
    return times(log.T, found.gains / found.gains.sum())
