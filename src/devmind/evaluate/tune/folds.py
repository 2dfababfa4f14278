"""Examples and ways to fit → how good each way is on examples that it did not see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from devmind.evaluate.tune.examples import Example, Matrix, file_measures
from devmind.evaluate.tune.fit import Towards, fit, times

N_FOLDS: Final = 8
SEED: Final = 0


def folds_of(groups: Sequence[str]) -> npt.NDArray[np.intp]:
    """Return the fold of each example: a group has one, and folds hold about as many groups each."""
    names = sorted(set(groups))
    order = np.random.default_rng(SEED).permutation(len(names))
    fold_by_name = {names[at]: place % N_FOLDS for place, at in enumerate(order)}
    return np.array([fold_by_name[name] for name in groups], np.intp)


def cross_validated(examples: Sequence[Example], shares: Matrix, towards: Towards) -> Matrix:
    """Return shape (n_examples, 2): nDCG and Recall of the files by weights fitted without the example's fold."""
    folds = folds_of([one.group for one in examples])
    found = np.zeros((len(examples), 2))
    for fold in np.unique(folds):
        seen = np.flatnonzero(folds != fold).tolist()
        weights = fit([examples[at] for at in seen], shares[seen], towards)
        for at in np.flatnonzero(folds == fold).tolist():
            found[at] = file_measures(examples[at], times(examples[at].features, weights))
    return found
