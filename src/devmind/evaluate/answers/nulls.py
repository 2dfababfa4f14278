"""A measurement that failed: a null, which is counted by kind and never taken as 0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Null:
    """``kind`` is a stable code: of the wire (``timeout``, ``http_500``, …) or of a reply (``no_json``, …)."""

    kind: str
    message: str


def by_kind(values: Iterable[object]) -> dict[str, int]:
    """Return how many of the values are nulls of each kind, the most frequent first."""
    counts = Counter(value.kind for value in values if isinstance(value, Null))
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
