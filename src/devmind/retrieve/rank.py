"""Candidates with the legs' scores → an order, by named features and hand-set weights.

A file is judged by its best chunks and its path, then each chunk by itself and its file. Legs are standardised over
the candidates before they are summed; fusion by reciprocal ranks was not compared with it here yet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from devmind.index.terms import terms
from devmind.retrieve.candidates import Candidate
from devmind.retrieve.query import Query

Floats = npt.NDArray[np.float32]

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
class Ranked:
    candidate: Candidate
    score: float
    why: Mapping[str, float]


def standardise(values: Floats) -> Floats:
    spread = float(values.std())
    return (values - values.mean()) / spread if spread > 1e-9 else np.zeros_like(values)


def rank(
    query: Query,
    candidates: Sequence[Candidate],
    lexical: Floats,
    dense: Floats,
    defines: Mapping[int, float],
    idf: Mapping[str, float],
) -> list[Ranked]:
    """Return the candidates best first; ties by path and line.

    Args:
        lexical: BM25 scores, 0 where the leg did not find the chunk.
        dense: cosines.
        defines: by key, how well the chunk defines a name of the query (0..1).
        idf: by query term.
    """
    if not candidates:
        return []
    share = DENSE_SYMBOLIC if query.symbolic else DENSE_SENTENCE
    found = lexical[lexical > 0]
    floor = float(found.min()) if len(found) else 0.0
    fused = (1 - share) * standardise(np.maximum(lexical, floor)) + share * standardise(dense)
    roles = [c.role for c in candidates]
    wants_tests = "test" in query.weights
    own = np.array(
        [
            fused[i]
            + DEFINITION * defines.get(c.key, 0.0)
            + (0.0 if c.role == "test" and wants_tests else ROLE.get(roles[i], 0.0))
            for i, c in enumerate(candidates)
        ],
        np.float32,
    )
    by_file: dict[tuple[int, str], list[int]] = defaultdict(list)
    for i, c in enumerate(candidates):
        by_file[c.repo_id, c.path].append(i)
    file_score: dict[tuple[int, str], float] = {}
    path_score: dict[tuple[int, str], float] = {}
    for file, members in by_file.items():
        best = sorted((float(own[i]) for i in members), reverse=True)
        pooled = sum(w * max(s, 0.0) for w, s in zip(FILE_POOL, best, strict=False)) + min(best[0], 0.0)
        path_score[file] = path_match(file[1], query, idf)
        file_score[file] = pooled + path_score[file]
    ranked = []
    for file, members in by_file.items():
        for n, i in enumerate(sorted(members, key=lambda i: (-float(own[i]), candidates[i].start_line))):
            score = (1 - FILE_SHARE) * float(own[i]) + FILE_SHARE * file_score[file] - SECOND_OF_FILE * n
            why = {
                "lexical": round(float(lexical[i]), 4),
                "dense": round(float(dense[i]), 4),
                "defines": defines.get(candidates[i].key, 0.0),
                "path": round(path_score[file], 4),
                "role": ROLE.get(candidates[i].role, 0.0),
                "file": round(file_score[file], 4),
                "nth_of_file": float(n + 1),
            }
            ranked.append(Ranked(candidates[i], score, why))
    return sorted(ranked, key=lambda r: (-r.score, r.candidate.path, r.candidate.start_line))


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
