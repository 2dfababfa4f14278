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
    rows = ranking.rows
    bodies, names = view.body[rows].tolist(), view.name[rows].tolist()
    chosen: list[Spot] = []
    by_body: dict[int, Spot] = {}
    by_file: dict[int, list[Spot]] = {}

    def fate(at: int) -> Fate:
        row, body, name = rows.item(at), bodies[at], names[at]
        file, start, end = view.file.item(row), view.start.item(row), view.end.item(row)
        if body in by_body:
            by_body[body].also.append((file, start))
            return Fate("duplicate", by_body[body].rank)
        same_file = by_file.get(file, [])
        for spot in same_file:
            if name and spot.name == name and start <= spot.end + 1 and end >= spot.start - 1:
                spot.start, spot.end = min(spot.start, start), max(spot.end, end)
                return Fate("merged", spot.rank)
        if len(chosen) >= k:
            return BEYOND_K
        if len(same_file) >= MAX_PER_FILE:
            return OVER_FILE_LIMIT
        by_body[body] = Spot(len(chosen) + 1, at, row, file, name, start, end)
        by_file.setdefault(file, same_file).append(by_body[body])
        chosen.append(by_body[body])
        return Fate("kept", len(chosen))

    fates: list[Fate] = []
    while len(fates) < len(rows) and len(chosen) < k:
        fates.append(fate(len(fates)))
    # Of the rest only what has the text or the name of a hit can change one.
    n_tried, shown = len(fates), {spot.name for spot in chosen} - {0}
    rest = zip(bodies[n_tried:], names[n_tried:], strict=True)
    fates += [
        fate(at) if body in by_body or name in shown else BEYOND_K for at, (body, name) in enumerate(rest, n_tried)
    ]
    return chosen, fates
