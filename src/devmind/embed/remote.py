"""Texts → vectors by an OpenAI-compatible endpoint (`POST {base}/embeddings`).

Must not trust the answer: the number, the order and the dimension of the vectors are checked, and every vector is
scaled to unit length.

Source: OpenAI API reference, "Create embeddings"; spoken by vLLM, Ollama, TEI, Xinference and most hosted services.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from devmind.embed.instructions import Instructions
from devmind.embed.types import ChunkText, Vectors
from devmind.errors import UpstreamError
from devmind.models.wire import Wire, bearer, checked_url
from devmind.retry import retrying

# Most hosted models refuse inputs over 8,192 tokens; at 2 characters a token (dense code) this stays below.
_MAX_CHARS: Final = 16_000


@dataclass(frozen=True, slots=True)
class RemoteOptions:
    """How to reach the endpoint. `dim` is what the model returns; asked of the server only when `send_dim` is set.

    `query_prefix` and `text_prefix` are the instructions that some models want in front of a query or a passage.
    """

    base_url: str
    model: str
    dim: int
    api_key: str = field(default="", repr=False)
    batch: int = 64
    timeout_s: float = 60.0
    n_retries: int = 3
    send_dim: bool = False
    query_prefix: str = ""
    text_prefix: str = ""


class RemoteEmbedder:
    """A client of one model on one endpoint. Holds a connection pool until `close`; safe to share between threads.

    Raises:
        UsageError: The base URL is none.
    """

    def __init__(self, options: RemoteOptions, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._options = options
        self._sleep = sleep
        self._url = f"{checked_url(options.base_url, where='[embedder] base_url')}/embeddings"
        self._wire = Wire(bearer(options.api_key, timeout_s=options.timeout_s))
        self._instructions = Instructions(options.query_prefix, options.text_prefix)
        self.name = f"remote:{options.model}:{options.dim}{self._instructions.suffix}"
        self.dim = self.prefix = options.dim  # nothing is known of a prefix of a foreign model

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`.

        Raises:
            UpstreamError: The endpoint failed, or answered with something else than one vector of `dim` numbers a text.
        """
        return self._embed(self._instructions.queries(texts))

    def embed_chunks(self, texts: Sequence[ChunkText]) -> Vectors:
        """See `Embedder`; raises like `embed_queries`."""
        return self._embed(self._instructions.passages(texts))

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        self._wire.close()

    def _embed(self, texts: Sequence[str]) -> Vectors:
        out = np.zeros((len(texts), self.dim), np.float32)
        # An endpoint may refuse an empty input, and its vector is zero by our rule anyway.
        rows = [i for i, text in enumerate(texts) if text]
        for start in range(0, len(rows), self._options.batch):
            batch = rows[start : start + self._options.batch]
            out[batch] = self._vectors_of(self._request([texts[i][:_MAX_CHARS] for i in batch]), len(batch))
        return out

    def _request(self, texts: Sequence[str]) -> Any:
        """The decoded body of the first answer that is no refusal."""
        options = self._options
        payload: dict[str, Any] = {"model": options.model, "input": list(texts), "encoding_format": "float"}
        if options.send_dim:
            payload["dimensions"] = options.dim
        return retrying(lambda: self._wire.ask(self._url, payload), n_tries=options.n_retries + 1, sleep=self._sleep)

    def _vectors_of(self, body: Any, n_texts: int) -> Vectors:
        where = f"embedding model {self._options.model!r}"
        data = body.get("data") if isinstance(body, dict) else None
        if not isinstance(data, list) or not all(
            isinstance(e, dict) and isinstance(e.get("embedding"), list) for e in data
        ):
            raise UpstreamError(f"{where} answered without a list of embeddings in `data`", retryable=False)
        if len(data) != n_texts:
            raise UpstreamError(f"{where} answered {len(data)} vectors for {n_texts} texts", retryable=False)
        order = [entry.get("index", position) for position, entry in enumerate(data)]
        if not all(type(i) is int for i in order) or sorted(order) != list(range(n_texts)):
            raise UpstreamError(f"{where} answered with indexes that do not number the texts", retryable=False)
        wrong = next((len(e["embedding"]) for e in data if len(e["embedding"]) != self.dim), None)
        if wrong is not None:
            raise UpstreamError(
                f"{where} answered vectors of {wrong} dimensions, {self.dim} are configured", retryable=False
            )
        try:
            rows = np.array([entry["embedding"] for entry in data])
        except ValueError:  # lists among the numbers
            rows = np.empty(0, object)
        if rows.shape != (n_texts, self.dim) or rows.dtype.kind not in "iuf":
            raise UpstreamError(f"{where} answered a vector that holds no numbers", retryable=False)
        out = np.empty((n_texts, self.dim), np.float64)
        out[order] = rows
        with np.errstate(over="ignore"):
            norms = np.linalg.norm(out, axis=1, keepdims=True)
        if not np.isfinite(norms).all():
            raise UpstreamError(f"{where} answered a vector that is not finite", retryable=False)
        unit: Vectors = np.divide(out, norms, out=np.zeros_like(out), where=norms > 0).astype(np.float32)
        return unit
