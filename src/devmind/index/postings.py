"""Terms of whole files: which file holds a term, and how often, as arrays, and BM25 over files.

The lexical index knows chunks. What a question asks for is often spread over a file, and a file that holds all of its
words in several places is more likely the right one than one with two of them in one place.

A term is known by 32 bits of it: one that a question holds shares them with some other of a repository's 100,000 terms
once in 40,000 times.
Counts stop at 255, where BM25 has long been saturated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final
from zlib import crc32

import numpy as np
import numpy.typing as npt

# The usual constants of BM25 (Robertson and Zaragoza 2009).
K1: Final = 1.2
B: Final = 0.75

_MOST: Final = 255
_ROW: Final = np.dtype([("term", "<u4"), ("count", "u1")])
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Postings:
    """Arrays over the terms of n files: term i stands in ``holders[ends[i - 1]:ends[i]]``.

    Attributes:
        terms: `(n_terms,) uint32`, ascending.
        ends: `(n_terms,) int64`.
        holders: indexes of files, int32.
        counts: how often the term stands in the file, uint8.
        lengths: `(n_files,) float32`, terms of each file, repeats counted.
    """

    terms: npt.NDArray[np.uint32]
    ends: npt.NDArray[np.int64]
    holders: npt.NDArray[np.int32]
    counts: npt.NDArray[np.uint8]
    lengths: Floats

    def of(self, terms: npt.NDArray[np.uint32]) -> list[tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]]:
        """Return for each term the files that hold it, and how often."""
        at = np.searchsorted(self.terms, terms)
        found = []
        for place, term in zip(at.tolist(), terms.tolist(), strict=True):
            known = place < len(self.terms) and self.terms[place] == term
            start, end = (int(self.ends[place - 1]) if place else 0, int(self.ends[place])) if known else (0, 0)
            found.append((self.holders[start:end], self.counts[start:end]))
        return found


def hashes(terms: Iterable[str]) -> npt.NDArray[np.uint32]:
    """Return the number of each term, which holds no blank; in one go, a third of the time of one by one."""
    joined = " ".join(terms).encode("utf-8", "surrogatepass")
    return np.fromiter(map(crc32, joined.split()), np.uint32)


def packed(bodies: Iterable[str]) -> bytes:
    """Return the terms of a content and their counts, from the terms of its chunks."""
    counts = Counter(" ".join(bodies).split())
    rows = np.empty(len(counts), _ROW)
    rows["term"] = hashes(counts)
    rows["count"] = np.minimum(np.fromiter(counts.values(), np.int64, len(counts)), _MOST)
    return rows.tobytes()


def gathered(contents: Sequence[bytes]) -> Postings:
    """Return the postings of files with these contents, as `packed` gives them.

    Raises:
        ValueError: a content has a size that `packed` never gives.
    """
    rows = [np.frombuffer(content, _ROW) for content in contents]
    lengths = np.array([row["count"].sum(dtype=np.int64) for row in rows], np.float32)
    every = np.concatenate(rows) if rows else np.empty(0, _ROW)
    holders = np.repeat(np.arange(len(rows), dtype=np.int32), [len(row) for row in rows])
    order = np.argsort(every["term"], kind="stable")
    of_term = every["term"][order]
    last = np.flatnonzero(np.r_[of_term[1:] != of_term[:-1], np.ones(min(1, len(of_term)), bool)])
    return Postings(
        terms=of_term[last],
        ends=(last + 1).astype(np.int64),
        holders=holders[order],
        counts=every["count"][order],
        lengths=lengths,
    )


def bm25(weights: Mapping[str, float], parts: Sequence[Postings]) -> Floats:
    """Return `(n_files,)`: BM25 of all files of ``parts``, one after the other, as of one collection.

    Args:
        weights: by term of the question.
    """
    lengths = np.concatenate([part.lengths for part in parts]) if parts else np.empty(0, np.float32)
    n_files = len(lengths)
    scores = np.zeros(n_files, np.float32)
    if not n_files or not weights:
        return scores
    norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1e-9))
    bases = np.cumsum([0, *(len(part.lengths) for part in parts)]).tolist()
    held = list(zip(*(part.of(hashes(weights)) for part in parts), strict=True))
    for weight, of_parts in zip(weights.values(), held, strict=True):
        df = sum(len(holders) for holders, _ in of_parts)
        rarity = weight * log(1 + (n_files - df + 0.5) / (df + 0.5))
        for base, part, (holders, counts) in zip(bases, parts, of_parts, strict=False):
            if len(holders):
                # Whatever a damaged array on disk says is some file.
                at = np.minimum(holders.view(np.uint32), len(part.lengths) - 1) + base
                tf = counts.astype(np.float32)
                scores[at] += rarity * tf / (tf + norm[at])
    return scores


def held(terms: Sequence[str], files: Sequence[int], parts: Sequence[Postings]) -> list[frozenset[str]]:
    """Return for each of ``files``, indexes into those of ``parts``, which of ``terms`` stand in it."""
    found: dict[int, set[str]] = {file: set() for file in files}
    base = 0
    for part in parts:
        own = np.array([file - base for file in found if base <= file < base + len(part.lengths)], np.int32)
        for term, (holders, _) in zip(terms, part.of(hashes(terms)) if len(own) else (), strict=False):
            for file in own[np.isin(own, holders)].tolist():
                found[file + base].add(term)
        base += len(part.lengths)
    return [frozenset(found[file]) for file in files]
