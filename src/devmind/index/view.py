"""Several snapshots seen as one: the rows of all visible chunks, and the vector leg's exact search over them.

A chunk is known here by its row, 0..n-1. Search scans the leading dimensions alone (the built-in model is trained so
that a prefix is itself an embedding, Kusupati et al. 2022) and rescores the best with all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from devmind.index.snapshot import CHUNK, MAX_KINDS, File, Floats, Keys, Snapshot

RESCORE = 4  # rows taken by prefix, per row asked for

Rows = npt.NDArray[np.int64]


class View:
    """The chunks of several snapshots, one after the other.

    Attributes:
        files: all files; `file`, `start`, `end`, `kinds`, `name`, `body` are `(n,)` arrays as in `CHUNK`, with
            indexes into `files`.
    """

    def __init__(self, snapshots: Sequence[Snapshot]) -> None:
        self._snapshots = [s for s in snapshots if len(s.keys)]
        self._bases = np.cumsum([0, *(len(s.keys) for s in self._snapshots)])
        self.n = int(self._bases[-1])
        self.files: list[File] = []
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
        self._prefix: Floats = self._joined("prefix", np.empty((0, 1), np.float16)).astype(np.float32)

    @property
    def by_name(self) -> Mapping[str, Sequence[tuple[int, str]]]:
        """The files (index, path) by their own name in lower case; made for the first query that names one."""
        if self._by_name is None:
            found: dict[str, list[tuple[int, str]]] = {}
            for at, file in enumerate(self.files):
                found.setdefault(file.path.rpartition("/")[2].lower(), []).append((at, file.path))
            self._by_name = found
        return self._by_name

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

    def rows_of(self, keys: Keys) -> Rows:
        """Return the row of each key, -1 for a chunk that is not visible here."""
        if not self.n:
            return np.full(len(keys), -1, np.int64)
        at = np.minimum(np.searchsorted(self._sorted, keys), self.n - 1)
        rows: Rows = np.where(self._sorted[at] == keys, self._by_key[at], -1)
        return rows

    def cosines(self, query: Floats, rows: Rows) -> Floats:
        """Return the cosine of ``query`` (unit length) with each of ``rows`` (ascending).

        A vector that was damaged on disk gives some number in -1..1, never one that upsets the ranking.
        """
        parts = np.searchsorted(rows, self._bases)
        with np.errstate(invalid="ignore", over="ignore"):
            found = [
                np.einsum("ij,j->i", s.vectors[rows[low:high] - base].astype(np.float32), query)
                for s, base, low, high in zip(self._snapshots, self._bases, parts, parts[1:], strict=False)
                if high > low
            ]
        cosines: Floats = np.concatenate(found) if found else np.empty(0, np.float32)
        return np.clip(np.nan_to_num(cosines, nan=0.0), -1.0, 1.0)

    def scan(self, query: Floats) -> Floats:
        """Return the cosine of ``query`` `(dim,)` with every row, by the leading dimensions alone."""
        if not self.n:
            return np.empty(0, np.float32)
        head = query[: self._prefix.shape[1]]
        # einsum and not `@`: a threaded matrix-vector product waits for the other core up to 8 ms when that is busy.
        near: Floats = np.einsum("ij,j->i", self._prefix, head / max(float(np.linalg.norm(head)), 1e-6))
        return near

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
        rows = np.sort(np.argpartition(-near, n - 1)[:n])
        exact = self.cosines(query, rows)
        best: Rows = rows[np.lexsort((self.keys[rows], -exact))[:k]]
        return best
