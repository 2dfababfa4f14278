"""Candidates → what speaks for each of their files, as named numbers. `rank` weighs them.

Scores of a leg are standardised over the candidate files of one query, since neither BM25 nor cosines compare between
queries.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from devmind.index.groups import group_starts
from devmind.index.snapshot import Floats
from devmind.index.terms import distinct_terms
from devmind.index.view import Rows, View
from devmind.retrieve.candidates import BEST, Candidates
from devmind.retrieve.query import Query

POOL = np.array([1.0, 0.8, 0.6], np.float32)  # of the `BEST` chunks of a file each later one counts less
GENERIC_STEMS = frozenset({"index", "mod", "init", "__init__", "lib", "main", "base", "core", "__main__", "types"})
SIDE = re.compile("compat|deprecated|legacy|example|sample|bench")
ROLES = ("test", "docs", "config", "generated", "vendored")


def standardise(values: Floats) -> Floats:
    """Return the z-scores of ``values``; zeros when they are all alike."""
    if not len(values):
        return values
    centred = values - np.add.reduce(values) / np.float32(len(values))  # `mean` and `std` take thrice as long
    spread = math.sqrt(float(np.vecdot(centred, centred)) / len(values))
    return centred / np.float32(spread) if spread > 1e-9 else np.zeros_like(values)


def least_found(scores: Floats) -> float:
    """Return the lowest score of a leg, which stands in for those that it did not find; 0 if it found nothing."""
    found = scores[scores > 0]
    return float(found.min()) if len(found) else 0.0


def best_of_file(values: Floats, file_of: Rows, n_files: int) -> Floats:
    """Return `(n_files, BEST)`: the highest values of each file, in falling order, 0 where it has fewer."""
    order = np.lexsort((-values, file_of))
    of_file = file_of[order]
    nth = np.arange(len(values)) - group_starts(of_file)
    best = np.zeros((n_files, BEST), np.float32)
    few = nth < BEST
    best[of_file[few], nth[few]] = values[order[few]]
    return best


def file_features(
    query: Query,
    view: View,
    found: Candidates,
    *,
    files: Rows,
    file_of: Rows,
    idf: Mapping[str, float],
) -> dict[str, Floats]:
    """Return the features of ``files``, each `(n_files,)`.

    Args:
        found: in ``view``.
        files: indexes of their files in ``view``.
        file_of: of each candidate, the place of its file in ``files``.
        idf: by query term.
    """
    about = [view.files[file] for file in files.tolist()]
    by_bm25, by_cosine = (best_of_file(values, file_of, len(files)) for values in (found.lexical, found.dense))
    best_defined, best_pointed = np.zeros((2, len(files)), np.float32)
    np.maximum.at(best_defined, file_of, found.defines)
    np.maximum.at(best_pointed, file_of, found.pointed)
    paths = path_features([file.path for file in about], query, idf)
    roles = np.array([ROLES.index(file.role) if file.role in ROLES else -1 for file in about], np.int8)
    if "test" in query.weights:  # asked for tests: they are no worse than sources
        roles[roles == ROLES.index("test")] = -1
    if query.intent == "architecture":  # documents describe it best
        roles[roles == ROLES.index("docs")] = -1
    of_role = (roles == np.arange(len(ROLES))[:, None]).astype(np.float32)
    uses = view.uses_among(files)
    features: dict[str, Floats] = {
        "bm25_best": standardise(np.maximum(by_bm25[:, 0], least_found(by_bm25[:, 0]))),
        "bm25_pooled": standardise(by_bm25 @ POOL),
        "bm25_share": by_bm25[:, 0] / max(float(by_bm25[:, 0].max(initial=0.0)), 1e-6),
        "bm25_file": standardise(found.whole[files]),
        "cosine_best": standardise(by_cosine[:, 0]),
        "cosine_pooled": standardise(by_cosine @ POOL),
        "cosine_second": by_cosine[:, 1],
        "defines": best_defined,
        "pointed": best_pointed,
        "used": np.log1p(np.bincount(uses.used, weights=uses.strengths, minlength=len(files))).astype(np.float32),
        **dict(zip(PATH, paths, strict=True)),
        **dict(zip(ROLES, of_role, strict=True)),
    }
    features["depth"] = standardise(features["depth"])
    return features


PATH = (
    "depth",
    "stem_precision",
    "stem_recall",
    "stem",
    "folder_recall",
    "folder",
    "path_named",
    "side",
    "header_file",
)


def path_features(paths: Sequence[str], query: Query, idf: Mapping[str, float]) -> Floats:
    """Return `(len(PATH), n)`: the features named in ``PATH``, how each path answers the query."""
    worth = {term: idf.get(term, 1.0) * weight for term, weight in query.weights.items()}
    total = sum(worth.values()) or 1.0
    share_of, asked = {term: one / total for term, one in worth.items()}.__getitem__, frozenset(worth)

    def features(path: str) -> tuple[float, ...]:
        of_stem, in_folder, depth, side, header_file = _of_path(path)
        stem, folder = of_stem & asked, in_folder & asked
        if not (stem or folder or query.paths):  # as most
            return depth, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, side, header_file
        precision, told = len(stem) / max(1, len(of_stem)), sum(map(share_of, stem))
        return (
            depth,
            precision,
            told,
            precision * min(1.0, 0.4 + 2 * told),
            sum(map(share_of, folder)),
            min(1.0, 0.5 * len(folder)),
            float(any(path == one or path.endswith("/" + one) or one.endswith("/" + path) for one in query.paths)),
            side,
            header_file,
        )

    return np.array([features(path) for path in paths], np.float32).reshape(-1, len(PATH)).T


@lru_cache(maxsize=200_000)
def _of_path(path: str) -> tuple[frozenset[str], frozenset[str], float, float, float]:
    """Return the terms of the file's name, those of its folders, and what is the same for all queries."""
    folder, _, name = path.rpartition("/")
    stem = name.rsplit(".", 1)[0]
    if stem.lower() in GENERIC_STEMS:
        stem = folder.rpartition("/")[2] + " " + stem
    lowered = path.lower()
    side = SIDE.search(lowered) is not None
    header_file = lowered.endswith((".h", ".hpp", ".d.ts"))
    return distinct_terms(stem), _of_folder(folder), float(path.count("/")), float(side), float(header_file)


_of_folder = lru_cache(maxsize=20_000)(distinct_terms)
