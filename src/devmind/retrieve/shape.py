"""Candidates in order of rank → what is shown of them: duplicates collapsed, few chunks a file, neighbours joined.

Every candidate has a fate, so that a search and its trace tell the same story.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from devmind.index.snapshot import Floats
from devmind.index.view import View
from devmind.retrieve.passing import Mask
from devmind.retrieve.rank import Ranking
from devmind.retrieve.widen import widened, width_of

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
    """A hit in the making: its place in the ranking, its row, and the lines that it shows.

    ``focus`` are the lines of the definition that it was found by.
    """

    rank: int
    at: int
    row: int
    file: int
    name: int
    start: int
    end: int
    focus: tuple[int, int]
    also: list[tuple[int, int]] = field(default_factory=list)  # (file, first line) of the same text elsewhere


OVER_FILE_LIMIT: Final = Fate("over_file_limit")
BEYOND_K: Final = Fate("beyond_k")


def shape(
    view: View, ranking: Ranking, *, k: int, near: Floats | None = None, allowed: Mask | None = None
) -> tuple[list[Spot], list[Fate]]:
    """Return the ``k`` hits at most, and the fate of every candidate, both in order of rank.

    Args:
        near: the rough cosine of every row of ``view``, by which hits are widened; None leaves them narrow.
        allowed: which rows the filters let through; None for all.
    """
    rows = ranking.rows
    columns = (view.file, view.body, view.name, view.start, view.end)
    files, bodies, names, starts, ends = (column[rows].tolist() for column in columns)
    chosen: list[Spot] = []
    by_body: dict[int, Spot] = {}
    around: dict[int, Spot] = {}  # by the body of each neighbour that a hit shows
    by_file: dict[int, list[Spot]] = {}
    nth_of_file: dict[int, int] = {}

    def fate(at: int) -> Fate:
        file, body, name, start, end = files[at], bodies[at], names[at], starts[at], ends[at]
        if body in by_body:
            by_body[body].also.append((file, start))
            return Fate("duplicate", by_body[body].rank)
        if body in around and any(file == twin for twin, _ in around[body].also):
            return Fate("duplicate", around[body].rank)  # of a file that is said to hold the same text already
        same_file = by_file.get(file, [])
        for spot in same_file:
            same_name = name and name == spot.name
            if (same_name and _joins(spot, start=start, end=end)) or (spot.start <= start and end <= spot.end):
                return Fate("merged", spot.rank)
        if len(chosen) >= k:
            return BEYOND_K
        if len(same_file) >= MAX_PER_FILE:
            return OVER_FILE_LIMIT
        by_body[body] = spot = Spot(len(chosen) + 1, at, int(rows[at]), file, name, start, end, (start, end))
        by_file.setdefault(file, same_file).append(spot)
        nth_of_file.setdefault(file, len(nth_of_file))
        if near is not None:
            _widen(view, spot, same_file, nth_file=nth_of_file[file], near=near, allowed=allowed)
            around.update((view.body.item(shown), spot) for shown in _shown(view, spot))
        chosen.append(spot)
        return Fate("kept", len(chosen))

    fates: list[Fate] = []
    while len(fates) < len(rows) and len(chosen) < k:
        fates.append(fate(len(fates)))
    rest = range(len(fates), len(rows))  # of these only what a hit shows already still tells something
    fates += [fate(at) if files[at] in by_file or bodies[at] in by_body else BEYOND_K for at in rest]
    return chosen, fates


def _shown(view: View, spot: Spot) -> Iterator[int]:
    """Yield the rows that a hit shows; those of a file lie side by side."""
    low = high = spot.row
    while low > 0 and view.file[low - 1] == spot.file and view.start[low - 1] >= spot.start:
        low -= 1
    while high + 1 < view.n and view.file[high + 1] == spot.file and view.end[high + 1] <= spot.end:
        high += 1
    yield from range(low, high + 1)


def _joins(spot: Spot, *, start: int, end: int) -> bool:
    """Return whether these lines, of the same definition as ``spot``, touch it; then they are shown with it."""
    first, last = spot.focus
    if start > last + 1 or end < first - 1:
        return False
    spot.focus = min(first, start), max(last, end)
    spot.start, spot.end = min(spot.start, start), max(spot.end, end)
    return True


def _widen(view: View, spot: Spot, same_file: list[Spot], *, nth_file: int, near: Floats, allowed: Mask | None) -> None:
    # Chunks of one file may share a line, so another hit above may end where this one begins, or after.
    above = max((other.end for other in same_file if other.start < spot.start), default=0)
    below = min((other.start for other in same_file if other.end > spot.end), default=2**31)
    spot.start, spot.end = widened(
        view,
        spot.row,
        start=spot.start,
        end=spot.end,
        width=width_of(nth_file),
        near=near,
        above=above,
        below=below,
        allowed=allowed,
    )
