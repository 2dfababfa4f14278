"""A question and the files that answer it → its candidate files, by the product's own search: what is learned from."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from devmind.retrieve.rank import SHIPPED
from devmind.retrieve.trace import Trace
from devmind.service import Service
from devmind.types import Filters

Matrix = npt.NDArray[np.float64]
K: Final = 10  # the depth at which rankings are judged, and to which the search behind them goes
FEATURES: Final = tuple(SHIPPED.files)
RULES: Final = frozenset({"path_named", "pointed"})  # features whose weight is a rule, and no matter of evidence


@dataclass(frozen=True, slots=True)
class Example:
    """A question's candidate files.

    Attributes:
        group: examples of one group never stand on both sides of a fold.
        features: `(n_files, n_features)`, in the order of `FEATURES`.
        gains: `(n_files,)`, 0 for a file that answers nothing.
        ideal: the gains of all files that answer it, the highest first, whether they are candidates or not.
    """

    group: str
    features: Matrix
    gains: Matrix
    ideal: tuple[float, ...]

    @property
    def is_usable(self) -> bool:
        """Whether some candidate is right: else no weights can do anything about it."""
        return bool(self.gains.any())


def example(
    service: Service,
    query: str,
    gain_by_file: Mapping[str, float],
    *,
    group: str,
    repos: Sequence[str] = (),
    same: Callable[[str, str], bool] = operator.eq,
) -> Example:
    """Search once and return what the ranking had before it.

    Args:
        gain_by_file: what each file that answers the question is worth.
        repos: search these only.
        same: whether a candidate's path is that of a file.

    Raises:
        UsageError: the query is empty, or a repository is unknown.
    """
    trace = service.trace(query, k=K, filters=Filters(repos=tuple(repos)), legs=False)
    return example_of(trace, gain_by_file, group=group, same=same)


def example_of(
    trace: Trace, gain_by_file: Mapping[str, float], *, group: str, same: Callable[[str, str], bool] = operator.eq
) -> Example:
    """Return what a search that was traced had before the ranking; takes what `example` does."""
    ranking, view = trace.ranking, trace.view
    _, first = np.unique(view.file[ranking.rows], return_index=True)
    paths = [view.files[file].path for file in view.file[ranking.rows][first]]
    gains = [max((gain for file, gain in gain_by_file.items() if same(path, file)), default=0.0) for path in paths]
    return Example(
        group=group,
        features=np.stack([ranking.features[name][first] for name in FEATURES], 1).astype(np.float64),
        gains=np.array(gains, np.float64),
        ideal=tuple(sorted(gain_by_file.values(), reverse=True)),
    )


def file_measures(found: Example, scores: Matrix) -> tuple[float, float]:
    """Return nDCG and Recall of the files among the first `K`, when files are ordered by ``scores``."""
    ranked = found.gains[np.argsort(-scores, kind="stable")[:K]]
    discounts = 1 / np.log2(np.arange(2, K + 2))
    ideal = np.array(found.ideal[:K])
    ndcg = float((ranked * discounts[: len(ranked)]).sum() / (ideal * discounts[: len(ideal)]).sum())
    return ndcg, min(1.0, float(np.count_nonzero(ranked)) / len(found.ideal))
