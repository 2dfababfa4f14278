"""The steps of a search before ranking, as one value, so that a measurement can leave a part of them out."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import Protocol

from devmind.retrieve.corpus import Corpus
from devmind.retrieve.legs import Recall, recall
from devmind.retrieve.names import Named
from devmind.retrieve.query import Query, understand


class Understand(Protocol):
    """The shape of `understand`."""

    def __call__(self, text: str, *, df: Callable[[str], int], n_chunks: int) -> Query: ...


class Recalling(Protocol):
    """The shape of `recall`."""

    def __call__(
        self, query: Query, corpus: Corpus, named: Named, *, k: int, timings: MutableMapping[str, float]
    ) -> Recall: ...


@dataclass(frozen=True, slots=True)
class Steps:
    """How a question becomes candidates."""

    understand: Understand = understand
    recall: Recalling = recall


STEPS = Steps()
