"""One line of the intermediate format (JSON Lines, DESIGN §2) → the values that the index stores."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from devmind.errors import UsageError
from devmind.types import Chunk, Document, ParsedDocument, Reference, Symbol, split_lines, stable_id


@dataclass(frozen=True, slots=True)
class Imported:
    """One document of the intermediate format. ``identity`` depends on all that is stored of it but its path."""

    repo: str
    commit: str
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
        item: dict[str, Any] = json.loads(line)
        meta = item["metadata"]
        text = item["text"] if "text" in item else _text_of(item["chunks"])
        document = Document(
            path=item["source_path"],
            text=text,
            language=item["language"],
            role=meta.get("role", "source"),
            content_hash=item.get("content_hash") or stable_id(item["language"], text),
            encoding=meta.get("encoding", "utf-8"),
            size_bytes=meta.get("size_bytes", len(text)),
            last_modified=meta.get("last_modified"),
        )
        symbols = tuple(Symbol(**symbol) for symbol in item.get("symbols", ()))
        references = tuple(
            Reference(e["target"], e["kind"], e["line"], e.get("scope", -1), e.get("qualifier", ""), e.get("alias", ""))
            for e in item.get("edges", ())
            if e["kind"] != "contains"
        )
        lines = split_lines(text)
        chunks = tuple(_chunk(c, lines) for c in item["chunks"])
        told = {field: item.get(field) for field in ("language", "chunks", "symbols", "edges")}
        identity = stable_id(text, json.dumps(told, sort_keys=True))
        structure = ParsedDocument(symbols, references)
        return Imported(item["repo_id"], meta.get("commit_hash", ""), document, structure, chunks, identity)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(
            f"line {number} is not a document of the intermediate format: {type(error).__name__} {error}; "
            "'devmind export' shows the format",
            code="bad_document",
        ) from error


def _chunk(item: dict[str, Any], lines: list[str]) -> Chunk:
    start, end = int(item["start_line"]), int(item["end_line"])
    if not 1 <= start <= end <= len(lines):
        raise ValueError(f"chunk lines {start}-{end} of {len(lines)}")
    return Chunk(
        start_line=start,
        end_line=end,
        content="\n".join(lines[start - 1 : end]),
        header=item.get("header", ""),
        n_tokens=int(item.get("n_tokens", 0)),
        symbols=tuple(item.get("symbols", ())),
        function_name=item.get("function_name") or "",
        class_name=item.get("class_name") or "",
        qualified_name=item.get("qualified_name") or "",
        node_type=item.get("node_type") or "",
        parent=int(item.get("parent", -1)),
    )


def _text_of(chunks: list[dict[str, Any]]) -> str:
    """Put a text together from chunks that cover its non-blank lines."""
    lines: dict[int, str] = {}
    for chunk in chunks:
        lines.update(enumerate(chunk["content"].split("\n"), int(chunk["start_line"])))
    return "\n".join(lines.get(n, "") for n in range(1, max(lines, default=0) + 1))
