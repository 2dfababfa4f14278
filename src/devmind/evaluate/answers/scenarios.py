"""Cosines → which of four scenarios a topic is, by thresholds that shuffled pairs set.

= =============== ================ ================================================
A Recall low      Correctness high answered from the model's memory
B Recall high     Correctness low  the generator is at fault: it had the text
C both high                        as it should be
D both low                         retrieval is at fault
= =============== ================ ================================================

High means: above 95 % of the cosines that the same texts have when they do not belong together. Taste sets nothing.

Angles obey the triangle inequality, so retrieved text that is near the reference, and an answer near the retrieved
text, force the answer near the reference: `floor`. A high Correctness that follows from the other two is geometry.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal

from devmind.embed.types import Vectors
from devmind.evaluate.alignment import lines_of, normal_path
from devmind.evaluate.answers.cosines import (
    CORRECTNESS,
    COSINES,
    GROUNDEDNESS,
    RECALL,
    Cosines,
    Placed,
    defined,
)
from devmind.evaluate.statistics import SEED, auroc
from devmind.evaluate.types import Topic

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Scenario = Literal["A", "B", "C", "D"]
SCENARIOS: Final[tuple[Scenario, ...]] = ("A", "B", "C", "D")
MEANINGS: Final[dict[Scenario, str]] = {
    "A": "answered from memory",
    "B": "generator at fault",
    "C": "as it should be",
    "D": "retrieval at fault",
}
# One topic in twenty passes for high by chance.
PERCENTILE: Final = 95.0
# Fewer pairs than this put the 95th percentile on one or two values.
MIN_PAIRS: Final = 100
# All pairs of 100 topics. The 95th percentile of samples of this size, out of 35,156 real pairs, has a standard
# deviation of .0025.
MAX_PAIRS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Threshold:
    """What counts as high for one cosine, or why that is not known.

    ``auroc``: the chance that texts which belong together have a higher cosine than texts which do not.
    """

    cosine: str
    value: float | None
    reason: str = ""
    n_true: int = 0
    n_shuffled: int = 0
    mean_true: float | None = None
    mean_shuffled: float | None = None
    auroc: float | None = None
    share_high: float | None = None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Thresholds by cosine. ``within``: mismatched pairs were drawn of topics of one repository, or of all."""

    thresholds: dict[str, Threshold]
    within: Literal["repository", "dataset"]
    seed: int
    percentile: float = PERCENTILE

    def value(self, cosine: str) -> float | None:
        return self.thresholds[cosine].value

    @property
    def floor(self) -> float | None:
        """Return the Correctness that Recall Score and Groundedness force when both are just high."""
        recall, groundedness = self.value(RECALL), self.value(GROUNDEDNESS)
        return None if recall is None or groundedness is None else floor(recall, groundedness)


def floor(recall: float, groundedness: float) -> float:
    """Return the least Correctness that is possible: the cosine of the sum of both angles, -1 beyond 180°."""
    angle = math.acos(recall) + math.acos(groundedness)
    return math.cos(angle) if angle < math.pi else -1.0


def scenario(cosines: Cosines, calibration: Calibration) -> Scenario | None:
    """Return the scenario; None where a cosine or its threshold is not known."""
    recall_bar, correct_bar = calibration.value(RECALL), calibration.value(CORRECTNESS)
    if recall_bar is None or correct_bar is None or cosines.recall is None or cosines.correctness is None:
        return None
    if cosines.correctness >= correct_bar:
        return "C" if cosines.recall >= recall_bar else "A"
    return "B" if cosines.recall >= recall_bar else "D"


def is_forced(cosines: Cosines, calibration: Calibration) -> bool:
    """Return whether Correctness had to be high, whatever the answer says, because of the other two angles."""
    bar = calibration.value(CORRECTNESS)
    if bar is None or cosines.recall is None or cosines.groundedness is None:
        return False
    return floor(cosines.recall, cosines.groundedness) >= bar


def calibrate(topics: Sequence[Topic], placed: Placed, *, seed: int = SEED) -> Calibration:
    """Return the thresholds of the topics' own texts.

    A mismatched pair is of two topics with neither a reference nor a labelled line in common. Pairs are of one
    repository, which is harder; where those are too few, of the whole dataset.

    Cost: quadratic in the topics, in arrays.
    """
    import numpy as np

    apart = _apart(topics)
    repos = np.unique([topic.repo for topic in topics], return_inverse=True)[1] if topics else np.zeros(0, np.intp)
    near = apart & (repos[:, None] == repos[None, :])
    one = np.count_nonzero(near) >= MIN_PAIRS
    chosen = near if one else apart
    thresholds = {name: _threshold(name, *placed.pair(name), chosen, seed) for name in COSINES}
    return Calibration(thresholds, "repository" if one else "dataset", seed)


def _threshold(name: str, first: Vectors, second: Vectors, apart: npt.NDArray[np.bool_], seed: int) -> Threshold:
    import numpy as np

    left, right = defined(first), defined(second)
    true = np.einsum("ij,ij->i", first, second)[left & right].astype(np.float64).tolist()
    rows, columns = np.nonzero(apart & left[:, None] & right[None, :])
    if len(rows) < MIN_PAIRS:
        problem = f"{len(rows)} mismatched pairs of texts, {MIN_PAIRS} are needed: measure more topics with references"
        return Threshold(name, None, problem, n_true=len(true), n_shuffled=len(rows))
    if len(rows) > MAX_PAIRS:
        kept = np.random.default_rng(seed).choice(len(rows), MAX_PAIRS, replace=False)
        rows, columns = rows[kept], columns[kept]
    shuffled = np.einsum("ij,ij->i", first[rows], second[columns]).astype(np.float64)
    value = float(np.percentile(shuffled, PERCENTILE))
    return Threshold(
        name,
        value,
        n_true=len(true),
        n_shuffled=len(rows),
        mean_true=sum(true) / len(true) if true else None,
        mean_shuffled=float(shuffled.mean()),
        auroc=auroc(true, shuffled.tolist()),
        share_high=sum(cosine >= value for cosine in true) / len(true) if true else None,
    )


def _apart(topics: Sequence[Topic]) -> npt.NDArray[np.bool_]:
    """Return which two topics have neither their reference nor a labelled line in common."""
    import numpy as np

    apart = ~np.eye(len(topics), dtype=np.bool_)
    by_reference: dict[str, list[int]] = {}
    by_file: dict[tuple[str, str, str], list[tuple[int, int, int]]] = {}
    for number, topic in enumerate(topics):
        if reference := topic.reference_answer.strip():
            by_reference.setdefault(reference, []).append(number)
        for truth in topic.truths:
            key = (topic.repo, topic.commit, normal_path(truth.span.file))
            by_file.setdefault(key, []).append((*lines_of(truth.span), number))
    for members in by_reference.values():
        apart[np.ix_(members, members)] = False
    for spans in by_file.values():
        for (start, end, one), (first, last, other) in combinations(spans, 2):
            if start <= last and first <= end:
                apart[one, other] = apart[other, one] = False
    return apart
