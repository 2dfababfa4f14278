"""A span ↔ one word, for formats that know documents by id only: ``repo//path#L10-L20``, ``path``, ``path#L7-L7``."""

from __future__ import annotations

import re
from urllib.parse import unquote

from devmind.evaluate.types import Span

_LINES = re.compile(r"#L(\d+)-L(\d+)\Z")
_UNSAFE = re.compile(r"[\s%#]|//")  # blanks end a word, the others are ours


def docid(repo: str, span: Span) -> str:
    """Return the id; blanks, ``%``, ``#`` and ``//`` inside the names are percent-encoded."""
    lines = "" if span.whole_file else f"#L{span.start_line}-L{span.end_line}"
    return (f"{_quote(repo)}//" if repo else "") + _quote(span.file) + lines


def parse_docid(text: str) -> tuple[str, Span]:
    """Return (repository, span); an id that is not ours is the path of a whole file."""
    match = _LINES.search(text)
    repo, slashes, file = text[: match.start() if match else None].rpartition("//")
    if not slashes or not repo or repo.endswith(":"):  # the latter is a URL: all of it is the document's name
        repo, file = "", text[: match.start() if match else None]
    lines = (int(match[1]), int(match[2])) if match else (0, 0)
    return unquote(repo), Span(unquote(file), *lines)


def _quote(text: str) -> str:
    return _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), text)
