"""Several snapshots seen as one: the rows of all visible chunks, and the vector leg's exact search over them.

A chunk is known here by its row, 0..n-1. Search scans the leading dimensions alone (the built-in model is trained so
that a prefix is itself an embedding, Kusupati et al. 2022) and rescores the best with all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from devmind.index.groups import within
from devmind.index.postings import bm25, terms_held
from devmind.index.snapshot import CHUNK, MAX_KINDS, File, Floats, Halves, Keys, Snapshot
from devmind.index.uses import Among, among

RESCORE = 4  # rows taken by prefix, per row asked for
# The scan multiplies blocks of so many dimensions and rows: OpenBLAS splits a product of more than 9,215 numbers over
# threads, and then waits up to 8 ms for a core that is busy. On one thread such blocks are as fast as the whole.
SCAN_DIMS: Final = 64
SCAN_ROWS: Final = 128
WIDENED_ROWS: Final = 2048  # of prefixes at a time: half a megabyte stays in the cache
SAMPLED: Final = 16  # one row in so many tells how near the nearest must be, where there are enough

Rows = npt.NDArray[np.int64]


class View:
    """The chunks of several snapshots, one after the other.

    Attributes:
        files: all files; `file`, `start`, `end`, `kinds`, `name`, `body` are `(n,)` arrays as in `CHUNK`, with
            indexes into `files`.
        masks: which rows may be shown, by what filters them; kept here by those who make them.
    """

    def __init__(self, snapshots: Sequence[Snapshot]) -> None:
        self._snapshots = [s for s in snapshots if len(s.keys)]
        self._bases = np.cumsum([0, *(len(s.keys) for s in self._snapshots)])
        self.n = int(self._bases[-1])
        self.files: list[File] = []
        self.masks: dict[Hashable, npt.NDArray[np.bool_]] = {}
        self._bits: dict[str, int] = {}
        chunks = []
        for snapshot in self._snapshots:
            own = np.array(snapshot.chunks)
            own["file"] += len(self.files)
            own["kinds"] = self._rewritten(own["kinds"], snapshot.kinds)
            chunks.append(own)
            self.files += snapshot.files
        held = np.concatenate(chunks) if chunks else np.empty(0, CHUNK)
        self.file, self.start, self.end, self.kinds, self.name, self.body = (
            np.ascontiguousarray(held[field]) for field in ("file", "start", "end", "kinds", "name", "body")
        )
        self.keys: Keys = self._joined("keys", np.empty(0, np.int64)).astype(np.int64)
        self._by_key = np.argsort(self.keys, kind="stable")
        self._sorted = self.keys[self._by_key]
        self._by_name: dict[str, list[tuple[int, str]]] | None = None
        self._prefix = self._prefixes()
        self._first = np.concatenate([[0], np.cumsum(np.bincount(self.file, minlength=len(self.files)))])

    @property
    def by_name(self) -> Mapping[str, Sequence[tuple[int, str]]]:
        """The files (index, path) by their own name in lower case; made for the first query that names one."""
        if self._by_name is None:
            found: dict[str, list[tuple[int, str]]] = {}
            for at, file in enumerate(self.files):
                found.setdefault(file.path.rpartition("/")[2].lower(), []).append((at, file.path))
            self._by_name = found
        return self._by_name

    def files_by_terms(self, weights: Mapping[str, float]) -> Floats:
        """Return `(n_files,)`: BM25 of each file as a whole for the weighted terms of a question."""
        return bm25(weights, [snapshot.postings for snapshot in self._snapshots])

    def terms_in(self, files: Sequence[int], terms: Sequence[str]) -> list[frozenset[str]]:
        """Return for each of ``files`` which of ``terms`` stand anywhere in it."""
        return terms_held(terms, files, [snapshot.postings for snapshot in self._snapshots])

    def uses_among(self, files: Rows) -> Among:
        """Return which of ``files`` (ascending) use which."""
        return among(files, [snapshot.uses for snapshot in self._snapshots])

    def _rewritten(self, masks: Keys, kinds: Sequence[str]) -> Keys:
        """Return ``masks`` with the view's bits in place of those of a snapshot."""
        bits = [self._bits.setdefault(kind, len(self._bits)) for kind in kinds]
        if bits == list(range(len(bits))):
            return masks  # always so for the first
        mine = np.zeros(len(masks), np.int64)
        for theirs, bit in enumerate(bits[:MAX_KINDS]):
            if bit < MAX_KINDS:
                mine |= ((masks >> theirs) & 1) << bit
        return mine

    def of_kinds(self, wanted: Iterable[str]) -> npt.NDArray[np.bool_]:
        """Return `(n,)`: which chunks are of one of the kinds, or define a symbol of one."""
        bits = [self._bits[kind] for kind in wanted if self._bits.get(kind, MAX_KINDS) < MAX_KINDS]
        found: npt.NDArray[np.bool_] = (self.kinds & np.int64(sum(1 << bit for bit in set(bits)))) != 0
        return found

    def _joined(self, field: str, none: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        return np.concatenate([getattr(s, field) for s in self._snapshots]) if self._snapshots else none

    def _prefixes(self) -> Floats:
        """Return `(dims, n)` and some columns of zeros: the scan reads many dimensions at once, which is what makes it
        1.5 times as fast as reading row after row."""
        dims = self._snapshots[0].prefix.shape[1] if self._snapshots else 0
        held = np.zeros((dims, -(-self.n // SCAN_ROWS) * SCAN_ROWS), np.float32)
        for snapshot, base in zip(self._snapshots, self._bases.tolist(), strict=False):
            for first in range(0, len(snapshot.prefix), WIDENED_ROWS):
                rows = _widened(snapshot.prefix[first : first + WIDENED_ROWS])
                rows *= _WIDENED
                held[:, base + first : base + first + len(rows)] = rows.T
        return held

    def rows_of(self, keys: Keys) -> Rows:
        """Return the row of each key, -1 for a chunk that is not visible here."""
        if not self.n:
            return np.full(len(keys), -1, np.int64)
        at = np.minimum(np.searchsorted(self._sorted, keys), self.n - 1)
        rows: Rows = np.where(self._sorted[at] == keys, self._by_key[at], -1)
        return rows

    def rows_of_files(self, files: Rows) -> Rows:
        """Return all rows of ``files`` (ascending), ascending: a snapshot holds the rows of a file side by side."""
        first = self._first[files]
        counts = self._first[files + 1] - first
        return within(first, counts)

    def cosines(self, query: Floats, rows: Rows) -> Floats:
        """Return the cosine of ``query`` (unit length) with each of ``rows`` (ascending).

        A vector that was damaged on disk gives some number in -1..1, never one that upsets the ranking.
        """
        parts = np.searchsorted(rows, self._bases).tolist()
        held = np.empty((len(rows), len(query)), np.float16)
        for snapshot, base, low, high in zip(self._snapshots, self._bases.tolist(), parts, parts[1:], strict=False):
            if high > low:  # "clip": with the default `take` fills a copy first
                snapshot.vectors.take(rows[low:high] - base, axis=0, out=held[low:high], mode="clip")
        cosines: Floats = np.vecdot(_widened(held), query * _WIDENED)
        return np.clip(cosines, -1.0, 1.0, out=cosines)

    def scan(self, query: Floats) -> Floats:
        """Return the cosine of ``query`` `(dim,)` with every row, by the leading dimensions alone."""
        dims = len(self._prefix)
        head = query[:dims] / max(float(np.linalg.norm(query[:dims])), 1e-6)
        near = np.zeros(self._prefix.shape[1] // SCAN_ROWS * SCAN_ROWS, np.float32)
        for first in range(0, dims, SCAN_DIMS):
            some = self._prefix[first : first + SCAN_DIMS]
            blocks = some.reshape(len(some), -1, SCAN_ROWS).transpose(1, 0, 2)
            near += np.matmul(head[first : first + SCAN_DIMS], blocks).ravel()
        return near[: self.n]

    def nearest(
        self, query: Floats, k: int, allowed: npt.NDArray[np.bool_] | None = None, *, scanned: Floats | None = None
    ) -> Rows:
        """Return the ``k`` rows nearest to ``query``, best first, ties by key; fewer when fewer are allowed.

        Args:
            query: `(dim,)` of unit length.
            k: how many.
            allowed: `(n,)`, which rows may be returned; all by default.
            scanned: what `scan` gives for the query, when it is known.
        """
        n = self.n if allowed is None else int(allowed.sum())
        n = min(n, k * RESCORE)
        if n < 1:
            return np.empty(0, np.int64)
        near = self.scan(query) if scanned is None else scanned
        if allowed is not None:
            near = np.where(allowed, near, -np.inf)
        rows = _highest(near, n)
        exact = self.cosines(query, rows)
        best: Rows = rows[np.lexsort((self.keys[rows], -exact))[:k]]
        return best


_WIDENED: Final = np.float32(2.0**112)


def _widened(halves: Halves) -> npt.NDArray[np.float32]:
    """Return the numbers divided by ``_WIDENED``, as single precision: a few times as fast as numpy's conversion.

    The exponent of a half moves to where a single has its own, whose bias is 112 more. Infinity and NaN, which only
    damage leaves, become large numbers.
    """
    bits = halves.view(np.int16).astype(np.int32)  # the sign fills the upper half, to be cut to its bit
    bits <<= 13
    bits &= np.int32(~0x70001FFF)
    return bits.view(np.float32)


def _highest(values: Floats, n: int) -> Rows:
    """Return the places of the ``n`` highest values, ascending; the first of those that tie."""
    among = np.arange(len(values))
    sample = values[::SAMPLED]
    if len(sample) > n:  # what is twice as deep in the sample is below the n-th of all, but for bad luck
        depth = 2 * n // SAMPLED
        enough = np.flatnonzero(values >= -np.partition(-sample, depth)[depth])
        among = enough if len(enough) >= n else among
    held = values[among]
    nth = -np.partition(-held, n - 1)[n - 1]
    above, tied = among[held > nth], among[held == nth]
    return np.sort(np.concatenate([above, tied[: n - len(above)]]))
