"""Does a span hold whole units (definitions, sections), as the parser sees them?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from devmind.evaluate.types import Span
from devmind.parse import parse
from devmind.scan.language import language_of
from devmind.types import Document, Symbol, split_lines

_SAMPLE_CHARS = 4_000  # what tells C from C++ stands at the top of a header


@dataclass(frozen=True, slots=True)
class CutUnit:
    """A definition of which a span holds only a part, and the span that holds all of it."""

    name: str
    kind: str
    whole: Span


def symbols_of(path: str, text: str) -> tuple[Symbol, ...]:
    language = language_of(path, text.split("\n", 1)[0], text[:_SAMPLE_CHARS])
    return parse(Document(path, text, language, "source", "", "utf-8", len(text))).symbols


def cut_unit(span: Span, text: str, symbols: Sequence[Symbol]) -> CutUnit | None:
    """Return the definition that ``span`` cuts, None if it cuts none.

    A span is whole if it begins where a definition inside it begins (with or without its leading comment) or the file
    does, ends where one ends or the file does, and no definition lies half in it. Blank lines at its ends do not
    count. Lines that touch no definition are whole.
    """
    if span.whole_file or not symbols:
        return None
    lines = split_lines(text)
    start, end = trimmed(lines, span.start_line, span.end_line)
    if start > end:
        return None
    bare = (replace(symbol, end_line=trimmed(lines, symbol.start_line, symbol.end_line)[1]) for symbol in symbols)
    touching = [symbol for symbol in bare if symbol.doc_line <= end and symbol.end_line >= start]
    if not touching:
        return None
    inside = [symbol for symbol in touching if symbol.start_line >= start and symbol.end_line <= end]
    first, last = trimmed(lines, 1, len(lines))
    begins = start == first or any(symbol.doc_line <= start <= symbol.start_line for symbol in inside)
    ends = end == last or any(symbol.end_line == end for symbol in inside)
    crossing = [
        symbol
        for symbol in touching
        if (symbol.start_line < start <= symbol.end_line < end) or (start < symbol.start_line <= end < symbol.end_line)
    ]
    if begins and ends and not crossing:
        return None
    around = [symbol for symbol in touching if symbol.doc_line <= start and symbol.end_line >= end]
    smallest = min(around, key=lambda symbol: symbol.end_line - symbol.doc_line, default=None)
    if smallest is not None and not crossing:
        whole = Span(span.file, smallest.doc_line, smallest.end_line)
        return CutUnit(smallest.qualified_name, smallest.kind, whole)
    cut = crossing or inside or touching
    union = Span(span.file, min(s.doc_line for s in cut), max(s.end_line for s in cut))
    return CutUnit(cut[0].qualified_name, cut[0].kind, union)


def trimmed(lines: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """Return the lines without blank ones at either end; start > end if nothing is left."""
    end = min(end, len(lines))
    while start <= end and not lines[start - 1].strip():
        start += 1
    while start <= end and not lines[end - 1].strip():
        end -= 1
    return start, end
