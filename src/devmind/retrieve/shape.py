"""Candidates in order of rank → what is shown of them: duplicates collapsed, few chunks a file, neighbours merged.

Every candidate has a fate, so that a search and its trace tell the same story.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from devmind.index.view import View
from devmind.retrieve.rank import Ranking

MAX_PER_FILE = 2


class Fate(NamedTuple):
    """What became of a candidate: ``kept`` as, ``merged`` into or a ``duplicate`` of the hit of rank ``hit``.

    With ``hit`` 0 it is not shown: its file had its share of hits already (``over_file_limit``), or the hits were
    complete (``beyond_k``).
    """

    what: Literal["kept", "merged", "duplicate", "over_file_limit", "beyond_k"]
    hit: int = 0


@dataclass(slots=True)
class Spot:
    """A hit in the making: its place in the ranking, its row, and the lines that its neighbours joined to it."""

    rank: int
    at: int
    row: int
    file: int
    name: int
    start: int
    end: int
    also: list[tuple[int, int]] = field(default_factory=list)  # (file, first line) of the same text elsewhere


OVER_FILE_LIMIT: Final = Fate("over_file_limit")
BEYOND_K: Final = Fate("beyond_k")


def shape(view: View, ranking: Ranking, *, k: int) -> tuple[list[Spot], list[Fate]]:
    """Return the ``k`` hits at most, and the fate of every candidate, both in order of rank."""
    columns = (ranking.rows, *(c[ranking.rows] for c in (view.file, view.start, view.end, view.body, view.name)))
    chosen: list[Spot] = []
    fates: list[Fate] = []
    by_body: dict[int, Spot] = {}
    by_file: dict[int, list[Spot]] = {}
    for at, (row, file, start, end, body, name) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        if body in by_body:
            by_body[body].also.append((file, start))
            fates.append(Fate("duplicate", by_body[body].rank))
            continue
        same_file = by_file.get(file, [])
        beside = same_file and [
            s for s in same_file if name and s.name == name and start <= s.end + 1 and end >= s.start - 1
        ]
        if beside:
            beside[0].start, beside[0].end = min(beside[0].start, start), max(beside[0].end, end)
            fates.append(Fate("merged", beside[0].rank))
        elif len(chosen) >= k:
            fates.append(BEYOND_K)
        elif len(same_file) >= MAX_PER_FILE:
            fates.append(OVER_FILE_LIMIT)
        else:
            by_body[body] = Spot(len(chosen) + 1, at, row, file, name, start, end)
            by_file.setdefault(file, same_file).append(by_body[body])
            chosen.append(by_body[body])
            fates.append(Fate("kept", len(chosen)))
    return chosen, fates
