"""What is asked of one search."""

from __future__ import annotations

from dataclasses import dataclass

from devmind.retrieve.rewrites import NO_REWRITES, Rewrites
from devmind.types import NO_FILTERS, Filters


@dataclass(frozen=True, slots=True)
class Request:
    """One search as its caller wants it.

    Attributes:
        k: hits at most.
        narrow: show of each hit its focus alone, not what stands around it.
        rewrites: other wordings of the question, which are searched too.
        rerank: whether the second stage, if there is one, is asked.
    """

    text: str
    k: int = 10
    filters: Filters = NO_FILTERS
    narrow: bool = False
    rewrites: Rewrites = NO_REWRITES
    rerank: bool = True
