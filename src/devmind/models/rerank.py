"""The seam of a second stage: a question and documents → how relevant each document is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Relevance:
    """A score for each document, in their order, higher is better; scales of models differ.

    Attributes:
        n_tokens: that the answer says it took; 0 if it does not say.
    """

    scores: tuple[float, ...]
    n_tokens: int = 0


class Reranker(Protocol):
    """Reads a question and a document together. Safe to share between threads."""

    @property
    def name(self) -> str:
        """Changes whenever the same texts may get other scores."""

    def relevance(self, query: str, documents: Sequence[str]) -> Relevance:
        """Return the relevance of each of the ``documents``, of which there is at least one.

        Raises:
            DevMindError: there is none.
        """

    def close(self) -> None:
        """Let go of connections."""
