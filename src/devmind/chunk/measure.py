"""Token counts: of the lines of a document by prefix sums, of header lines once each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

CountTokens = Callable[[Sequence[str]], list[int]]


class Ruler:
    """The lines of one document (1-based) and what any span of them costs."""

    __slots__ = ("lines", "n", "prefix")

    def __init__(self, lines: list[str], counts: Sequence[int]) -> None:
        self.lines = lines
        self.n = len(lines)
        self.prefix = list(accumulate(counts, initial=0))

    def tokens(self, start: int, end: int) -> int:
        return self.prefix[end] - self.prefix[start - 1] if end >= start else 0

    def blank(self, line: int) -> bool:
        return not self.lines[line - 1].strip()

    def trim(self, start: int, end: int) -> tuple[int, int]:
        """Return the span without blank lines at its edges; start > end when nothing is left."""
        lines = self.lines
        while start <= end and not lines[start - 1].strip():
            start += 1
        while end > start and not lines[end - 1].strip():
            end -= 1
        return start, end

    def content(self, start: int, end: int) -> str:
        return "\n".join(self.lines[start - 1 : end])


class HeaderCosts:
    """Token counts of header lines; each distinct line is counted once, in batches."""

    __slots__ = ("_by_line", "_count")

    def __init__(self, count: CountTokens) -> None:
        self._count = count
        self._by_line: dict[str, int] = {}

    def load(self, lines: Iterable[str]) -> None:
        new = [line for line in dict.fromkeys(lines) if line not in self._by_line]
        if new:
            self._by_line.update(zip(new, self._count(new), strict=True))

    def __getitem__(self, line: str) -> int:
        if line not in self._by_line:
            self.load([line])
        return self._by_line[line]
