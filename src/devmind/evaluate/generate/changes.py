"""A file before and after a commit → the definitions of the old text that it changed, with the lines in question.

What changed in comments, imports and white space alone counts for nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from devmind.evaluate.datasets.units import symbols_of
from devmind.evaluate.generate.corpus import CLASS_KINDS, FUNCTION_KINDS, File
from devmind.evaluate.generate.docs import comment_lines
from devmind.scan.language import language_of
from devmind.types import Symbol

_PLACED_KINDS: Final = FUNCTION_KINDS | CLASS_KINDS | frozenset({"constant", "variable", "macro", "property", "type"})
# A change in the body of a class, outside its methods: longer than this, the class as a whole says too little.
_MAX_CLASS_LINES: Final = 60
_COMMENT = re.compile(r"^\s*(?:#(?!include|define|if|else|endif)|//|/\*|\*(?:/|\s|$)|--|;|<!--)")
_LOOKS = re.compile(r"[\s\"'`,;()]+")  # what a formatter changes
_MAX_LINES: Final = 20_000


@dataclass(frozen=True, slots=True)
class Changed:
    """A definition of the old text and the first and last line of it that the commit touched."""

    symbol: Symbol
    core: tuple[int, int]


def file_of(path: str, text: str) -> File:
    return File(path, "source", language_of(path, text.split("\n", 1)[0], text), 0, text, symbols_of(path, text), ())


def same_but_for_looks(old: str, new: str) -> bool:
    """Return whether the texts differ in white space, quotes, brackets and commas only."""
    return _LOOKS.sub("", old) == _LOOKS.sub("", new)


def changed_symbols(old: File, new: File) -> list[Changed]:
    """Return what was changed, by line. Definitions that the commit added have no place in the old text."""
    if max(len(old.lines), len(new.lines)) > _MAX_LINES:
        return []
    old_places, new_places = _Places(old), _Places(new)
    once = Counter(symbol.qualified_name for symbol in old.symbols)
    old_by_name = {symbol.qualified_name: symbol for symbol in old.symbols if once[symbol.qualified_name] == 1}
    touched: dict[Symbol, list[int]] = {}
    for low, high, new_low, new_high in _differences(old.lines, new.lines):
        for line in old_places.telling(range(low, high)):
            if symbol := old_places.smallest(line):
                touched.setdefault(symbol, []).append(line)
        for line in new_places.telling(range(new_low, new_high)):
            here = new_places.smallest(line)
            symbol = old_by_name.get(here.qualified_name) if here else None
            if symbol:
                came_in = low if high > low else low - 1  # what they replace, or follow
                at = min(max(came_in, symbol.start_line), symbol.end_line)
                touched.setdefault(symbol, []).append(at)
    found = [Changed(symbol, (min(lines), max(lines))) for symbol, lines in touched.items() if _is_place(symbol)]
    return sorted(found, key=lambda changed: changed.symbol.start_line)


def _is_place(symbol: Symbol) -> bool:
    return symbol.kind not in CLASS_KINDS or symbol.end_line - symbol.start_line < _MAX_CLASS_LINES


def _differences(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the stretches that differ, as 1-based lines ``low..high-1`` of both texts."""
    head = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    for tag, low, high, new_low, new_high in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            yield low + head + 1, high + head + 1, new_low + head + 1, new_high + head + 1


class _Places:
    """Which definition a line of a file belongs to, and whether the line is code."""

    def __init__(self, file: File) -> None:
        self._lines = file.lines
        comments = (comment_lines(file, symbol) for symbol in file.symbols if symbol.docstring)
        self._prose = {line for span in comments if span for line in range(span[0], span[1] + 1)}
        self._symbols = sorted(
            (symbol for symbol in file.symbols if symbol.kind in _PLACED_KINDS),
            key=lambda symbol: (symbol.start_line, -symbol.end_line),
        )
        self._starts = [symbol.start_line for symbol in self._symbols]

    def telling(self, lines: Iterable[int]) -> Iterator[int]:
        for line in lines:
            text = self._lines[line - 1]
            if text.strip() and line not in self._prose and not _COMMENT.match(text):
                yield line

    def smallest(self, line: int) -> Symbol | None:
        """Return the innermost definition that holds ``line``; a function inside a function is a part of the outer."""
        holding = [s for s in self._symbols[: bisect_right(self._starts, line)] if s.end_line >= line]
        if not holding:
            return None
        functions = [symbol for symbol in holding if symbol.kind in FUNCTION_KINDS]
        return functions[0] if functions else holding[-1]
