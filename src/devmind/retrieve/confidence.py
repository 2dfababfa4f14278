"""A query and its best hits → how sure it is that they answer it."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from devmind.index.terms import terms
from devmind.retrieve.query import Query
from devmind.retrieve.rank import Ranking
from devmind.types import Hit

N_JUDGED = 5  # hits: the evidence that an answer is made of
# Of what a single hit holds, what all of them hold together, and the cosine: set by hand; `answer` fits its bar to it.
COVERED, TOGETHER, NEAR, BIAS = 4.0, 3.0, 3.0, -5.0
NOTHING_ASKED = 0.5  # hits for a query without a telling term


def confidence(query: Query, ranking: Ranking, hits: Sequence[Hit]) -> float:
    """Return 0..1: how much of what was asked the best hits hold, and how near their meaning is.

    The telling part of a question about something absent is a term that no good hit holds.
    """
    if not hits or not query.groups:
        return NOTHING_ASKED if hits else 0.0
    total = sum(weight for _, weight in query.groups) or 1.0
    covered = []
    everywhere: set[str] = set()
    for hit in hits[:N_JUDGED]:
        here = set(terms(f"{hit.path} {hit.symbol} {hit.header} {hit.content}"))
        everywhere |= here
        covered.append(sum(weight for group, weight in query.groups if group & here) / total)
    together = sum(weight for group, weight in query.groups if group & everywhere) / total
    cosine = float(ranking.features["dense"][:N_JUDGED].max())
    return round(1 / (1 + exp(-(COVERED * max(covered) + TOGETHER * together + NEAR * cosine + BIAS))), 4)
