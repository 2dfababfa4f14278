"""What a search did, step by step, for whoever asks why a chunk was not found. `Retriever.trace` makes these values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from devmind.index.snapshot import Floats
from devmind.index.view import Rows, View
from devmind.retrieve.query import Query
from devmind.retrieve.rank import Ranking
from devmind.retrieve.shape import Fate
from devmind.types import Hit

LEXICAL, DENSE, SYMBOL, POINTED = "lexical", "dense", "symbol", "pointed"


@dataclass(frozen=True, slots=True)
class Leg:
    """One leg over the whole view: every row that it can rank, best first, with its score.

    ``taken`` are the rows that a search of this depth makes candidates, in no order.
    """

    rows: Rows
    scores: Floats
    taken: Rows

    def rank_of(self, row: int) -> int | None:
        """Return the row's rank, None for one that the leg does not find at all."""
        found = np.flatnonzero(self.rows == row)
        return int(found[0]) + 1 if len(found) else None


@dataclass(frozen=True, slots=True)
class Trace:
    """One search with its intermediate results. Rows are those of ``view``.

    Attributes:
        legs: by name; empty unless they were asked for, because ranking everything takes longer than a search.
        ranking: all candidates.
        fates: what shaping did to each candidate, in the order of the ranking.
        idf: by term of the query.
        repos: names by repository id.
        evidence: what the confidence weighs.
    """

    query: Query
    view: View
    ranking: Ranking
    fates: tuple[Fate, ...]
    hits: tuple[Hit, ...]
    idf: Mapping[str, float]
    repos: Mapping[int, str]
    legs: Mapping[str, Leg]
    evidence: Mapping[str, float]
