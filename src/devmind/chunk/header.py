"""The lines that give a chunk its context: what it is, where it belongs, what it is for, what it calls."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from devmind.chunk.measure import HeaderCosts
from devmind.chunk.rules import CLASS_KINDS
from devmind.types import ParsedDocument, Symbol

MAX_CALLS = 12
MAX_DOC_LINES = 12
MAX_NAME_CHARS = 160
MAX_LINE_CHARS = 300
MAX_TRAIL = 8


def name_line(symbol: Symbol) -> str:
    """Return kind and qualified name; of a very long name the end, which says most."""
    name = _one_line(symbol.qualified_name, len(symbol.qualified_name)) or symbol.name
    return f"{symbol.kind} " + (name if len(name) <= MAX_NAME_CHARS else "…" + name[-MAX_NAME_CHARS:])


def name_cost(symbol: Symbol, costs: HeaderCosts, budget: int) -> int:
    """Return the tokens of the least header: the name, or nothing when the name alone takes over a third."""
    cost = costs[name_line(symbol)]
    return cost if cost <= budget // 3 else 0


def _one_line(text: str, limit: int = MAX_LINE_CHARS) -> str:
    text = " ".join(text.split()) if "\n" in text or "  " in text or "\t" in text or "\r" in text else text.strip()
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0] + " …"


def ancestors(symbols: Sequence[Symbol], index: int) -> list[int]:
    """Return the indexes of the enclosing symbols, nearest first; a cycle ends the walk."""
    found: list[int] = []
    at = symbols[index].parent
    while 0 <= at < len(symbols) and at != index and at not in found and len(found) < MAX_TRAIL:
        found.append(at)
        at = symbols[at].parent
    return found


class Headers:
    """Composes headers for the chunks of one document."""

    def __init__(self, parsed: ParsedDocument, costs: HeaderCosts, budget: int) -> None:
        self.symbols = parsed.symbols
        self.costs = costs
        self.budget = budget
        calls = sorted(
            ((r.line, i, r.name) for i, r in enumerate(parsed.references) if r.kind == "calls" and r.scope >= 0)
        )
        self._call_lines = [line for line, _, _ in calls]
        self._call_names = [name for _, _, name in calls]
        self._contexts: dict[int, str] = {}

    def class_of(self, index: int) -> int:
        """Return the nearest enclosing class, or -1."""
        above = self.symbols[index].parent
        if not 0 <= above < len(self.symbols):
            return -1
        if above != index and self.symbols[above].kind in CLASS_KINDS:
            return above
        return next((a for a in ancestors(self.symbols, index) if self.symbols[a].kind in CLASS_KINDS), -1)

    def trail(self, index: int) -> str:
        names = [self.symbols[a].name for a in reversed(ancestors(self.symbols, index))]
        return _one_line(" > ".join([*names, self.symbols[index].name]))

    def signature(self, index: int) -> str:
        return _one_line(self.symbols[index].signature)

    def context(self, index: int) -> str:
        """Return one line about an enclosing class: its signature and the first line of its docstring."""
        if index in self._contexts:
            return self._contexts[index]
        symbol = self.symbols[index]
        about = _one_line(symbol.signature, 160) or f"{symbol.kind} {symbol.name}"
        doc = symbol.docstring.strip().split("\n", 1)[0].strip()
        line = _one_line(f"in {about.rstrip(' :{')}" + (f": {doc}" if doc else ""), 240)
        self._contexts[index] = line
        return line

    def calls(self, index: int) -> str:
        symbol = self.symbols[index]
        low, high = bisect_left(self._call_lines, symbol.start_line), bisect_right(self._call_lines, symbol.end_line)
        if low == high:
            return ""
        names: dict[str, None] = {}
        for name in self._call_names[low:high]:
            if name and name != symbol.name:
                names[name] = None
                if len(names) == MAX_CALLS:
                    break
        return _one_line("calls: " + ", ".join(names)) if names else ""

    def doc(self, index: int) -> list[str]:
        """Return the first paragraphs of the docstring, each line cut to a bearable length."""
        lines = [_one_line(line) for line in self.symbols[index].docstring.strip().split("\n", 40)[:40]]
        kept = lines[:MAX_DOC_LINES]
        while kept and not kept[-1]:
            kept.pop()
        return [line for line in kept if line]

    def fill(self, wanted: Sequence[tuple[int, str]], *, room: int, fallback: str = "") -> tuple[str, int]:
        """Return the header and its tokens: of ``wanted`` (place in the header, line) in order of worth what fits.

        All but the first line together stay under a third of the budget. ``fallback`` stands in for a first line that
        does not fit.
        """
        third = self.budget // 3
        taken: list[tuple[int, int, str]] = []
        used = 0
        for rank, (place, line) in enumerate(wanted):
            cost = self.costs[line]
            if used + cost <= min(room, third):
                taken.append((place, rank, line))
                used += cost
            elif rank == 0:
                if fallback and self.costs[fallback] <= min(room, third):
                    return fallback, self.costs[fallback]
                return "", 0
        return "\n".join(line for _, _, line in sorted(taken)), used
