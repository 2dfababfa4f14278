"""Texts → vectors by a transformer in ONNX form on this machine.

Must not batch: padding costs time on a processor (66 ms a text alone, 88 ms in batches of 16: MiniLM, one thread,
2026-11-30), and a quantised model says another thing to the same text beside other texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np

from devmind.embed.dimension import check_dim
from devmind.embed.instructions import Instructions
from devmind.embed.types import ChunkText, Vectors
from devmind.errors import UsageError
from devmind.models.onnx import OnnxModel

Pooling = Literal["mean", "cls", "last", "model"]
_PROBE: Final = "a"  # its vector tells the dimension


@dataclass(frozen=True, slots=True)
class OnnxOptions:
    """Which model, and how it is read.

    Attributes:
        path: a folder with the model, its tokenizer and mostly its configuration, or the model's file.
        pooling: how the vectors of the tokens become one: their mean, that of the first or last, or the model's own.
        max_tokens: read of a text at most; 0 for what the model was made for.
        dim: what the model must return; 0 for whatever it does.
        query_prefix, text_prefix: instructions that some models want in front of a query or a passage.
        n_threads: of the runtime; one, because indexing runs several processes already.
    """

    path: str
    pooling: Pooling = "mean"
    max_tokens: int = 0
    dim: int = 0
    query_prefix: str = ""
    text_prefix: str = ""
    n_threads: int = 1


class OnnxEmbedder:
    """A transformer on this machine. Safe to share between threads.

    Raises:
        UsageError: see `OnnxModel`; also when the model gives no vectors of tokens, or others than ``dim`` says.
    """

    def __init__(self, options: OnnxOptions) -> None:
        self._options = options
        self._instructions = Instructions(options.query_prefix, options.text_prefix)
        self._model = OnnxModel(
            Path(options.path), kind="embedding model", max_tokens=options.max_tokens, n_threads=options.n_threads
        )
        self._model.tokenizer.enable_truncation(self._model.limit)
        self._output = self._chosen_output()
        self.dim = self.prefix = len(self._vector(_PROBE))  # nothing is known of a prefix of a foreign model
        check_dim(str(self._model.file), self.dim, configured=options.dim)

    @property
    def name(self) -> str:
        """See `Embedder`; by the model's content, not its path, which may change."""
        options = self._options
        read = f"{options.pooling}:{self._model.limit}:{self.dim}{self._instructions.suffix}"
        return f"onnx:{self._model.digest}:{read}"

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        return self._embed(self._instructions.queries(texts))

    def embed_chunks(self, texts: Sequence[ChunkText]) -> Vectors:
        """See `Embedder`."""
        return self._embed(self._instructions.passages(texts))

    def _embed(self, texts: Sequence[str]) -> Vectors:
        out = np.zeros((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            if text:
                out[row] = self._vector(text)
        return out

    def _vector(self, text: str) -> Vectors:
        """Return the vector of one text at unit length."""
        read = self._model.tokenizer.encode(text)
        said = self._model.run([read], output=self._output)[0]
        pooled = said if self._options.pooling == "model" else _pooled(said[: len(read.ids)], self._options.pooling)
        norm = float(np.sqrt(pooled @ pooled)) if pooled.ndim == 1 else np.nan
        if not np.isfinite(norm):
            raise UsageError(
                f"the embedding model {self._model.file} gives no finite vector: choose another model or another "
                "pooling",
                code="bad_model",
            )
        return pooled / max(norm, 1e-12)

    def _chosen_output(self) -> str:
        """Return the first output that has the form that the pooling reads."""
        wanted = 2 if self._options.pooling == "model" else 3
        for name, n_dims in self._model.outputs.items():
            if n_dims in (0, wanted):
                return name
        other = 'set pooling to "mean" or "cls"' if wanted == 2 else 'set pooling to "model", or choose another model'
        what = "vector for a text" if wanted == 2 else "vectors of tokens"
        raise UsageError(
            f"the embedding model {self._model.file} gives {', '.join(self._model.outputs)}, no {what}: {other}",
            code="bad_model",
        )


def _pooled(vectors: Vectors, pooling: Pooling) -> Vectors:
    if pooling == "mean":
        mean: Vectors = vectors.mean(axis=0)
        return mean
    one: Vectors = vectors[0 if pooling == "cls" else -1]
    return one
