"""Documents → their relevance by an endpoint (``POST {base}/rerank``).

Two forms of the request are written: ``documents``, as vLLM has it and Jina, Cohere v2, llama.cpp, LiteLLM, Xinference
and Voyage are said to, and ``texts``, as Hugging Face text-embeddings-inference is said to. Answers are read whichever
form they have: a list of entries with an index and a score, bare or in ``results`` or ``data``, in any order, with the
documents repeated in them or not.

Source: vLLM's own documentation ("Re-rank API"), read on 2026-11-30; for the others only pages of third parties about
them, not their references.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from devmind.errors import UpstreamError
from devmind.models.chat import n_tokens_of
from devmind.models.rerank import Relevance
from devmind.models.wire import Wire

Form = Literal["documents", "texts"]
_LISTS: Final = ("results", "data")
_SCORES: Final = ("relevance_score", "score")
_MOST: Final = 1e9  # of a score; more is a fault, and would overflow in single precision


@dataclass(frozen=True, slots=True)
class RemoteRerankerOptions:
    """Which model is asked, and how.

    Attributes:
        model: empty for an endpoint that has one model only.
        max_chars: of a document; what follows is left off.
        extra: further keys of the body.
    """

    base_url: str
    model: str = ""
    form: Form = "documents"
    max_chars: int = 4_000
    extra: Mapping[str, Any] = field(default_factory=dict)


class RemoteReranker:
    """A client of one endpoint. Asks once: someone waits for the hits, and there is an order without it."""

    def __init__(self, options: RemoteRerankerOptions, wire: Wire) -> None:
        self._options = options
        self._wire = wire
        self._url = f"{options.base_url}/rerank"

    @property
    def name(self) -> str:
        options = self._options
        extra = "".join(f":{key}={options.extra[key]!r}" for key in sorted(options.extra))
        return f"remote:{options.model or options.base_url}:{options.max_chars}{extra}"

    def close(self) -> None:
        self._wire.close()

    def relevance(self, query: str, documents: Sequence[str]) -> Relevance:
        """See `Reranker`.

        Raises:
            UpstreamError: the endpoint failed, did not answer in time, or answered with something else than scores.
        """
        said = self._wire.ask(self._url, self._body(query, [text[: self._options.max_chars] for text in documents]))
        scores = self._scores(_entries(said), len(documents))
        if not scores:
            raise self._wrong("answered without a score for any document")
        # An endpoint may keep the worst to itself; they are no better than the worst that it names.
        worst = min(scores.values())
        return Relevance(tuple(scores.get(n, worst) for n in range(len(documents))), _n_tokens(said))

    def _body(self, query: str, documents: list[str]) -> dict[str, Any]:
        model = {"model": self._options.model} if self._options.model else {}
        if self._options.form == "texts":
            return {**model, "query": query, "texts": documents, "truncate": True, **self._options.extra}
        return {**model, "query": query, "documents": documents, "top_n": len(documents), **self._options.extra}

    def _scores(self, entries: Any, n_documents: int) -> dict[int, float]:
        if not isinstance(entries, list):
            raise self._wrong("answered without a list of results")
        scores: dict[int, float] = {}
        for entry in entries:
            index = entry.get("index") if isinstance(entry, dict) else None
            score = next((entry[key] for key in _SCORES if key in entry), None) if isinstance(entry, dict) else None
            if type(index) is not int or not 0 <= index < n_documents:
                raise self._wrong(f"answered with the index {self._wire.shown(index)} for {n_documents} documents")
            if isinstance(score, bool) or not isinstance(score, int | float) or not -_MOST <= score <= _MOST:
                raise self._wrong(f"answered with the score {self._wire.shown(score)}")
            scores[index] = float(score)
        return scores

    def _wrong(self, problem: str) -> UpstreamError:
        return self._wire.failure("bad_shape", problem, self._url)


def _entries(said: Any) -> Any:
    if isinstance(said, dict):
        return next((said[key] for key in _LISTS if key in said), None)
    return said


def _n_tokens(said: Any) -> int:
    """Return the tokens by OpenAI's form of telling them, or by Cohere's."""
    found = n_tokens_of(said)
    meta = said.get("meta") if isinstance(said, dict) else None
    tokens = meta.get("tokens") if isinstance(meta, dict) else None
    told = tokens.get("input_tokens") if isinstance(tokens, dict) else None
    return found or (int(told) if isinstance(told, int | float) and 0 < told < float("inf") else 0)
