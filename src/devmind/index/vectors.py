"""The vector leg's index: one immutable snapshot per repository and generation, exact search.

A snapshot holds the keys and unit vectors of just the chunks alive at its generation, so what it finds needs no
filtering. It is written beside the others and renamed into place before the generation is published, and it can be
made again from the catalog. Search scans the first 64 dimensions (the model is trained so that a prefix is itself an
embedding, Kusupati et al. 2022) and rescores the best with all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from devmind.errors import StoreError
from devmind.index.catalog import ORDINAL_BITS, Catalog

Floats = npt.NDArray[np.float32]
PREFIX = 64
RESCORE = 4  # candidates taken by prefix, per hit asked for


def snapshot_path(folder: Path, repo_id: int, generation: int) -> Path:
    return folder / f"{repo_id}-{generation}.npz"


def gather(
    catalog: Catalog, places: Iterable[tuple[int, int]], dim: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float16]]:
    """Return (keys (n,) int64 ascending, vectors (n, dim) float16) of the chunks of (place id, content id) pairs."""
    by_content: dict[int, list[int]] = {}
    for place_id, content_id in places:
        by_content.setdefault(content_id, []).append(place_id)
    wanted, keys, rows = sorted(by_content), [], []
    for at in range(0, len(wanted), 500):
        part = wanted[at : at + 500]
        marks = ",".join("?" * len(part))
        for content_id, blob in catalog.rows(
            f"SELECT content_id, vectors FROM content WHERE content_id IN ({marks})", part
        ):
            vectors = np.frombuffer(blob, np.float16).reshape(-1, dim)
            for place_id in by_content[content_id]:
                keys.append((place_id << ORDINAL_BITS) + np.arange(len(vectors), dtype=np.int64))
                rows.append(vectors)
    if not keys:
        return np.empty(0, np.int64), np.empty((0, dim), np.float16)
    all_keys, all_rows = np.concatenate(keys), np.concatenate(rows)
    order = np.argsort(all_keys)
    return all_keys[order], all_rows[order]


def write_snapshot(path: Path, keys: npt.NDArray[np.int64], vectors: npt.NDArray[np.float16]) -> None:
    """Write a snapshot whole or not at all.

    Raises:
        StoreError: the file cannot be written.
    """
    draft = path.with_suffix(".tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            np.savez(file, keys=keys, vectors=vectors)
        draft.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error}; free disk space and run the same command again") from error


class Snapshot:
    """The vectors of one repository at one generation: ``keys`` (n,) ascending, ``vectors`` (n, dim) of unit length."""

    def __init__(self, keys: npt.NDArray[np.int64], vectors: npt.NDArray[np.float16]) -> None:
        self.keys = keys
        self.vectors = vectors

    def cosines(self, query: Floats, keys: npt.NDArray[np.int64]) -> Floats:
        """Return the cosine of ``query`` with each of ``keys``; 0 for a key that is not here."""
        scores = np.zeros(len(keys), np.float32)
        if len(self.keys):
            at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            here = self.keys[at] == keys
            scores[here] = self.vectors[at[here]].astype(np.float32) @ query
        return scores


class Space:
    """Several snapshots searched as one: one matrix of prefixes, since many small products cost four times as much."""

    def __init__(self, snapshots: Sequence[Snapshot]) -> None:
        self._snapshots = [s for s in snapshots if len(s.keys)]
        self._ends = np.cumsum([len(s.keys) for s in self._snapshots])
        if self._snapshots:
            prefix = np.concatenate([s.vectors[:, :PREFIX] for s in self._snapshots]).astype(np.float32)
            prefix /= np.maximum(np.linalg.norm(prefix, axis=1, keepdims=True), 1e-6)
            self._prefix: Floats = prefix

    def nearest(self, query: Floats, k: int) -> list[tuple[int, float]]:
        """Return (key, cosine) of the ``k`` nearest chunks, best first; ties by key.

        The ``RESCORE * k`` nearest by prefix are rescored in full. ``query`` is (dim,) of unit length.
        """
        if not self._snapshots or k < 1:
            return []
        head = query[:PREFIX]
        near = self._prefix @ (head / max(float(np.linalg.norm(head)), 1e-6))
        n = min(len(near), k * RESCORE)
        chosen = np.sort(np.argpartition(-near, n - 1)[:n])
        keys, scores = [], []
        for snapshot, end in zip(self._snapshots, self._ends, strict=True):
            first = end - len(snapshot.keys)
            rows = chosen[np.searchsorted(chosen, first) : np.searchsorted(chosen, end)] - first
            if len(rows):
                keys.append(snapshot.keys[rows])
                scores.append(snapshot.vectors[rows].astype(np.float32) @ query)
        all_keys, exact = np.concatenate(keys), np.concatenate(scores)
        order = np.lexsort((all_keys, -exact))[:k]
        return [(int(all_keys[i]), float(exact[i])) for i in order]


def load_snapshot(folder: Path, catalog: Catalog, repo_id: int, generation: int, dim: int) -> Snapshot:
    """Read a snapshot, or make it from the catalog when its file is missing or unreadable."""
    try:
        with np.load(snapshot_path(folder, repo_id, generation)) as stored:
            return Snapshot(stored["keys"], stored["vectors"])
    except (OSError, ValueError, KeyError):
        places = catalog.alive_places(repo_id, generation).values()
        return Snapshot(*gather(catalog, ((place_id, content_id) for place_id, content_id, _ in places), dim))
