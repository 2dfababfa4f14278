"""Headings of a prose file → nested symbols, and the code it names → references of kind ``documents``."""

from __future__ import annotations

import re

from devmind.types import ParsedDocument, Reference, Symbol

Heading = tuple[int, int, int, str]  # first line, line of the title's end, level from 1, title

_LINK = re.compile(r"\[[^\]\n]{0,200}\]\((?![a-z]+:|#)([^)\s]{1,300})\)")
_CODE = re.compile(r"(?<!`)(``?)([A-Za-z_][\w.:]{1,118}\w)(?:\(\))?\1(?!`)")
_LAST_PART = re.compile(r"[^./\\:#]+(?:\.\w+)?$")
MAX_TITLE = 200
MAX_LEAD = 1000
TEXT_DEPTH = 6  # paragraphs cut deeper than any heading


def outline(lines: list[str], headings: list[Heading], *, code_lines: frozenset[int] = frozenset()) -> ParsedDocument:
    """Return the outline of ``lines``; ``code_lines`` are inside literal blocks, where nothing is prose.

    Args:
        headings: in line order.
    """
    symbols: list[Symbol] = []
    open_headings: list[tuple[int, int]] = []  # (level, index into headings)
    ends = [len(lines)] * len(headings)
    for index, (line, _, level, _) in enumerate(headings):
        while open_headings and open_headings[-1][0] >= level:
            ends[open_headings.pop()[1]] = line - 1
        open_headings.append((level, index))
    stack: list[tuple[int, int]] = []
    for index, (line, _, level, title) in enumerate(headings):
        while stack and stack[-1][0] >= level:
            stack.pop()
        parent = stack[-1][1] if stack else -1
        name = title[:MAX_TITLE]
        qualified = f"{symbols[parent].qualified_name} > {name}"[-2 * MAX_TITLE :] if parent >= 0 else name
        symbols.append(Symbol(name, qualified, "heading", line, ends[index], line, name, parent=parent))
        stack.append((level, index))
    return ParsedDocument(
        symbols=tuple(symbols),
        references=_references(lines, headings, code_lines),
        cuts=_cuts(lines, headings, code_lines),
        lead=_lead(lines, headings, code_lines),
    )


def _references(lines: list[str], headings: list[Heading], code_lines: frozenset[int]) -> tuple[Reference, ...]:
    found: dict[tuple[str, int], Reference] = {}
    scope = -1
    for number, line in enumerate(lines, start=1):
        while scope + 1 < len(headings) and headings[scope + 1][0] <= number:
            scope += 1
        if number in code_lines:
            continue
        if "`" in line:
            for match in _CODE.finditer(line):
                qualifier, _, name = match.group(2).replace("::", ".").rpartition(".")
                if name:
                    found.setdefault((name, scope), Reference(name, "documents", number, scope, qualifier))
        if "](" in line:
            for match in _LINK.finditer(line):
                last = _LAST_PART.search(match.group(1).split("#")[0])
                if last:
                    found.setdefault(
                        (last.group(), scope), Reference(last.group(), "documents", number, scope, match.group(1))
                    )
    return tuple(found.values())


def _cuts(lines: list[str], headings: list[Heading], code_lines: frozenset[int]) -> tuple[tuple[int, int], ...]:
    depths = {line: level - 1 for line, _, level, _ in headings}
    blank = True
    for number, line in enumerate(lines, start=1):
        if number in code_lines and number - 1 in code_lines:
            blank = False
        elif not line.strip():
            blank = True
        elif blank:
            depths.setdefault(number, TEXT_DEPTH)
            blank = False
    return tuple(sorted(depths.items()))


def _lead(lines: list[str], headings: list[Heading], code_lines: frozenset[int]) -> str:
    titles = {n for first, last, _, _ in headings for n in range(first, last + 1)}
    words: list[str] = []
    for number, line in enumerate(lines, start=1):
        bare = line.strip()
        if number in titles or number in code_lines or not bare or bare.startswith(("<", "[!", "![", "..", "|")):
            if words:
                break
            continue
        words.append(bare)
    return " ".join(words)[:MAX_LEAD]
