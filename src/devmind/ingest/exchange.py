"""One line of the intermediate format (JSON Lines, DESIGN §2) → the values that the index stores.

A line may come from anybody: every field is checked, and what looks like a secret is masked as ``scan`` masks it.
Fields that are not known here are passed over.
"""

from __future__ import annotations

import json
import posixpath
import re
from dataclasses import dataclass
from typing import Final, cast, get_args

from devmind.errors import UsageError
from devmind.index.catalog import MAX_CHUNKS
from devmind.ingest.checked import BadField, Fields
from devmind.scan import mask_secrets, skip_secret
from devmind.types import (
    Chunk,
    Document,
    EdgeKind,
    ParsedDocument,
    Reference,
    Role,
    Skipped,
    Symbol,
    SymbolKind,
    Visibility,
    split_lines,
    stable_id,
)  # fmt: skip

ROLES: Final = frozenset(get_args(Role))
SYMBOL_KINDS: Final = frozenset(get_args(SymbolKind))
EDGE_KINDS: Final = frozenset(get_args(EdgeKind))
VISIBILITIES: Final = frozenset(get_args(Visibility))
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
MAX_NAME_CHARS: Final = 500  # of repositories, languages and the like
MAX_PATH_CHARS: Final = 4096
MAX_TEXT_CHARS: Final = 100_000_000
MAX_LINES: Final = 10_000_000  # of a text that chunks alone tell of: its lines between them are made up


@dataclass(frozen=True, slots=True)
class Imported:
    """One document of the intermediate format. ``identity`` depends on all that is stored of it but its path."""

    repo: str
    commit: str
    skipped: Skipped | None  # when it is a file of secrets, which is not stored
    document: Document
    structure: ParsedDocument
    chunks: tuple[Chunk, ...]
    identity: str


def document_from_json(line: str, number: int) -> Imported:
    """Return the document of one line.

    Raises:
        UsageError: the line is not an object of the format; the message names line number and field.
    """
    try:
        item = json.loads(line)
        if not isinstance(item, dict):
            raise BadField("it is no JSON object")
        return _imported(Fields(item))
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise UsageError(
            f"line {number} is not a document of the intermediate format: {reason}; 'devmind export' shows the format",
            code="bad_document",
        ) from error


def _imported(item: Fields) -> Imported:
    meta = item.one("metadata")
    text = item.text("text", longest=MAX_TEXT_CHARS) if "text" in item.values else _text_of(item)
    document = _document(item, meta, mask_secrets(text))  # which moves no line
    lines = split_lines(document.text)
    n_symbols = len(item.values["symbols"]) if isinstance(item.values.get("symbols"), list) else 0
    symbols = tuple(_symbol(symbol, at, len(lines)) for at, symbol in enumerate(item.many("symbols")))
    edges = [edge for edge in item.many("edges") if edge.choice("kind", known=EDGE_KINDS) != "contains"]
    references = tuple(_reference(edge, n_symbols, len(lines)) for edge in edges)
    chunks = tuple(
        _chunk(chunk, at, n_symbols, lines)
        for at, chunk in enumerate(item.many("chunks", most=MAX_CHUNKS, required=True))
    )
    told = {field: item.values.get(field) for field in ("language", "chunks", "symbols", "edges")}
    return Imported(
        repo=_repo(item),
        commit=meta.text("commit_hash", "", longest=MAX_NAME_CHARS),
        skipped=skip_secret(document.path, text, document.size_bytes),
        document=document,
        structure=ParsedDocument(symbols, references),
        chunks=chunks,
        identity=stable_id(document.text, json.dumps(told, sort_keys=True)),
    )


def _document(item: Fields, meta: Fields, text: str) -> Document:
    language = item.text("language", longest=MAX_NAME_CHARS)
    return Document(
        path=_path(item),
        text=text,
        language=language,
        role=cast(Role, meta.choice("role", "source", known=ROLES)),
        content_hash=item.text("content_hash", "", longest=MAX_NAME_CHARS) or stable_id(language, text),
        encoding=meta.text("encoding", "utf-8", longest=MAX_NAME_CHARS),
        size_bytes=meta.whole("size_bytes", len(text), least=0),
        last_modified=meta.seconds("last_modified"),
    )


def _repo(item: Fields) -> str:
    name = item.text("repo_id", may_be_empty=False, longest=MAX_NAME_CHARS)
    if _CONTROL.search(name):
        raise BadField(f"repo_id is {name!a}: it must not hold control characters")
    return name


def _path(item: Fields) -> str:
    path = item.text("source_path", may_be_empty=False, longest=MAX_PATH_CHARS)
    if path.startswith(("/", "../")) or path in (".", "..") or posixpath.normpath(path) != path:
        raise BadField(f'source_path is {path!a}: it must be relative, without "." and ".." parts and double slashes')
    return path


def _symbol(item: Fields, at: int, n_lines: int) -> Symbol:
    start = item.whole("start_line", least=1, most=n_lines)
    return Symbol(
        name=_shown(item, "name"),
        qualified_name=_shown(item, "qualified_name"),
        kind=cast(SymbolKind, item.choice("kind", known=SYMBOL_KINDS)),
        start_line=start,
        end_line=item.whole("end_line", least=start, most=n_lines),
        doc_line=item.whole("doc_line", start, least=1, most=n_lines),
        signature=_shown(item, "signature", ""),
        docstring=_shown(item, "docstring", ""),
        visibility=cast(Visibility, item.choice("visibility", "public", known=VISIBILITIES)),
        parent=item.whole("parent", -1, least=-1, most=at - 1),
    )


def _reference(item: Fields, n_symbols: int, n_lines: int) -> Reference:
    return Reference(
        name=_shown(item, "target"),
        kind=cast(EdgeKind, item.values["kind"]),
        line=item.whole("line", least=1, most=n_lines),
        scope=item.whole("scope", -1, least=-1, most=n_symbols - 1),
        qualifier=_shown(item, "qualifier", ""),
        alias=_shown(item, "alias", ""),
    )


def _chunk(item: Fields, at: int, n_symbols: int, lines: list[str]) -> Chunk:
    start = item.whole("start_line", least=1, most=len(lines))
    end = item.whole("end_line", least=start, most=len(lines))
    return Chunk(
        start_line=start,
        end_line=end,
        content="\n".join(lines[start - 1 : end]),
        header=_shown(item, "header", ""),
        n_tokens=item.whole("n_tokens", 0, least=0),
        symbols=item.indexes("symbols", below=n_symbols),
        function_name=_shown(item, "function_name", ""),
        class_name=_shown(item, "class_name", ""),
        qualified_name=_shown(item, "qualified_name", ""),
        node_type=_shown(item, "node_type", "", longest=MAX_NAME_CHARS),
        parent=item.whole("parent", -1, least=-1, most=at - 1),
    )


def _shown(item: Fields, name: str, default: str | None = None, *, longest: int = MAX_TEXT_CHARS) -> str:
    """Return a string that people will see, its secrets masked."""
    return mask_secrets(item.text(name, default, longest=longest))


def _text_of(item: Fields) -> str:
    """Put a text together from chunks that cover its non-blank lines."""
    lines: dict[int, str] = {}
    for chunk in item.many("chunks", most=MAX_CHUNKS, required=True):
        start = chunk.whole("start_line", least=1, most=MAX_LINES)
        lines.update(enumerate(chunk.text("content", longest=MAX_TEXT_CHARS).split("\n"), start))
    return "\n".join(lines.get(n, "") for n in range(1, max(lines, default=0) + 1))
