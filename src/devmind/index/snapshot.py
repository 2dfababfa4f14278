"""One repository at one generation, as arrays: which chunks are visible, where they lie, and their vectors.

A snapshot holds just the chunks alive at its generation, so it is both the vector leg's index and the answer to "is
this chunk visible", without a question to the catalog, from which it is made (`index/snapshot_folder.py` keeps it).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from devmind.embed.types import Embedder
from devmind.errors import StoreError
from devmind.index.catalog import ORDINAL_BITS, Catalog
from devmind.index.postings import Postings, gathered
from devmind.index.uses import Uses, linked
from devmind.types import stable_id

Floats = npt.NDArray[np.float32]
Halves = npt.NDArray[np.float16]
Keys = npt.NDArray[np.int64]

CHUNK: Final = np.dtype(
    [("file", "<i4"), ("start", "<i4"), ("end", "<i4"), ("kinds", "<i8"), ("name", "<i8"), ("body", "<i8")]
)
MAX_KINDS: Final = 63  # bits of `kinds`; we know of some 40, a filter by a kind of an import beyond these finds nothing


@dataclass(frozen=True, slots=True)
class File:
    """A visible file: where it lies and what it holds."""

    repo_id: int
    path: str
    role: str
    language: str
    content_id: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Arrays over the n visible chunks, in the order of their keys.

    Attributes:
        model: name of the embedder that made the vectors.
        keys: `(n,) int64`, ascending: place id and ordinal.
        chunks: `(n,)` of `CHUNK`: index of the file, lines, a bit for the chunk's kind and for each of the symbols that
            it defines, hashes of qualified name (0: none) and of the body's terms.
        prefix: `(n, prefix) float16`, the leading dimensions at unit length.
        vectors: `(n, dim) float16`, unit rows; memory-mapped when read from disk.
        files: the files, by index.
        kinds: the kinds, by bit.
        postings: the terms of the files.
        uses: which files use which.
    """

    model: str
    keys: Keys
    chunks: npt.NDArray[np.void]
    prefix: Halves
    vectors: Halves
    files: tuple[File, ...]
    kinds: tuple[str, ...]
    postings: Postings
    uses: Uses


def gather(catalog: Catalog, repo_id: int, generation: int, embedder: Embedder) -> Snapshot:
    """Make the snapshot of what is alive in a repository at ``generation``.

    Raises:
        StoreError: vectors of another embedder are among it (code ``other_embedder``).
    """
    rows = catalog.rows(
        """SELECT p.place_id, p.path, p.role, t.language, t.content_id, t.model, t.vectors, t.terms, t.defines, t.uses
        FROM alive a JOIN place p ON p.place_id = a.place_id JOIN content t ON t.content_id = p.content_id
        WHERE a.repo_id = ? AND a.born <= ? AND (a.died IS NULL OR a.died > ?) ORDER BY p.place_id""",
        (repo_id, generation, generation),
    )
    files = tuple(File(repo_id, *row[1:5]) for row in rows)
    kinds: dict[str, int] = {}
    chunks_of = _chunks_by_content(catalog, repo_id, kinds)
    keys, chunks, vectors = [], [], []
    for at, (place_id, *_, content_id, model, blob, _, _, _) in enumerate(rows):
        if model != embedder.name:
            raise other_embedder(model, embedder)
        found = chunks_of.get(content_id, ())
        if len(blob) != len(found) * embedder.dim * 2:
            raise _damaged(catalog, f"content {content_id} has {len(blob)} bytes of vectors for {len(found)} chunks")
        held = np.zeros(len(found), CHUNK)
        if found:
            held["start"], held["end"], held["kinds"], held["name"], held["body"] = zip(*found, strict=True)
            held["file"] = at
        chunks.append(held)
        keys.append((place_id << ORDINAL_BITS) + np.arange(len(held), dtype=np.int64))
        vectors.append(np.frombuffer(blob, np.float16).reshape(-1, embedder.dim))
    try:
        postings = gathered([row[-3] for row in rows])
        uses = linked([row[-2:] for row in rows])
    except ValueError as error:
        raise _damaged(catalog, f"terms or names of a content cannot be read ({error})") from error
    all_vectors = np.concatenate(vectors) if rows else np.empty((0, embedder.dim), np.float16)
    return Snapshot(
        model=embedder.name,
        keys=np.concatenate(keys) if rows else np.empty(0, np.int64),
        chunks=np.concatenate(chunks) if rows else np.empty(0, CHUNK),
        prefix=_unit(all_vectors[:, : embedder.prefix]),
        vectors=all_vectors,
        files=files,
        kinds=tuple(kinds),
        postings=postings,
        uses=uses,
    )


def _damaged(catalog: Catalog, what: str) -> StoreError:
    return StoreError(
        f"{what} in {catalog.path}: the catalog is damaged; restore it from a copy, or index its repositories again "
        "into another --kb folder",
        code="damaged",
    )


def _chunks_by_content(
    catalog: Catalog, repo_id: int, kinds: dict[str, int]
) -> dict[int, list[tuple[int, int, int, int, int]]]:
    """Return (start, end, kinds, name, body) of the chunks of every content that the repository places."""
    bit_of_symbol: dict[int, list[int]] = {}
    for content_id, kind in catalog.rows(
        """SELECT s.content_id, s.kind FROM symbol s
        WHERE s.content_id IN (SELECT content_id FROM place WHERE repo_id = ?) ORDER BY s.content_id, s.ordinal""",
        (repo_id,),
    ):
        bit_of_symbol.setdefault(content_id, []).append(_bit(kind, kinds))
    found: dict[int, list[tuple[int, int, int, int, int]]] = {}
    for content_id, start, end, kind, name, body, symbols in catalog.rows(
        """SELECT c.content_id, c.start_line, c.end_line, c.node_type, c.qualified_name, c.hash, c.symbols
        FROM chunk c WHERE c.content_id IN (SELECT content_id FROM place WHERE repo_id = ?)
        ORDER BY c.content_id, c.ordinal""",
        (repo_id,),
    ):
        mask = _bit(kind, kinds)
        if symbols != "[]":
            bits = bit_of_symbol[content_id]
            for ordinal in json.loads(symbols):
                mask |= bits[ordinal]
        found.setdefault(content_id, []).append((start, end, mask, _hash(name), _signed(body)))
    return found


def _bit(kind: str, kinds: dict[str, int]) -> int:
    """Return the bit of ``kind``, a new one if need be; 0 when there are no more."""
    at = kinds.setdefault(kind, len(kinds))
    return 1 << at if at < MAX_KINDS else 0


def _hash(name: str) -> int:
    """Return a number that is the same in every process; 0 for no name."""
    return _signed(stable_id(name)) if name else 0


def _signed(hexadecimal: str) -> int:
    return int(hexadecimal, 16) - (1 << 63)


def other_embedder(model: str, wanted: Embedder) -> StoreError:
    """Return the error for vectors of ``model`` where those of ``wanted`` are needed."""
    return StoreError(
        f"a generation here was indexed with the embedder '{model}', the setting says '{wanted.name}': "
        "run 'devmind sync', or restore the setting",
        code="other_embedder",
    )


def _unit(rows: Halves) -> Halves:
    wide = rows.astype(np.float32)
    norms = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    unit: Halves = (wide / np.maximum(norms, 1e-6)[:, None]).astype(np.float16)
    return unit
