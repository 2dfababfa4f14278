"""Examples → weights of files: a linear listwise model that stays near the weights it starts from.

The loss of a topic is the cross-entropy between its right files, which share the probability by their gains, and the
softmax of the scores of all its candidates. It is convex, so Newton's method finds the one minimum in some ten steps.

Source: ListNet with top-one probabilities (Cao et al. 2007).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from devmind.evaluate.tune.examples import Example, Matrix

MAX_STEPS: Final = 60
CONVERGED: Final = 1e-9  # of the loss that the next step could gain
# A feature that hardly varies in the examples would be free to take any weight: its spread counts as at least this.
# Roles that one file in a hundred has vary as much.
LEAST_SPREAD: Final = 0.1


@dataclass(frozen=True, slots=True)
class Towards:
    """Where a fit starts, and how hard it is held there.

    Attributes:
        start: weights, by feature.
        l2: half the square of each change, in units of the feature's spread, costs so much of the mean loss of a topic.
        free: features whose weights may change.
        least_spread: of a feature, see `LEAST_SPREAD`.
    """

    start: Matrix
    l2: float
    free: npt.NDArray[np.bool_]
    least_spread: float = LEAST_SPREAD


def fit(examples: Sequence[Example], shares: Matrix, towards: Towards) -> Matrix:
    """Return the weights by feature. Examples without a right candidate say nothing and are left out.

    Args:
        shares: what each example counts.
    """
    usable = [(one, share) for one, share in zip(examples, shares, strict=True) if one.is_usable]
    if not usable:
        return towards.start.copy()
    problem = _Problem([one for one, _ in usable], np.array([share for _, share in usable]), towards)
    weights = towards.start.copy()
    weights[towards.free] += problem.solved() / problem.spread
    return weights


class _Problem:
    """The loss over all examples as a function of the changes of the free weights, in units of their spread."""

    def __init__(self, examples: Sequence[Example], shares: Matrix, towards: Towards) -> None:
        lengths = [len(one.features) for one in examples]
        self._starts = np.r_[0, np.cumsum(lengths)[:-1]].astype(np.intp)
        self._topic_of = np.repeat(np.arange(len(examples)), lengths)
        everything = np.concatenate([one.features for one in examples])
        self._offset = times(everything, towards.start)
        free = everything[:, towards.free]
        self.spread = np.maximum(free.std(0), towards.least_spread)
        means = np.add.reduceat(free, self._starts) / np.array(lengths)[:, None]
        self._free = (free - means[self._topic_of]) / self.spread  # a softmax knows differences only
        self._target = np.concatenate([one.gains / one.gains.sum() for one in examples])
        self._share = shares / shares.sum()
        self._l2 = towards.l2

    def solved(self) -> Matrix:
        """Return the changes that minimise the loss, by Newton's method with shortened steps."""
        change = np.zeros(self._free.shape[1])
        loss = self._loss(change)
        for _ in range(MAX_STEPS):
            gradient, curvature = self._slopes(change)
            step = -np.linalg.solve(curvature, gradient)
            gain = -float(gradient @ step)
            if gain < CONVERGED:
                break
            length = 1.0
            while (shorter := self._loss(change + length * step)) > loss - 1e-4 * length * gain and length > 1e-6:
                length /= 2
            if shorter >= loss:
                break
            change, loss = change + length * step, shorter
        return change

    def _odds(self, change: Matrix) -> tuple[Matrix, Matrix]:
        """Return the probability of each file within its topic, and its logarithm."""
        scores = self._offset + times(self._free, change)
        scores = scores - np.maximum.reduceat(scores, self._starts)[self._topic_of]
        log = scores - np.log(np.add.reduceat(np.exp(scores), self._starts))[self._topic_of]
        return np.exp(log), log

    def _loss(self, change: Matrix) -> float:
        _, log = self._odds(change)
        return float(-(self._share[self._topic_of] * self._target * log).sum() + self._l2 / 2 * (change @ change))

    def _slopes(self, change: Matrix) -> tuple[Matrix, Matrix]:
        """Return the gradient and the matrix of second derivatives."""
        p, _ = self._odds(change)
        share = self._share[self._topic_of]
        gradient = times(self._free.T, (p - self._target) * share) + self._l2 * change
        expected = np.add.reduceat(self._free * p[:, None], self._starts) * np.sqrt(self._share)[:, None]
        weighted = self._free * np.sqrt(p * share)[:, None]
        curvature = _gram(weighted) - _gram(expected) + (self._l2 + 1e-9) * np.eye(len(change))
        return gradient, curvature


def times(matrix: Matrix, vector: Matrix) -> Matrix:
    """Return the product without BLAS, whose threads cost more than they give on a busy machine."""
    product: Matrix = np.einsum("ij,j->i", matrix, vector)
    return product


def _gram(matrix: Matrix) -> Matrix:
    product: Matrix = np.einsum("ij,ik->jk", matrix, matrix)
    return product
