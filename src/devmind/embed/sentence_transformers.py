"""Texts → vectors by a model of the package sentence-transformers, which is no dependency of ours.

Must not be imported by anything that is not about to use such a model: the package takes seconds to load.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from devmind.embed.dimension import check_dim
from devmind.embed.instructions import Instructions
from devmind.embed.types import ChunkText, Vectors
from devmind.errors import UsageError


@dataclass(frozen=True, slots=True)
class SentenceTransformerOptions:
    """Which model, and how it is read.

    Attributes:
        model: the folder of a model, or a name, which the package may download.
        revision: of a named model: a branch, tag or commit; "" for the newest.
        max_tokens: read of a text at most; 0 for what the model was made for.
        dim: what the model must return; 0 for whatever it does.
        device: such as ``cpu`` or ``cuda``; "" for what the package chooses.
        trust_remote_code: whether code that comes with the model may be run.
    """

    model: str
    revision: str = ""
    max_tokens: int = 0
    dim: int = 0
    batch: int = 32
    device: str = ""
    query_prefix: str = ""
    text_prefix: str = ""
    trust_remote_code: bool = False


class SentenceTransformerEmbedder:
    """A model of that package. Safe to share between threads as far as the package is.

    Raises:
        UsageError: the package is not installed, the model cannot be loaded, or returns other vectors than ``dim``.
    """

    def __init__(self, options: SentenceTransformerOptions) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise UsageError(
                'an embedder of kind "sentence-transformers" needs that package: pip install sentence-transformers',
                code="no_extra",
            ) from error
        self._options = options
        self._instructions = Instructions(options.query_prefix, options.text_prefix)
        try:
            self._model: Any = SentenceTransformer(
                options.model,
                device=options.device or None,
                revision=options.revision or None,
                trust_remote_code=options.trust_remote_code,
            )
        except Exception as error:  # the package raises what its own dependencies raise
            raise UsageError(
                f"cannot load the sentence-transformers model {options.model!r}: {error}", code="bad_model"
            ) from error
        if options.max_tokens:
            self._model.max_seq_length = options.max_tokens
        self.dim = self.prefix = self._embed(["a"]).shape[1]
        check_dim(repr(options.model), self.dim, configured=options.dim)

    @property
    def name(self) -> str:
        """See `Embedder`. A folder counts by its content, a name by its revision as it was loaded."""
        options = self._options
        folder = Path(options.model)
        which = _digest(folder) if folder.is_dir() else f"{options.model}@{self._revision()}"
        limit = getattr(self._model, "max_seq_length", None)  # a model that counts words has none
        return f"sentence-transformers:{which}:{limit}:{self.dim}{self._instructions.suffix}"

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        return self._rows(self._instructions.queries(texts))

    def embed_chunks(self, texts: Sequence[ChunkText]) -> Vectors:
        """See `Embedder`."""
        return self._rows(self._instructions.passages(texts))

    def _rows(self, texts: Sequence[str]) -> Vectors:
        out = np.zeros((len(texts), self.dim), np.float32)
        rows = [row for row, text in enumerate(texts) if text]
        if rows:
            out[rows] = self._embed([texts[row] for row in rows])
        return out

    def _embed(self, texts: Sequence[str]) -> Vectors:
        found = self._model.encode(
            list(texts),
            batch_size=self._options.batch,
            convert_to_numpy=True,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        rows: Vectors = np.asarray(found, np.float32)
        return rows

    def _revision(self) -> str:
        """Return the commit that the package says it loaded, else the one that was asked for."""
        config = getattr(getattr(self._model[0], "auto_model", None), "config", None)
        return str(getattr(config, "_commit_hash", None) or self._options.revision or "newest")


def _digest(folder: Path) -> str:
    told = hashlib.blake2b(digest_size=6)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        told.update(str(path.relative_to(folder)).encode())
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: told)
    return told.hexdigest()
