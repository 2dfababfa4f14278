"""Turn the structure of a document into units: what should stand together, in document order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from devmind.chunk.header import name_cost, name_line
from devmind.chunk.measure import HeaderCosts, Ruler
from devmind.chunk.pack import Places, pack
from devmind.chunk.rules import CLASS_KINDS, DATA_KINDS, DEFINITION_KINDS, MINOR_KINDS, ChunkRules
from devmind.chunk.tree import Node, members, nest
from devmind.types import ParsedDocument

# Classes nested deeper than this are cut like one long body; real code stays far below, generated code does not.
MAX_NESTING = 8


@dataclass(frozen=True, slots=True)
class Unit:
    """A span with its main symbol (-1: code between definitions).

    ``container`` is the symbol whose members these are; only units of one container merge. ``parent`` is the unit of
    the enclosing class's head. A ``split`` unit is over budget.
    """

    start: int
    end: int
    kind: Literal["definition", "gap", "head", "split"]
    main: int = -1
    container: int = -1
    parent: int = -1


class Plan:
    """The units of one document, and the places where it may be cut."""

    def __init__(self, parsed: ParsedDocument, ruler: Ruler, costs: HeaderCosts, rules: ChunkRules) -> None:
        self.symbols = parsed.symbols
        self.ruler = ruler
        self.costs = costs
        self.rules = rules
        self.units: list[Unit] = []
        headings = [i for i, s in enumerate(parsed.symbols) if s.kind == "heading" and 1 <= s.start_line <= ruler.n]
        self.prose = bool(headings) and 2 * len(headings) >= len(parsed.symbols)
        roots, nodes = nest(() if self.prose else parsed.symbols, ruler.n)
        self.fitting = self._fitting(nodes)
        locked = bytearray(ruler.n + 2)
        done = 0
        for node in nodes:
            if node.end > done and node.index in self.fitting:
                locked[node.start : node.end] = b"\1" * (node.end - node.start)
                done = node.end
        cuts = dict.fromkeys((line for line, _ in parsed.cuts), 1 << 30)
        for line, depth in parsed.cuts:
            cuts[line] = min(cuts[line], depth)
        self.data = self._add_data_cuts(cuts)
        self.places = Places(cuts, locked)
        if self.prose:
            self._sections(headings)
        else:
            self._walk(roots, (1, ruler.n), container=-1, parent=-1, nesting=0)

    def _fitting(self, nodes: Sequence[Node]) -> set[int]:
        budget = self.rules.budget_tokens
        sure = budget - budget // 3
        close: list[Node] = []
        fitting: set[int] = set()
        for node in nodes:
            if node.symbol.kind in DEFINITION_KINDS:
                cost = self.ruler.prefix[node.end] - self.ruler.prefix[node.start - 1]
                if cost <= sure:
                    fitting.add(node.index)
                elif cost <= budget:
                    close.append(node)
        self.costs.load(name_line(node.symbol) for node in close)
        for node in close:
            cost = self.ruler.tokens(node.start, node.end)
            if cost + name_cost(node.symbol, self.costs, budget) <= budget:
                fitting.add(node.index)
        return fitting

    def _add_data_cuts(self, cuts: dict[int, int]) -> bool:
        depths: list[int] = []
        found = False
        for index, symbol in enumerate(self.symbols):
            depths.append(depths[symbol.parent] + 1 if 0 <= symbol.parent < index else 0)
            if symbol.kind in DATA_KINDS:
                found = True
                line = min(symbol.doc_line, symbol.start_line) if symbol.doc_line >= 1 else symbol.start_line
                cuts[line] = min(cuts.get(line, 1 << 30), depths[index])
        return found

    def _sections(self, headings: list[int]) -> None:
        headings.sort(key=lambda i: (self.symbols[i].start_line, i))
        starts = [self.symbols[i].start_line for i in headings]
        self._gap(1, starts[0] - 1, container=-1, parent=-1)
        for at, index in enumerate(headings):
            end = starts[at + 1] - 1 if at + 1 < len(starts) else self.ruler.n
            start, end = self.ruler.trim(starts[at], end)
            if start <= end:
                size = self.ruler.tokens(start, end)
                fits = size + min(self.costs[name_line(self.symbols[index])], 40) <= self.rules.budget_tokens
                self.units.append(Unit(start, end, "definition" if fits else "split", index))

    def _gap(self, start: int, end: int, *, container: int, parent: int) -> None:
        ruler, budget = self.ruler, self.rules.budget_tokens
        start, end = ruler.trim(start, end)
        if start > end:
            return
        target = budget * 4 // 5 if self.data else budget // 2
        if ruler.tokens(start, end) <= target * 5 // 4:
            self.units.append(Unit(start, end, "gap", -1, container, parent))
            return
        for piece in pack(ruler, self.places, (start, end), cap=budget - budget // 8, target=target):
            self.units.append(Unit(piece.start, piece.end, "gap", -1, container, parent))

    def _walk(self, kids: Sequence[Node], span: tuple[int, int], *, container: int, parent: int, nesting: int) -> None:
        ruler, budget = self.ruler, self.rules.budget_tokens
        at, hi = span
        for node in members(kids):
            size = ruler.tokens(node.start, node.end)
            held = node.end < at  # by the head of its class
            if held or (node.symbol.kind in MINOR_KINDS and size < self.rules.min_tokens):
                continue
            lead = max(node.lead, at)
            fits = node.index in self.fitting
            if fits and lead < node.start and size + ruler.tokens(lead, node.start - 1) > budget - budget // 8:
                lead = node.start
            self._gap(at, lead - 1, container=container, parent=parent)
            at = node.end + 1
            if fits:
                start, end = ruler.trim(lead, node.end)
                if start <= end:
                    self.units.append(Unit(start, end, "definition", node.index, container, parent))
                continue
            major = next((m for m in members(node.kids) if m.symbol.kind not in MINOR_KINDS), None)
            opens = node.symbol.kind in CLASS_KINDS and nesting < MAX_NESTING
            end = major.lead - 1 if major and opens else node.end
            start, end = ruler.trim(lead, end)
            head = parent
            if start <= end:
                head = len(self.units)
                whole = ruler.tokens(start, end) <= budget - budget // 8 and end < node.end
                inside = node.index if opens and major else container
                self.units.append(Unit(start, end, "head" if whole else "split", node.index, inside, parent))
            if opens and major:
                self._walk(
                    node.kids, (major.lead, node.end), container=node.index, parent=head, nesting=nesting + 1
                )  # fmt: skip
        self._gap(at, hi, container=container, parent=parent)

    def merged(self) -> list[list[int]]:
        """Return groups of unit indexes: tiny siblings that stand next to each other become one."""
        rules, ruler = self.rules, self.ruler
        half, most = rules.budget_tokens // 2, rules.budget_tokens - rules.budget_tokens // 8
        groups: list[list[int]] = []
        start = size = 0
        for index, unit in enumerate(self.units):
            cost = ruler.tokens(unit.start, unit.end)
            if groups:
                last = self.units[groups[-1][-1]]
                total = ruler.tokens(start, unit.end)
                # A head of some size is the class's own description: members join it only while it is tiny.
                headed = self.units[groups[-1][0]].kind == "head" and unit.kind != "gap"
                if (
                    last.container == unit.container
                    and "split" not in (last.kind, unit.kind)
                    and unit.kind != "head"
                    and (
                        ((size if headed else min(size, cost)) < rules.min_tokens and total <= half)
                        or (unit.kind == "gap" and cost < rules.min_tokens // 2 and total <= most)
                        or (self._only_gap(groups[-1]) and size < rules.min_tokens // 2 and total <= most)
                    )
                ):
                    groups[-1].append(index)
                    size = total
                    continue
            groups.append([index])
            start, size = unit.start, cost
        return groups

    def _only_gap(self, group: list[int]) -> bool:
        return len(group) == 1 and self.units[group[0]].kind == "gap"
