"""A question and other wordings of it → one query.

Every wording is understood as the question is, and their terms, names and vectors join the question's. BM25 and the
cosine are sums over what a query holds, so one search for the weighted sum of several queries finds by the weighted sum
of their scores: what searching each and adding the scores gives, at the cost of one search and one ranking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from devmind.retrieve.query import MAX_IDENTIFIERS, Query

# Chosen by reasoning, not by measurement: all other wordings together count half as much as the question itself, since
# a model that has not seen the code guesses its names.
WEIGHT: Final = 0.5


@dataclass(frozen=True, slots=True)
class Rewrites:
    """Other wordings of one question, what they count together, and what it took to get them.

    Attributes:
        weight: of all of them, the question's own being 1.
        warnings: why there are none.
        seconds: that a model took for them.
    """

    texts: tuple[str, ...] = ()
    weight: float = WEIGHT
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    spent: Mapping[str, int] = field(default_factory=dict)

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells two searches apart."""
        return (self.texts, self.weight, self.warnings)


NO_REWRITES: Final = Rewrites()


def widened(query: Query, others: Sequence[Query], *, weight: float) -> Query:
    """Return ``query`` with what ``others`` hold besides; what was asked for (``groups``) stays the question's.

    Args:
        others: the other wordings, understood.
        weight: of all of them together; each gets an equal share.
    """
    if not others:
        return query
    share = weight / len(others)
    weights = dict(query.weights)
    for other in others:
        for term, worth in other.weights.items():
            weights[term] = weights.get(term, 0.0) + share * worth
    identifiers = dict.fromkeys([*query.identifiers, *(name for other in others for name in other.identifiers)])
    return replace(
        query,
        weights=weights,
        identifiers=tuple(identifiers)[:MAX_IDENTIFIERS],
        also=tuple((other.english or other.text, share) for other in others),
    )
