"""A document → its structure: symbols, references, places to cut, and the file's lead. Never raises for any text."""

from __future__ import annotations

from devmind.parse.languages import reader_for
from devmind.parse.plain import outline_plain
from devmind.parse.structure import structure
from devmind.types import Document, ParsedDocument

__all__ = ["parse"]


def parse(document: Document) -> ParsedDocument:
    """Return the structure of ``document``; of an unknown language or a hopeless text only its paragraphs as cuts."""
    reader = reader_for(document.language)
    if reader is None:
        return outline_plain(document.text)
    found = reader(document.text) if callable(reader) else structure(document.text, reader)
    return found if found is not None else outline_plain(document.text)
