"""A language of ``keyword Name … {`` blocks and one-line members → symbols, line by line, without a grammar.

For interface languages whose grammars have no wheel. Comments and strings are blanked before braces are counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from devmind.parse.comments import is_licence, strip_marks
from devmind.types import ParsedDocument, Reference, Symbol, SymbolKind, split_lines


@dataclass(frozen=True, slots=True)
class Found:
    """What one line defines. ``opens``: it lasts until its closing brace, or until ``;`` if none opens before."""

    name: str
    kind: SymbolKind
    opens: bool = False


# (line without comments, kind of the enclosing symbol or "") → what it defines
Recognise = Callable[[str, str], Found | None]


def blank(text: str, noise: re.Pattern[str]) -> str:
    """Return ``text`` with everything that ``noise`` matches replaced by blanks, line breaks kept."""
    return noise.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def outline_braces(
    text: str, recognise: Recognise, *, noise: re.Pattern[str], is_comment: re.Pattern[str], brackets: str = "{}"
) -> ParsedDocument:
    """Return the outline of ``text``.

    Args:
        noise: comments and strings.
        is_comment: a line that may belong to the comment above a definition.
        brackets: pairs of brackets that nest.
    """
    lines, bare = split_lines(text), split_lines(blank(text, noise))
    opening, closing = set(brackets[::2]), set(brackets[1::2])
    symbols: list[Symbol] = []
    cuts: list[tuple[int, int]] = []
    stack: list[tuple[int, int]] = []  # (symbol, depth at which its body opened; -1 before)
    depth = 0
    for number, line in enumerate(bare, start=1):
        words = line.strip()
        if words and words[0] not in closing:
            parent = stack[-1][0] if stack else -1
            kind = symbols[parent].kind if parent >= 0 else ""
            found = recognise(words, kind) if not stack or depth == stack[-1][1] + 1 else None
            cuts.append((number, depth))
            if found:
                doc_line = number
                while doc_line > 1 and is_comment.match(lines[doc_line - 2]) and not bare[doc_line - 2].strip():
                    doc_line -= 1
                prefix = f"{symbols[parent].qualified_name}." if parent >= 0 else ""
                comment = "\n".join(lines[doc_line - 1 : number - 1])
                symbols.append(
                    Symbol(
                        name=found.name,
                        qualified_name=prefix + found.name,
                        kind=found.kind,
                        start_line=number,
                        end_line=number,
                        doc_line=doc_line,
                        signature=" ".join(words.split())[:300].rstrip(" {;"),
                        docstring="" if is_licence(comment) else strip_marks(comment.replace('"""', "")),
                        parent=parent,
                    )
                )
                if found.opens:
                    stack.append((len(symbols) - 1, depth))
        for at, character in enumerate(line):
            if character in opening:
                depth += 1
            elif character in closing:
                depth = max(depth - 1, 0)
            if stack and depth == stack[-1][1] and (character == "}" or (character == ";" and at > 0)):
                index = stack.pop()[0]
                symbols[index] = replace(symbols[index], end_line=number)
    for symbol, _ in stack:
        symbols[symbol] = replace(symbols[symbol], end_line=len(lines))
    return ParsedDocument(symbols=tuple(symbols), cuts=tuple(cuts), lead=_lead(lines, is_comment))


def type_references(
    text: str,
    pattern: re.Pattern[str],
    symbols: tuple[Symbol, ...],
    *,
    noise: re.Pattern[str],
    known: frozenset[str] = frozenset(),
) -> tuple[Reference, ...]:
    """Return a reference per group that ``pattern`` matches, within the innermost symbol; ``known`` names left out."""
    found: list[Reference] = []
    following, open_symbols = 0, list[int]()
    for number, line in enumerate(split_lines(blank(text, noise)), start=1):
        while following < len(symbols) and symbols[following].start_line <= number:
            open_symbols.append(following)
            following += 1
        while open_symbols and symbols[open_symbols[-1]].end_line < number:
            open_symbols.pop()
        for match in pattern.finditer(line):
            for written in filter(None, match.groups()):
                qualifier, _, name = written.rpartition(".")
                if name not in known and open_symbols:
                    found.append(Reference(name, "references", number, open_symbols[-1], qualifier))
    return tuple(found)


def _lead(lines: list[str], is_comment: re.Pattern[str]) -> str:
    group: list[str] = []
    for line in lines:
        if line.strip() and is_comment.match(line):
            group.append(line)
        elif group or line.strip():
            break
    joined = "\n".join(group)
    return "" if is_licence(joined) else strip_marks(joined)
