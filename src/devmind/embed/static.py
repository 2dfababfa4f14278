"""Texts → vectors by the built-in static model: one learned vector a piece, summed with learned weights.

Must not need a network, an accelerator or anything but numpy.

A query is `Σ wq[piece] · v[piece]`; a chunk is `Σ over fields of f[field] / √n · Σ √tf · wc[piece] · v[piece]`, n
being the number of pieces of the field. Both are scaled to unit length. How the numbers were learned:
`docs/embedding.md`.

`data/vectors.npy` holds the vectors as int8 (a row's scale is part of its weights), memory-mapped, so that a process
that embeds one query reads only the pages of its pieces; `data/weights.npy` the two weights a piece;
`data/static.json` the rest.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from devmind.embed.tokenizer import token_ids
from devmind.embed.types import ChunkText, FileText, Vectors

_DATA: Final = Path(__file__).with_name("data")

# Pieces read of each field; training cuts at the same places. A chunk is budgeted at 600 tokens, punctuation included.
QUERY_PIECES: Final = 64
NAME_PIECES: Final = 32
HEADER_PIECES: Final = 160
BODY_PIECES: Final = 400


class StaticEmbedder:
    """The built-in model. Holds the memory map; safe to share between threads."""

    def __init__(
        self, *, name: str, vectors: npt.NDArray[np.int8], weights: npt.NDArray[np.float32], fields: Sequence[float]
    ) -> None:
        """Wrap loaded numbers.

        Args:
            name: Name of the model with its version.
            vectors: `(n_pieces, dim)`.
            weights: `(2, n_pieces)`: for queries, for code; each times the row's scale.
            fields: Weights of name, header and body.
        """
        self.name = name
        self.dim = int(vectors.shape[1])
        self._vectors = vectors
        self._query_weights, self._code_weights = weights
        self._fields = tuple(fields)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        out = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(out, texts, strict=True):
            ids, factors = _bag(text, QUERY_PIECES)
            if ids:
                row[:] = (self._query_weights[ids] * factors) @ self._vectors[ids].astype(np.float32)
        return _unit(out)

    def embed_chunks(self, texts: Sequence[ChunkText]) -> Vectors:
        """See `Embedder`.

        Cost:
            Linear in the text, at most `BODY_PIECES` of a body are read.
        """
        return self._embed_fields([(t.name, t.header, t.body) for t in texts])

    def embed_files(self, texts: Sequence[FileText]) -> Vectors:
        """See `Embedder`. A path is read as a name, the lead as a header, the names of the symbols as a body."""
        return self._embed_fields([(t.path, t.lead, t.names) for t in texts])

    def _embed_fields(self, texts: Sequence[tuple[str, str, str]]) -> Vectors:
        out = np.zeros((len(texts), self.dim), np.float32)
        limits = (NAME_PIECES, HEADER_PIECES, BODY_PIECES)
        for row, text in zip(out, texts, strict=True):
            ids: list[int] = []
            factors: list[npt.NDArray[np.float32]] = []
            for field, limit, weight in zip(text, limits, self._fields, strict=True):
                found, found_factors = _bag(field, limit)
                if found:
                    ids += found
                    factors.append(found_factors * weight)
            if ids:
                row[:] = (self._code_weights[ids] * np.concatenate(factors)) @ self._vectors[ids].astype(np.float32)
        return _unit(out)


def _bag(text: str, limit: int) -> tuple[list[int], npt.NDArray[np.float32]]:
    """Distinct pieces of the first `limit`, and √tf / √n of each."""
    found = token_ids(text, limit)
    counts = Counter(found)
    tf = np.fromiter(counts.values(), np.float32, len(counts))
    return list(counts), np.sqrt(tf / np.float32(max(1, len(found))))


def _unit(vectors: Vectors) -> Vectors:
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    unit: Vectors = vectors / np.maximum(norms, 1e-12)[:, None]
    return unit


@cache
def built_in() -> StaticEmbedder:
    """The model that ships with DevMind; loaded once, the vectors memory-mapped."""
    about: dict[str, Any] = json.loads((_DATA / "static.json").read_text("utf-8"))
    # A plain view of the map: `np.memmap` costs microseconds at each index.
    vectors = np.asarray(np.load(_DATA / "vectors.npy", mmap_mode="r"))
    weights = np.load(_DATA / "weights.npy").astype(np.float32)
    return StaticEmbedder(name=about["name"], vectors=vectors, weights=weights, fields=about["fields"])
