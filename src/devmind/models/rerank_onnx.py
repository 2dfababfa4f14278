"""Documents → their relevance by a cross-encoder in ONNX form on this machine.

Any folder will do that `OnnxModel` opens, whose model answers a pair with one number (relevance) or two (irrelevant and
relevant): the form in which cross-encoders are published.

Cost: one pass of the model for each document. Pairs are not batched, see `devmind.embed.onnx`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from devmind.errors import UsageError
from devmind.models.onnx import OnnxModel
from devmind.models.rerank import Relevance


@dataclass(frozen=True, slots=True)
class OnnxRerankerOptions:
    """The model's folder or file; the tokens read of question and document together, 0 for what it was made for.

    ``n_threads`` of the runtime, 0 for one a core.
    """

    path: str
    max_tokens: int = 0
    n_threads: int = 0


class OnnxReranker:
    """A cross-encoder. Safe to share between threads.

    Raises:
        UsageError: see `OnnxModel`.
    """

    def __init__(self, options: OnnxRerankerOptions) -> None:
        self._model = OnnxModel(
            Path(options.path), kind="reranker", max_tokens=options.max_tokens, n_threads=options.n_threads
        )
        # Cuts the longer of the two: a question stays whole unless it is half of what the model reads.
        self._model.tokenizer.enable_truncation(self._model.limit, strategy="longest_first")

    @property
    def name(self) -> str:
        return f"onnx:{self._model.digest}:{self._model.limit}"

    def close(self) -> None:
        """See `Reranker`; there is nothing to let go of."""

    def relevance(self, query: str, documents: Sequence[str]) -> Relevance:
        """See `Reranker`.

        Raises:
            UsageError: the model answers with something else than a score.
        """
        pairs = [self._model.tokenizer.encode(query, document) for document in documents]
        scores = tuple(self._score(self._model.run([pair])) for pair in pairs)
        return Relevance(scores, sum(len(pair.ids) for pair in pairs))

    def _score(self, said: np.ndarray) -> float:
        numbers = said.reshape(-1)
        if said.shape[:1] != (1,) or said.ndim > 2 or len(numbers) > 2 or not np.isfinite(numbers).all():
            raise UsageError(
                f"the reranker {self._model.file} answers {said.shape} to a pair, not one or two numbers: "
                "choose a cross-encoder",
                code="bad_model",
            )
        return float(numbers[-1] if len(numbers) == 1 else numbers[1] - numbers[0])
