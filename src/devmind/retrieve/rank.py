"""Candidates with the legs' scores → an order: files by a linear model of their features, chunks within their file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from devmind.index.groups import group_starts, grouped
from devmind.index.snapshot import Floats
from devmind.index.view import Rows, View
from devmind.retrieve.candidates import Candidates
from devmind.retrieve.features import file_features, least_found, standardise
from devmind.retrieve.query import Query
from devmind.retrieve.weights import Weights

# Learned by `python -m training.ranking`, which prints the ablation, too; ``path_named`` and ``pointed`` are rules, set
# by hand: few questions have them, and for those they are plain. 1.5 and 5 for ``pointed`` are a little worse.
FILE_WEIGHTS: Final[Mapping[str, float]] = {
    "bm25_best": 0.05,
    "bm25_pooled": 0.19,
    "bm25_share": 1.11,
    "bm25_file": 0.49,
    "used": 0.34,
    "cosine_best": 0.44,
    "cosine_pooled": 0.10,
    "cosine_second": 1.70,
    "defines": 0.35,
    "depth": -0.04,
    "stem_precision": -1.57,
    "stem_recall": -1.26,
    "stem": 4.87,
    "folder_recall": 2.43,
    "folder": 0.30,
    "side": -1.28,
    "header_file": -3.83,
    "test": -3.08,
    "docs": -5.20,
    "config": -4.28,
    "generated": -0.60,
    "vendored": -0.70,
    "path_named": 6.0,
    "pointed": 3.0,
}
# Within a file: share of the cosine in sentences and in bare names, and what a defined name adds. Set by hand.
DENSE_SENTENCE, DENSE_SYMBOLIC = 0.7, 0.2
DEFINITION = 2.5
POINTED = 2.5  # 1 finds fewer right lines of bug reports, 5 no more
# A chunk against the best of its file, and against other files' first chunks: chosen on the development halves, where a
# smaller penalty finds more of the right lines and fewer of the right files.
CHUNK_SHARE = 0.25
SECOND_OF_FILE = 3.0
RERANKED: Final = "reranked"  # what the optional second stage adds to a score (`second`)
SHIPPED: Final = Weights(
    FILE_WEIGHTS,
    dense_sentence=DENSE_SENTENCE,
    dense_symbolic=DENSE_SYMBOLIC,
    definition=DEFINITION,
    chunk_share=CHUNK_SHARE,
    second_of_file=SECOND_OF_FILE,
)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Rows of a view in order of rank, and by feature what made the score; all arrays in that order."""

    rows: Rows
    scores: Floats
    features: Mapping[str, Floats]
    weights: Weights

    def whys(self, places: Sequence[int]) -> list[dict[str, float]]:
        """Return the features of some candidates, rounded, by name."""
        at = np.array(places, np.int64)
        values = np.array([feature.take(at) for feature in self.features.values()], np.float64).T
        rounded = np.rint(values * 10_000) / 10_000  # as `round` has it: a single times 10,000 is exact in a double
        return [dict(zip(self.features, of_one, strict=True)) for of_one in rounded.tolist()]

    def parts(self) -> dict[str, Floats]:
        """Return what each feature adds to the scores; the parts of a candidate sum up to its score."""
        return {name: weight * self.features[name] for name, weight in self.weights.files.items()} | {
            "behind_best": self.weights.chunk_share * self.features["behind_best"],
            "nth_of_file": -self.weights.second_of_file * (self.features["nth_of_file"] - 1),
            **{name: values for name, values in self.features.items() if name == RERANKED},
        }


def rank(
    query: Query,
    view: View,
    found: Candidates,
    *,
    idf: Mapping[str, float],
    weights: Weights = SHIPPED,
) -> Ranking:
    """Return the candidates best first; ties by path and line.

    Args:
        found: in ``view``.
        idf: by query term.
        weights: what the features count.
    """
    rows = found.rows
    files, file_of = grouped(view.file[rows])
    features = file_features(query, view, found, files=files, file_of=file_of, idf=idf)
    matrix = np.stack(list(features.values()))
    weight_of = np.array([weights.files[name] for name in features], np.float32)
    by_file = np.einsum("i,ij->j", weight_of, matrix)  # without BLAS, whose threads wait for one another
    own = _within_file(query, found, weights)
    order = np.lexsort((view.start[rows], -own, file_of))
    of_file = file_of[order]
    first = group_starts(of_file)
    nth = np.arange(len(rows)) - first
    behind = own[order] - own[order][first]
    score = by_file[of_file] + weights.chunk_share * behind - weights.second_of_file * nth
    best = np.argsort(-score)
    if (score[best][1:] == score[best][:-1]).any():  # paths are sorted only where there are ties
        best = np.lexsort((view.start[rows][order], _by_path(view, files)[of_file], -score))
    at = order[best]
    by_name = dict(zip(features, matrix[:, file_of[at]], strict=True))
    named = {
        "lexical": found.lexical[at],
        "dense": found.dense[at],
        "file": by_file[file_of[at]],
        **by_name,
        "behind_best": behind[best].astype(np.float32),
        "nth_of_file": (nth[best] + 1).astype(np.float32),
    }
    return Ranking(rows=rows[at], scores=score[best].astype(np.float32), features=named, weights=weights)


def _within_file(query: Query, found: Candidates, weights: Weights) -> Floats:
    """Return what each candidate is worth against the others of its file."""
    share = weights.dense_symbolic if query.symbolic else weights.dense_sentence
    lexical = standardise(np.maximum(found.lexical, least_found(found.lexical)))
    own: Floats = (1 - share) * lexical + share * standardise(found.dense)
    own += weights.definition * found.defines + POINTED * found.pointed
    return own


def _by_path(view: View, files: Rows) -> Rows:
    """Return the place of each file when they are sorted by path."""
    paths = [view.files[file].path for file in files.tolist()]
    places = np.empty(len(files), np.int64)
    places[sorted(range(len(files)), key=paths.__getitem__)] = np.arange(len(files))
    return places
