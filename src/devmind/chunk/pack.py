"""Cut a span of lines that is too large into pieces at the best places.

A place is good when a shallow block begins there, a blank line stands before it, or the indentation is low; and when
the piece comes near the even size. Places inside a definition that fits the budget are locked.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from devmind.chunk.measure import Ruler

# Costs in units of one block depth. A line that merely closes or continues a block is a poor beginning; a blank line is
# the author's own cut. Chosen by reading the pieces of long functions in this repository; not yet measured.
UNKNOWN_PLACE = 2.5
INDENT_STEP = 0.5
BLANK_BONUS = 1.0
CLOSING = 3.0
OFF_SIZE = 2.0
CLOSERS = (")", "]", "}", "end", "else", "elif", "except", "finally", "catch", "case ", "then", "fi", "done")


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines ``start..end``, of which ``start..own-1`` repeat the end of the piece before."""

    start: int
    own: int
    end: int


class Places:
    """Where a document may be cut, and at what cost."""

    __slots__ = ("cuts", "locked", "ordered")

    def __init__(self, cuts: Mapping[int, int], locked: bytearray) -> None:
        self.cuts = cuts
        self.ordered: Sequence[int] = sorted(cuts)
        self.locked = locked  # locked[i]: no cut between line i and i + 1

    def shallowest(self, start: int, end: int) -> int:
        inside = self.ordered[bisect_left(self.ordered, start) : bisect_right(self.ordered, end)]
        return min((self.cuts[line] for line in inside), default=0)

    def atom_end(self, line: int, last: int) -> int:
        """Return the first line from ``line`` on after which a cut is allowed."""
        end = self.locked.find(0, line)
        return last if end < 0 else min(end, last)


def _indent(line: str) -> int:
    head = line[: len(line) - len(line.lstrip())]
    return len(head) + 3 * head.count("\t")


def _cost(ruler: Ruler, places: Places, line: int, *, depth: int, indent: int) -> float:
    text = ruler.lines[line - 1]
    at = places.cuts.get(line)
    if at is None:
        cost = UNKNOWN_PLACE + INDENT_STEP * min(max(_indent(text) - indent, 0) / 4, 12)
        if text.lstrip().startswith(CLOSERS):
            cost += CLOSING
    else:
        cost = float(at - depth)
    return cost - BLANK_BONUS if line > 1 and ruler.blank(line - 1) else cost


def _overlap_start(ruler: Ruler, before: Piece, overlap: int) -> int:
    wanted = ruler.prefix[before.end] - overlap
    start = bisect_right(ruler.prefix, wanted, 0, before.end + 1)  # prefix[start - 1] <= wanted
    return max(start, before.start + 1)


def pack(
    ruler: Ruler,
    places: Places,
    span: tuple[int, int],
    *,
    cap: int,
    hard_cap: int | None = None,
    target: int | None = None,
    overlap: int = 0,
    even: bool = True,
) -> list[Piece]:
    """Cut ``span`` into pieces of at most ``cap`` tokens, the overlap included.

    Args:
        hard_cap: what one uncuttable run of lines may reach together with its overlap before the overlap is given up.
        target: the size aimed at; the cap by default.
        even: aim at pieces of one size and weigh the places; otherwise fill each piece to the cap.
    """
    pieces: list[Piece] = []
    hard_cap = cap if hard_cap is None else hard_cap
    cap = max(cap, 1)
    target = max(min(target or cap, cap), 1)
    own, hi = ruler.trim(*span)
    if own > hi:
        return pieces
    depth, indent = (places.shallowest(own + 1, hi), _indent(ruler.lines[own - 1])) if even else (0, 0)
    prefix, locked = ruler.prefix, places.locked
    while own <= hi:
        start = own
        first = places.atom_end(own, hi)
        if pieces and overlap:
            start = _overlap_start(ruler, pieces[-1], overlap)
            if start > own or ruler.tokens(start, first) > hard_cap:
                start = own
        limit = cap if target == cap else min(cap, target * 5 // 4 + ruler.tokens(start, own - 1))
        last = min(bisect_right(prefix, prefix[start - 1] + limit) - 1, hi)
        if last <= first:
            end = first
        elif last == hi:
            end = hi
        elif even:
            rest = ruler.tokens(own, hi)
            room = max(target - ruler.tokens(start, own - 1), 1)
            size = rest / max(ceil(rest / room), 1)
            low = max(first, bisect_left(prefix, prefix[own - 1] + size * 0.5))
            end, best = 0, 0.0
            for line in range(low, last + 1):
                if locked[line] or ruler.blank(line + 1):
                    continue
                cost = _cost(ruler, places, line + 1, depth=depth, indent=indent)
                cost += OFF_SIZE * abs(prefix[line] - prefix[own - 1] - size) / size
                if not end or cost <= best:
                    end, best = line, cost
            if not end:
                end = max(locked.rfind(0, first, last + 1), first)
        else:
            end = max(locked.rfind(0, first, last + 1), first)
        _, trimmed = ruler.trim(own, end)
        pieces.append(Piece(start, own, trimmed))
        own = end + 1
        while own <= hi and ruler.blank(own):
            own += 1
    return pieces
