"""Any text → its paragraphs as cuts; what is left when no grammar knows better."""

from __future__ import annotations

from devmind.types import ParsedDocument, split_lines


def outline_plain(text: str) -> ParsedDocument:
    """Return a cut where a line follows a blank one: depth 0 if it is flush left, else 1."""
    found = []
    blank = True
    for number, line in enumerate(split_lines(text), start=1):
        if not line.strip():
            blank = True
        elif blank:
            found.append((number, 1 if line[0].isspace() else 0))
            blank = False
    return ParsedDocument(cuts=tuple(found))
