"""Turn the spans of symbols, which may overlap oddly, into a tree of properly nested spans."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from devmind.chunk.rules import DEFINITION_KINDS, TRANSPARENT_KINDS
from devmind.types import Symbol


@dataclass(slots=True)
class Node:
    """A definition or namespace; ``lead`` is where its leading comment begins."""

    index: int
    symbol: Symbol
    start: int
    end: int
    lead: int
    kids: list[Node] = field(default_factory=list)


def nest(symbols: Sequence[Symbol], n_lines: int) -> tuple[list[Node], list[Node]]:
    """Return (roots, all nodes in document order, parents first).

    A span that begins inside another and ends outside is clipped to what lies outside.
    """
    heap: list[tuple[int, int, int]] = []
    for index, symbol in enumerate(symbols):
        if symbol.kind in DEFINITION_KINDS or symbol.kind in TRANSPARENT_KINDS:
            start, end = max(symbol.start_line, 1), min(symbol.end_line, n_lines)
            if start <= end:
                heap.append((start, -end, index))
    heapq.heapify(heap)
    roots: list[Node] = []
    nodes: list[Node] = []
    stack: list[Node] = []
    while heap:
        start, end, index = heapq.heappop(heap)
        end = -end
        while stack and stack[-1].end < start:
            stack.pop()
        if stack and stack[-1].end < end:
            heapq.heappush(heap, (stack[-1].end + 1, -end, index))
            continue
        siblings = stack[-1].kids if stack else roots
        floor = siblings[-1].end + 1 if siblings else stack[-1].start if stack else 1
        doc = symbols[index].doc_line
        lead = max(min(doc, start), floor) if doc >= 1 else start
        node = Node(index, symbols[index], start, end, lead)
        siblings.append(node)
        nodes.append(node)
        stack.append(node)
    return roots, nodes


def members(kids: Sequence[Node]) -> Iterator[Node]:
    """Yield the nodes of ``kids`` in order, namespaces replaced by what they hold."""
    stack = list(reversed(kids))
    while stack:
        node = stack.pop()
        if node.symbol.kind in TRANSPARENT_KINDS:
            stack.extend(reversed(node.kids))
        else:
            yield node
