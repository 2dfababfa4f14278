"""Catalog rows → the values that were stored: symbols, references and chunks of a content."""

from __future__ import annotations

import json

from devmind.index.catalog import Catalog
from devmind.types import Chunk, Reference, Symbol, split_lines


def stored_symbols(catalog: Catalog, content_id: int) -> tuple[Symbol, ...]:
    rows = catalog.rows(
        "SELECT name, qualified_name, kind, start_line, end_line, doc_line, signature, docstring, visibility, parent "
        "FROM symbol WHERE content_id = ? ORDER BY ordinal",
        (content_id,),
    )
    return tuple(Symbol(*row) for row in rows)


def stored_references(catalog: Catalog, content_id: int) -> tuple[Reference, ...]:
    rows = catalog.rows(
        "SELECT name, kind, line, scope, qualifier, alias FROM reference WHERE content_id = ? ORDER BY line, name",
        (content_id,),
    )
    return tuple(Reference(*row) for row in rows)


def stored_chunks(catalog: Catalog, content_id: int) -> tuple[Chunk, ...]:
    lines = split_lines(catalog.text(content_id))
    rows = catalog.rows(
        "SELECT start_line, end_line, header, n_tokens, symbols, function_name, class_name, qualified_name, node_type, "
        "parent FROM chunk WHERE content_id = ? ORDER BY ordinal",
        (content_id,),
    )
    return tuple(
        Chunk(
            row[0], row[1], "\n".join(lines[row[0] - 1 : row[1]]), row[2], row[3], tuple(json.loads(row[4])), *row[5:]
        )
        for row in rows
    )
