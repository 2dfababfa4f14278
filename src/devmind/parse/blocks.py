"""Files that hold several languages (Vue, HTML) → one structure at the file's own line numbers."""

from __future__ import annotations

import re
from dataclasses import replace

from devmind.parse.spec import LanguageSpec
from devmind.parse.structure import structure
from devmind.types import ParsedDocument

_NOT_NEWLINE = re.compile(r"[^\n]")


def structure_within(text: str, spans: list[tuple[int, int]], spec: LanguageSpec) -> ParsedDocument:
    """Return the structure of the parts of ``text`` in ``spans`` (ascending character ranges), as one program."""
    pieces, at = [], 0
    for start, end in spans:
        pieces += [_NOT_NEWLINE.sub(" ", text[at:start]), text[start:end], ";" if text[end : end + 1] == "<" else ""]
        at = end + (1 if pieces[-1] else 0)
    return structure("".join(pieces), spec) or ParsedDocument()


def join(first: ParsedDocument, second: ParsedDocument) -> ParsedDocument:
    """Return both structures of one file as one; indexes in ``second`` are moved behind ``first``'s symbols."""
    offset = len(first.symbols)
    symbols = [replace(s, parent=s.parent + offset) if s.parent >= 0 else s for s in second.symbols]
    references = [replace(r, scope=r.scope + offset) if r.scope >= 0 else r for r in second.references]
    depths: dict[int, int] = {}
    for line, depth in first.cuts + second.cuts:
        depths[line] = min(depth, depths.get(line, depth))
    return ParsedDocument(
        symbols=first.symbols + tuple(symbols),
        references=first.references + tuple(references),
        cuts=tuple(sorted(depths.items())),
        lead=first.lead or second.lead,
        has_errors=first.has_errors or second.has_errors,
    )
