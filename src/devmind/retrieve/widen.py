"""A hit's own lines → the lines that it shows: its neighbours join while the hit is narrower than its file deserves.

A question is rarely answered by one function alone; what else it needs mostly stands beside it. Bare names are not
widened: who asks for a name wants its definition.
"""

from __future__ import annotations

from typing import Final

from devmind.index.snapshot import Floats
from devmind.index.view import View
from devmind.retrieve.passing import Mask

# Lines that a hit may grow to, by the rank of its file: the likelier the file, the more of it is worth reading. As many
# lines shared out evenly find fewer of the right ones (docs/retrieval.md).
WIDTHS: Final = (200, 150, 100, 60, 40)
GAP = 3  # lines between two chunks that still touch: what stands there are blanks and closing brackets


def width_of(nth_file: int) -> int:
    """Return the lines that a hit may have in the ``nth_file`` (0: the best) of a search."""
    return WIDTHS[min(nth_file, len(WIDTHS) - 1)]


def widened(
    view: View,
    row: int,
    *,
    start: int,
    end: int,
    width: int,
    near: Floats,
    above: int,
    below: int,
    allowed: Mask | None = None,
) -> tuple[int, int]:
    """Return the first and last line of ``start..end`` with the neighbours of ``row``, the nearer to the query first.

    Args:
        row: of ``view``; its file's other chunks are the rows beside it.
        start: first line of the hit so far.
        end: last line.
        width: lines that the hit may have; one that is longer already stays as it is.
        near: the rough cosine of every row.
        above: last line before ``start`` that another hit shows; 0 for none.
        below: first line after ``end`` that another hit shows; past the end of the file for none.
        allowed: which rows may join: who asks for methods alone is shown no function beside one. All by default.
    """
    low, high = row - 1, row + 1
    file = view.file[row]
    while True:
        reach: list[tuple[float, int, int, int]] = []
        if low >= 0 and view.file[low] == file and (allowed is None or allowed[low]):
            first = int(view.start[low])
            if first > above and start - int(view.end[low]) <= GAP and end - first < width:
                reach.append((float(near[low]), low, first, end))
        if high < view.n and view.file[high] == file and (allowed is None or allowed[high]):
            last = max(end, int(view.end[high]))
            if last < below and int(view.start[high]) - end <= GAP and last - start < width:
                reach.append((float(near[high]), high, start, last))
        if not reach:
            return start, end
        _, taken, start, end = max(reach)
        low, high = (low - 1, high) if taken == low else (low, high + 1)
