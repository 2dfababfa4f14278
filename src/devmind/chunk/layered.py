"""Units of syntax to chunks: merge what is tiny, split what is over budget, give each its header."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from devmind.chunk.header import Headers, ancestors, name_line
from devmind.chunk.measure import HeaderCosts, Ruler
from devmind.chunk.pack import Piece, pack
from devmind.chunk.rules import CLASS_KINDS, DATA_KINDS, FUNCTION_KINDS, ChunkRules
from devmind.chunk.units import Plan, Unit
from devmind.types import Chunk, ParsedDocument


@dataclass(frozen=True, slots=True)
class Draft:
    """A chunk without its header; ``first`` is the index of the split definition's first piece (itself if whole)."""

    piece: Piece
    main: int
    container: int
    parent: int
    first: int
    split: bool


class Layered:
    """Chunks one document by its syntax; ``plain`` (strategy ``syntax``) neither merges nor adds more than the name."""

    def __init__(self, parsed: ParsedDocument, ruler: Ruler, costs: HeaderCosts, rules: ChunkRules) -> None:
        self.symbols = parsed.symbols
        self.ruler = ruler
        self.costs = costs
        self.rules = rules
        self.plain = rules.strategy == "syntax"
        self.headers = Headers(parsed, costs, rules.budget_tokens)
        self.plan = Plan(parsed, ruler, costs, rules)
        self.by_start = sorted(range(len(self.symbols)), key=lambda i: (self.symbols[i].start_line, i))
        self.starts = [self.symbols[i].start_line for i in self.by_start]

    def chunks(self) -> tuple[Chunk, ...]:
        drafts = self._drafts()
        wanted = [self._wanted(draft) for draft in drafts]
        self.costs.load(line for lines in wanted for _, line in lines)
        return tuple(
            self._chunk(index, draft, lines) for index, (draft, lines) in enumerate(zip(drafts, wanted, strict=True))
        )

    def _drafts(self) -> list[Draft]:
        units = self.plan.units
        groups = [[i] for i in range(len(units))] if self.plain else self.plan.merged()
        chunk_of_unit: dict[int, int] = {}
        drafts: list[Draft] = []
        for group in groups:
            first = len(drafts)
            for index in group:
                chunk_of_unit[index] = first
            unit = units[group[0]]
            parent = chunk_of_unit.get(unit.parent, -1)
            if unit.kind == "split":
                for number, piece in enumerate(self._split(unit)):
                    above = first if number else parent
                    drafts.append(Draft(piece, unit.main, unit.container, above, first, split=True))
                continue
            piece = Piece(unit.start, unit.start, units[group[-1]].end)
            drafts.append(Draft(piece, self._main(group), unit.container, parent, first, split=False))
        return drafts

    def _main(self, group: list[int]) -> int:
        """Return the main symbol: the class of a head, else the largest definition."""
        best, size = -1, -1
        for index in group:
            unit = self.plan.units[index]
            if unit.main >= 0:
                cost = self.ruler.tokens(unit.start, unit.end)
                if unit.kind == "head":
                    return unit.main
                if cost > size:
                    best, size = unit.main, cost
        return best

    def _split(self, unit: Unit) -> list[Piece]:
        budget = self.rules.budget_tokens
        name = self._name(unit.main)
        lines = [name] if self.plain else [name, *(line for _, line in self._context(unit.main, 0))]
        self.costs.load(lines)
        least = self.costs[name] if self.costs[name] <= budget // 3 else 0
        header = min(sum(self.costs[line] for line in lines), budget // 3)
        return pack(
            self.ruler,
            self.plan.places,
            (unit.start, unit.end),
            cap=budget - max(header, least),
            hard_cap=budget - least,
            overlap=self.rules.overlap_tokens,
        )

    def _name(self, index: int) -> str:
        symbol = self.symbols[index]
        return self.headers.trail(index) or "section" if symbol.kind == "heading" else name_line(symbol)

    def _context(self, index: int, container: int) -> list[tuple[int, str]]:
        """Return what a reader of a piece that does not hold the definition's beginning needs, most worthy first."""
        headers = self.headers
        if self.symbols[index].kind == "heading":
            return []
        lines = [(2, headers.signature(index))]
        owner = headers.class_of(index)
        if owner >= 0:
            lines.append((1, headers.context(owner)))
        lines.append((4, headers.calls(index)))
        lines += [(3, line) for line in headers.doc(index)]
        return [(place, line) for place, line in lines if line]

    def _wanted(self, draft: Draft) -> list[tuple[int, str]]:
        main = self._named(draft)
        if main < 0:
            return []
        name = (0, self._name(main))
        if self.plain or draft.main < 0 or self.symbols[main].kind == "heading":
            return [name]
        piece = draft.piece
        symbol = self.symbols[main]
        if not piece.own <= symbol.start_line <= piece.end:
            return [name, *self._context(main, draft.container)]
        lines = [name]
        owner = self.headers.class_of(main)
        if owner >= 0 and not piece.start <= self.symbols[owner].start_line <= piece.end:
            lines.append((1, self.headers.context(owner)))
        calls = "" if symbol.kind in CLASS_KINDS and piece.end < symbol.end_line else self.headers.calls(main)
        if calls:
            lines.append((4, calls))
        if symbol.docstring and not self._holds(piece, symbol.docstring):
            lines += [(3, line) for line in self.headers.doc(main)]
        return lines

    def _holds(self, piece: Piece, docstring: str) -> bool:
        """Return whether the piece itself shows the beginning of ``docstring``."""
        opening = docstring.strip().split("\n", 1)[0].strip()
        return any(opening in line for line in self.ruler.lines[piece.start - 1 : piece.end])

    def _named(self, draft: Draft) -> int:
        """Return the symbol a chunk is named after: its main symbol, the class around it, or a key of its data."""
        if draft.main >= 0:
            return draft.main
        if draft.container >= 0:
            return draft.container
        return self._key(draft.piece) if self.plan.data else -1

    def _key(self, piece: Piece) -> int:
        at = bisect_left(self.starts, piece.start)
        if at:
            before = self.by_start[at - 1]
            for index in (before, *ancestors(self.symbols, before)):
                symbol = self.symbols[index]
                if symbol.kind in DATA_KINDS and symbol.start_line < piece.start <= symbol.end_line:
                    return index
        if at < len(self.starts) and self.starts[at] <= piece.end:
            index = self.by_start[at]
            return index if self.symbols[index].kind in DATA_KINDS else -1
        return -1

    def _chunk(self, index: int, draft: Draft, wanted: list[tuple[int, str]]) -> Chunk:
        piece, symbols, budget = draft.piece, self.symbols, self.rules.budget_tokens
        size = self.ruler.tokens(piece.start, piece.end)
        low, high = bisect_left(self.starts, piece.own), bisect_right(self.starts, piece.end)
        inside = tuple(self.by_start[low:high])
        long_line = size > budget
        if long_line:
            wanted = wanted[:1]
        fallback = name_line(symbols[inside[0]]) if inside else ""
        header, cost = self.headers.fill(wanted, room=budget if long_line else budget - size, fallback=fallback)
        named = self._named(draft)
        function = class_name = qualified = ""
        kind = "module"
        if named >= 0:
            symbol = symbols[named]
            qualified = symbol.qualified_name
            kind = "section" if symbol.kind == "heading" else symbol.kind
            if symbol.kind in FUNCTION_KINDS:
                function = symbol.name
            owner = named if symbol.kind in CLASS_KINDS else self.headers.class_of(named)
            class_name = symbols[owner].name if owner >= 0 else ""
        elif self.plan.prose:
            kind = "section"
        if draft.split and index != draft.first:
            kind = "part"
        return Chunk(
            start_line=piece.start,
            end_line=piece.end,
            content=self.ruler.content(piece.start, piece.end),
            header=header,
            n_tokens=size + cost,
            symbols=inside,
            function_name=function,
            class_name=class_name,
            qualified_name=qualified,
            node_type="long_line" if long_line else kind,
            parent=draft.parent,
        )
