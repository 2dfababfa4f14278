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
from devmind.index.labels import FOLDERS, OWN_NAME
from devmind.index.snapshot import Floats
from devmind.index.view import Rows, View
from devmind.retrieve.candidates import BEST, Candidates
from devmind.retrieve.query import Query

POOL = np.array([1.0, 0.8, 0.6], np.float32)  # of the `BEST` chunks of a file each later one counts less
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
    roles = np.array([ROLES.index(file.role) if file.role in ROLES else -1 for file in about], np.int8)
    if "test" in query.weights:  # asked for tests: they are no worse than sources
        roles[roles == ROLES.index("test")] = -1
    if query.intent == "architecture":  # documents describe it best
        roles[roles == ROLES.index("docs")] = -1
    of_role = (roles == np.arange(len(ROLES))[:, None]).astype(np.float32)
    uses = view.uses_among(files)
    return {
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
        **name_features(query, view, files, idf),
        **path_features([file.path for file in about], query),
        **dict(zip(ROLES, of_role, strict=True)),
    }


def name_features(query: Query, view: View, files: Rows, idf: Mapping[str, float]) -> dict[str, Floats]:
    """Return how what names each file, its own name, its folders and its types, meets the query."""
    worth = {term: idf.get(term, 1.0) * weight for term, weight in query.weights.items()}
    total = sum(worth.values()) or 1.0
    met = view.labels_met({term: one / total for term, one in worth.items()}, files)
    precision = (met.n_met / np.maximum(met.n_words, 1)).astype(np.float32)
    meets = precision * np.minimum(1.0, 0.4 + 2 * met.told).astype(np.float32)
    own, folders, of_type = met.nth == OWN_NAME, met.nth == FOLDERS, met.nth > FOLDERS
    best_type = np.zeros(len(files), np.float32)
    np.maximum.at(best_type, met.file_of[of_type], meets[of_type])
    return {
        "stem_precision": precision[own],
        "stem_recall": met.told[own],
        "stem": meets[own],
        "folder_recall": met.told[folders],
        "folder": np.minimum(1.0, 0.5 * met.n_met[folders]).astype(np.float32),
        "type": best_type,
    }


def path_features(paths: Sequence[str], query: Query) -> dict[str, Floats]:
    """Return what the path of each file tells whatever is asked, and whether the query names it."""
    depth, side, header_file = np.array([_of_path(path) for path in paths], np.float32).reshape(-1, 3).T
    named = np.zeros(len(paths), np.float32)
    if query.paths:
        named[:] = [any(_is_path(path, one) for one in query.paths) for path in paths]
    return {"depth": standardise(depth), "path_named": named, "side": side, "header_file": header_file}


def _is_path(path: str, told: str) -> bool:
    return path == told or path.endswith("/" + told) or told.endswith("/" + path)


@lru_cache(maxsize=200_000)
def _of_path(path: str) -> tuple[float, float, float]:
    """Return how deep a file lies, whether it is an example, an old form or the like, and whether it only declares."""
    lowered = path.lower()
    side = SIDE.search(lowered) is not None
    return float(path.count("/")), float(side), float(lowered.endswith((".h", ".hpp", ".d.ts")))
