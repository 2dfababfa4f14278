"""Candidates with the legs' scores → an order, by named features and hand-set weights.

A file is judged by its best chunks and its path, then each chunk by itself and its file. Legs are standardised over
the candidates before they are summed; fusion by reciprocal ranks was not compared with it here yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from devmind.index.snapshot import Floats
from devmind.index.terms import terms
from devmind.index.view import Rows, View
from devmind.retrieve.query import Query

# Set by hand on the development halves; docs/benchmarks.md says what was tried. An ablation was not made yet.
DENSE_SENTENCE, DENSE_SYMBOLIC = 0.7, 0.2
FILE_POOL = (1.0, 0.8, 0.6, 0.4)
FILE_SHARE = 0.7
STEM, FOLDER = 3.0, 0.4
DEFINITION = 2.5
PATH_NAMED = 3.0
ROLE = {"source": 0.0, "test": -1.2, "docs": -0.8, "config": -0.6, "generated": -0.8, "vendored": -1.0}
COMPAT = -0.3
SECOND_OF_FILE = 4.0
GENERIC_STEMS = frozenset({"index", "mod", "init", "__init__", "lib", "main", "base", "core", "__main__", "types"})


@dataclass(frozen=True, slots=True)
class Ranking:
    """Rows of a view in order of rank, and by feature what made the score; all arrays in that order.

    ``parts`` returns by feature what it added to the score: their sum is the score. A search never asks.
    """

    rows: Rows
    scores: Floats
    features: Mapping[str, Floats]
    parts: Callable[[], Mapping[str, Floats]]

    def why(self, at: int) -> dict[str, float]:
        return {name: round(float(values[at]), 4) for name, values in self.features.items()}


def standardise(values: Floats) -> Floats:
    spread = float(values.std()) if len(values) else 0.0
    return (values - values.mean()) / spread if spread > 1e-9 else np.zeros_like(values)


def rank(
    query: Query,
    view: View,
    rows: Rows,
    *,
    lexical: Floats,
    dense: Floats,
    defines: Floats,
    idf: Mapping[str, float],
) -> Ranking:
    """Return the candidates best first; ties by path and line.

    Args:
        rows: of ``view``, ascending; the arrays follow it.
        lexical: BM25 scores, 0 where the leg did not find the chunk.
        dense: cosines.
        defines: how well the chunk defines a name of the query (0..1).
        idf: by query term.
    """
    share = DENSE_SYMBOLIC if query.symbolic else DENSE_SENTENCE
    found = lexical[lexical > 0]
    floor = float(found.min()) if len(found) else 0.0
    by_words = (1 - share) * standardise(np.maximum(lexical, floor))
    by_meaning = share * standardise(dense)
    fused = by_words + by_meaning
    files, file_of = np.unique(view.file[rows], return_inverse=True)
    about = [view.files[file] for file in files]
    weights = {**ROLE, "test": 0.0} if "test" in query.weights else ROLE
    role = np.array([weights.get(file.role, 0.0) for file in about], np.float32)
    path = np.array([path_match(file.path, query, idf) for file in about], np.float32)
    own = (fused + DEFINITION * defines + role[file_of]).astype(np.float32)
    order = np.lexsort((view.start[rows], -own, file_of))
    first = np.searchsorted(file_of[order], np.arange(len(files)))
    nth = np.arange(len(rows)) - first[file_of[order]]
    pooled = _pooled(own[order], nth, first) + path
    by_file = file_of[order]
    score = (1 - FILE_SHARE) * own[order] + FILE_SHARE * pooled[by_file] - SECOND_OF_FILE * nth
    names = np.argsort(np.argsort(np.array([file.path for file in about]))) if about else files
    best = np.lexsort((view.start[rows][order], names[by_file], -score))
    at = order[best]

    def parts() -> dict[str, Floats]:
        return {
            "lexical": (1 - FILE_SHARE) * by_words[at],
            "dense": (1 - FILE_SHARE) * by_meaning[at],
            "defines": (1 - FILE_SHARE) * DEFINITION * defines[at],
            "path": FILE_SHARE * path[file_of[at]],
            "role": (1 - FILE_SHARE) * role[file_of[at]],
            "file": FILE_SHARE * (pooled - path)[file_of[at]],
            "nth_of_file": -SECOND_OF_FILE * nth[best].astype(np.float32),
        }

    return Ranking(
        rows=rows[at],
        scores=score[best],
        features={
            "lexical": lexical[at],
            "dense": dense[at],
            "defines": defines[at],
            "path": path[file_of[at]],
            "role": role[file_of[at]],
            "file": pooled[file_of[at]],
            "nth_of_file": (nth[best] + 1).astype(np.float32),
        },
        parts=parts,
    )


def _pooled(own: Floats, nth: npt.NDArray[np.int64], first: npt.NDArray[np.int64]) -> Floats:
    """Return the score of each file by its best chunks; ``own`` is sorted by file, best first."""
    if not len(own):
        return own
    weights = np.zeros(max(int(nth.max()) + 1, len(FILE_POOL)), np.float32)
    weights[: len(FILE_POOL)] = FILE_POOL
    pooled: Floats = np.add.reduceat(weights[nth] * np.maximum(own, 0), first) + np.minimum(own[first], 0)
    return pooled


@lru_cache(maxsize=200_000)
def _path_terms(path: str) -> tuple[frozenset[str], frozenset[str], str]:
    """Return the terms of the file's name, those of its folders, and the path in lower case."""
    folder, _, name = path.rpartition("/")
    stem = name.rsplit(".", 1)[0]
    if stem.lower() in GENERIC_STEMS:
        stem = folder.rpartition("/")[2] + " " + stem
    return frozenset(terms(stem)), frozenset(terms(folder)), path.lower()


def path_match(path: str, query: Query, idf: Mapping[str, float]) -> float:
    """Return how well a path answers: terms of the query in the file's name (precision) and in its folders."""
    for named in query.paths:
        if path == named or path.endswith("/" + named) or named.endswith("/" + path):
            return PATH_NAMED
    of_stem, in_folder, lowered = _path_terms(path)
    matched = of_stem & query.weights.keys()
    score = 0.0
    if matched:
        weight = sum(idf.get(t, 1.0) * query.weights[t] for t in matched)
        total = sum(idf.get(t, 1.0) * w for t, w in query.weights.items()) or 1.0
        score += STEM * len(matched) / len(of_stem) * min(1.0, 0.4 + 2 * weight / total)
    of_folder = in_folder & query.weights.keys()
    score += FOLDER * min(1.0, 0.5 * len(of_folder))
    if any(word in lowered for word in ("compat", "deprecated", "legacy", "example", "sample", "bench")):
        score += COMPAT
    return score
