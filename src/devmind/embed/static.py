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
from array import array
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import repeat
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from devmind.embed.tokenizer import token_ids
from devmind.embed.types import ChunkText, Vectors

_DATA: Final = Path(__file__).with_name("data")

# Pieces read of each field; training cuts at the same places. A chunk is budgeted at 600 tokens, punctuation included.
QUERY_PIECES: Final = 64
NAME_PIECES: Final = 32
HEADER_PIECES: Final = 160
BODY_PIECES: Final = 400

# The Matryoshka loss of the training has a term for this prefix.
PREFIX_DIMS: Final = 64

# Texts whose weights are computed together: enough to make numpy's cost a call vanish, few enough to stay in cache.
_BLOCK: Final = 64


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
        self.prefix = min(PREFIX_DIMS, self.dim)
        self._vectors = vectors
        self._query_weights, self._code_weights = weights
        self._fields = tuple(fields)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        return self._sums([(t,) for t in texts], (QUERY_PIECES,), (1.0,), self._query_weights)

    def embed_chunks(self, texts: Sequence[ChunkText]) -> Vectors:
        """See `Embedder`.

        Cost:
            Linear in the text, at most `BODY_PIECES` of a body are read.
        """
        fields = [(t.name, t.header, t.body) for t in texts]
        return self._sums(fields, (NAME_PIECES, HEADER_PIECES, BODY_PIECES), self._fields, self._code_weights)

    def _sums(
        self,
        texts: Sequence[tuple[str, ...]],
        limits: Sequence[int],
        fields: Sequence[float],
        piece_weights: npt.NDArray[np.float32],
    ) -> Vectors:
        """Σ over fields of field weight / √n · Σ √tf · piece weight · vector, at unit length."""
        out = np.zeros((len(texts), self.dim), np.float32)
        for start in range(0, len(texts), _BLOCK):
            ids, tf, scales, ends = array("i"), array("i"), array("f"), []
            for text in texts[start : start + _BLOCK]:
                for field, limit, weight in zip(text, limits, fields, strict=True):
                    found = token_ids(field, limit)
                    if found:
                        counts = Counter(found)
                        ids.extend(counts)
                        tf.extend(counts.values())
                        scales.extend(repeat(weight / len(found) ** 0.5, len(counts)))
                ends.append(len(ids))
            at = np.array(ids, np.intp)
            weights = piece_weights[at] * np.sqrt(np.array(tf, np.float32)) * np.array(scales, np.float32)
            begin = 0
            for row, end in enumerate(ends, start):
                if end > begin:
                    out[row] = weights[begin:end] @ self._vectors.take(at[begin:end], axis=0).astype(np.float32)
                begin = end
        return _unit(out)


def _unit(vectors: Vectors) -> Vectors:
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    unit: Vectors = vectors / np.maximum(norms, 1e-12)[:, None]
    return unit


def load(folder: Path) -> StaticEmbedder:
    """The model in `folder`, its vectors memory-mapped; its pieces must be those of the shipped vocabulary."""
    about: dict[str, Any] = json.loads((folder / "static.json").read_text("utf-8"))
    # A plain view of the map: `np.memmap` costs microseconds at each index.
    vectors = np.asarray(np.load(folder / "vectors.npy", mmap_mode="r"))
    weights = np.load(folder / "weights.npy").astype(np.float32)
    return StaticEmbedder(name=about["name"], vectors=vectors, weights=weights, fields=about["fields"])


@cache
def built_in() -> StaticEmbedder:
    """The model that ships with DevMind; loaded once."""
    return load(_DATA)
