"""Symbols of one definition written in several clauses (Haskell equations, Elixir ``def``) → one symbol."""

from __future__ import annotations

from dataclasses import replace

from devmind.types import ParsedDocument, Symbol

_KINDS = frozenset({"function", "method", "macro"})


def merge_clauses(parsed: ParsedDocument) -> ParsedDocument:
    """Join neighbouring siblings of one name; the first gives signature and comment, the last the end."""
    merged: list[Symbol] = []
    position: list[int] = []  # old index → new index
    last_child: dict[int, int] = {}  # new parent → its latest child
    for symbol in parsed.symbols:
        parent = position[symbol.parent] if symbol.parent >= 0 else -1
        previous = last_child.get(parent, -1)
        if previous >= 0 and symbol.kind in _KINDS:
            before = merged[previous]
            if before.qualified_name == symbol.qualified_name and before.kind in _KINDS:
                merged[previous] = replace(
                    before,
                    end_line=max(before.end_line, symbol.end_line),
                    docstring=before.docstring or symbol.docstring,
                )
                position.append(previous)
                continue
        last_child[parent] = len(merged)
        position.append(len(merged))
        merged.append(replace(symbol, parent=parent))
    references = tuple(replace(r, scope=position[r.scope]) if r.scope >= 0 else r for r in parsed.references)
    return replace(parsed, symbols=tuple(merged), references=references)
