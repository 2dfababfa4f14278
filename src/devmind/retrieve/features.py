"""Candidates → what speaks for each of their files, as named numbers. `rank` weighs them.

Scores of a leg are standardised over the candidate files of one query, since neither BM25 nor cosines compare between
queries.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from devmind.index.snapshot import Floats
from devmind.index.terms import terms
from devmind.index.view import Rows, View
from devmind.retrieve.query import Query

BEST = 3  # chunks that speak for a file; each later one counts less
POOL = np.array([1.0, 0.8, 0.6], np.float32)
GENERIC_STEMS = frozenset({"index", "mod", "init", "__init__", "lib", "main", "base", "core", "__main__", "types"})
SIDE_WORDS = ("compat", "deprecated", "legacy", "example", "sample", "bench")
ROLES = ("test", "docs", "config", "generated", "vendored")


def standardise(values: Floats) -> Floats:
    spread = float(values.std()) if len(values) else 0.0
    return (values - values.mean()) / spread if spread > 1e-9 else np.zeros_like(values)


def best_of_file(values: Floats, file_of: Rows, n_files: int) -> Floats:
    """Return `(n_files, BEST)`: the highest values of each file, in falling order, 0 where it has fewer."""
    order = np.lexsort((-values, file_of))
    nth = np.arange(len(values)) - np.searchsorted(file_of[order], np.arange(n_files))[file_of[order]]
    best = np.zeros((n_files, BEST), np.float32)
    few = nth < BEST
    best[file_of[order][few], nth[few]] = values[order][few]
    return best


def file_features(
    query: Query,
    view: View,
    files: Rows,
    file_of: Rows,
    *,
    lexical: Floats,
    dense: Floats,
    defines: Floats,
    pointed: Floats,
    idf: Mapping[str, float],
) -> dict[str, Floats]:
    """Return the features of ``files``, each `(n_files,)`.

    Args:
        files: indexes of the candidate files in ``view``.
        file_of: of each candidate chunk, the place of its file in ``files``; the next four follow it.
        lexical: BM25 scores, 0 where the leg did not find the chunk.
        dense: cosines.
        defines: how well the chunk defines a name of the query (0..1).
        pointed: how surely the query points at the chunk (0..1).
        idf: by query term.
    """
    about = [view.files[file] for file in files]
    by_bm25, by_cosine = (best_of_file(values, file_of, len(files)) for values in (lexical, dense))
    found = by_bm25[:, 0][by_bm25[:, 0] > 0]
    floor = float(found.min()) if len(found) else 0.0
    paths = np.array([path_features(file.path, query, idf) for file in about], np.float32).reshape(-1, len(PATH))
    roles = [file.role for file in about]
    if "test" in query.weights:  # asked for tests: they are no worse than sources
        roles = ["source" if role == "test" else role for role in roles]
    if query.intent == "architecture":  # documents describe it best
        roles = ["source" if role == "docs" else role for role in roles]
    features: dict[str, Floats] = {
        "bm25_best": standardise(np.maximum(by_bm25[:, 0], floor)),
        "bm25_pooled": standardise(by_bm25 @ POOL),
        "bm25_share": by_bm25[:, 0] / max(float(by_bm25[:, 0].max(initial=0.0)), 1e-6),
        "cosine_best": standardise(by_cosine[:, 0]),
        "cosine_pooled": standardise(by_cosine @ POOL),
        "cosine_second": by_cosine[:, 1],
        "defines": best_of_file(defines, file_of, len(files))[:, 0],
        "pointed": best_of_file(pointed, file_of, len(files))[:, 0],
        "depth": standardise(np.array([file.path.count("/") for file in about], np.float32)),
    }
    features |= {name: paths[:, i] for i, name in enumerate(PATH)}
    features |= {role: np.array([r == role for r in roles], np.float32) for role in ROLES}
    return features


PATH = ("stem_precision", "stem_recall", "stem", "folder_recall", "folder", "path_named", "side", "header_file")


def path_features(path: str, query: Query, idf: Mapping[str, float]) -> tuple[float, ...]:
    """Return the features named in ``PATH``: how a path answers the query."""
    of_stem, in_folder, lowered = _path_terms(path)
    total = sum(idf.get(t, 1.0) * w for t, w in query.weights.items()) or 1.0

    def recall(matched: frozenset[str]) -> float:
        return sum(idf.get(t, 1.0) * query.weights[t] for t in matched) / total

    stem, folder = of_stem & query.weights.keys(), in_folder & query.weights.keys()
    precision, told = len(stem) / max(1, len(of_stem)), recall(stem)
    named = any(path == one or path.endswith("/" + one) or one.endswith("/" + path) for one in query.paths)
    return (
        precision,
        told,
        precision * min(1.0, 0.4 + 2 * told),
        recall(folder),
        min(1.0, 0.5 * len(folder)),
        float(named),
        float(any(word in lowered for word in SIDE_WORDS)),
        float(lowered.endswith((".h", ".hpp", ".d.ts"))),
    )


@lru_cache(maxsize=200_000)
def _path_terms(path: str) -> tuple[frozenset[str], frozenset[str], str]:
    """Return the terms of the file's name, those of its folders, and the path in lower case."""
    folder, _, name = path.rpartition("/")
    stem = name.rsplit(".", 1)[0]
    if stem.lower() in GENERIC_STEMS:
        stem = folder.rpartition("/")[2] + " " + stem
    return frozenset(terms(stem)), frozenset(terms(folder)), path.lower()
