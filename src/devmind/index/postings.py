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
from typing import Final
from zlib import crc32

import numpy as np
import numpy.typing as npt

from devmind.index.groups import opens, starts_of, within

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

    def spans(self, terms: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return where each term's holders begin and end; an empty span for a term that no file holds."""
        if not len(self.terms):
            return np.zeros(len(terms), np.int64), np.zeros(len(terms), np.int64)
        at = np.minimum(np.searchsorted(self.terms, terms), len(self.terms) - 1)
        ends = self.ends[at]
        starts = np.where(self.terms[at] == terms, starts_of(self.ends, at), ends)
        return starts, ends

    def files_at(self, at: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
        """Return the files of these entries of ``holders``; whatever a damaged array says is some file."""
        return np.minimum(self.holders[at].view(np.uint32), np.uint32(len(self.lengths) - 1))


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
    first = np.flatnonzero(opens(of_term))
    return Postings(
        terms=of_term[first],
        ends=np.append(first[1:], len(of_term))[: len(first)],
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
    terms = hashes(weights)
    spans = [part.spans(terms) for part in parts]
    df = sum((ends - starts for starts, ends in spans), np.zeros(len(terms), np.int64))
    rarity = np.array(list(weights.values())) * np.log(1 + (n_files - df + 0.5) / (df + 0.5))
    for base, part, (starts, ends) in zip(bases, parts, spans, strict=False):
        counts = ends - starts
        if not counts.any():
            continue
        at = within(starts, counts)
        n = len(part.lengths)
        files = part.files_at(at)
        tf = part.counts[at].astype(np.float32)
        worth = np.repeat(rarity, counts) * tf / (tf + norm[base : base + n][files])
        scores[base : base + n] = np.bincount(files, weights=worth, minlength=n)
    return scores


def terms_held(terms: Sequence[str], files: Sequence[int], parts: Sequence[Postings]) -> list[frozenset[str]]:
    """Return for each of ``files``, indexes into those of ``parts``, which of ``terms`` stand in it."""
    held: dict[int, list[str]] = {file: [] for file in files}
    base = 0
    for part in parts:
        n_files = len(part.lengths)
        own = [file - base for file in held if base <= file < base + n_files]
        if own:
            is_wanted = np.zeros(n_files, bool)
            is_wanted[own] = True
            starts, ends = part.spans(hashes(terms))
            at = within(starts, ends - starts)
            holders = part.files_at(at)
            wanted = np.flatnonzero(is_wanted[holders])
            # the term of an entry is the first whose span ends after it
            nth = np.searchsorted(np.cumsum(ends - starts), wanted, side="right")
            for file, term in zip(holders[wanted].tolist(), nth.tolist(), strict=True):
                held[file + base].append(terms[term])
        base += n_files
    return [frozenset(held[file]) for file in files]
