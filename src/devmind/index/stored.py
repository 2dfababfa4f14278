"""A content's chunks, symbols and references: the rows that hold them in the catalog, and the way back.

Rows are plain tuples, so that a worker process can make them and the writer needs only to insert them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from devmind.index.catalog import Catalog
from devmind.index.fields import ChunkFields, chunk_fields
from devmind.types import Chunk, ParsedDocument, Reference, Symbol, split_lines, stable_id

Row = tuple[Any, ...]
Rows = tuple[list[Row], list[Row], list[Row]]  # of the tables chunk, symbol and reference, without the content's id


def rows_of(chunks: Sequence[Chunk], parsed: ParsedDocument, fields: Sequence[ChunkFields]) -> Rows:
    """Return the rows of a content; ``fields`` in the order of the chunks."""
    return (
        [
            (i, c.start_line, c.end_line, c.header, c.function_name, c.class_name, c.qualified_name, c.node_type,
             c.parent, c.n_tokens, json.dumps(c.symbols), stable_id(terms.body))
            for i, (c, terms) in enumerate(zip(chunks, fields, strict=True))
        ],
        [
            (i, s.name, s.qualified_name, s.kind, s.start_line, s.end_line, s.doc_line, s.signature, s.docstring,
             s.visibility, s.parent)
            for i, s in enumerate(parsed.symbols)
        ],
        [(r.name, r.kind, r.line, r.scope, r.qualifier, r.alias) for r in parsed.references],
    )  # fmt: skip


def insert_rows(catalog: Catalog, content_id: int, rows: Rows) -> None:
    """Insert the rows of a content; the caller holds the transaction."""
    for table, found in zip(("chunk", "symbol", "reference"), rows, strict=True):
        if found:
            marks = ",?" * len(found[0])
            catalog.db.executemany(f"INSERT INTO {table} VALUES (?{marks})", [(content_id, *row) for row in found])


def n_lexical(catalog: Catalog) -> int:
    """Return how many chunks the lexical index must hold at least: those of places that a kept generation shows."""
    rows = catalog.rows(
        """SELECT count(*) FROM place p JOIN chunk c ON c.content_id = p.content_id
        WHERE p.in_lexical = 1 AND p.place_id IN (SELECT place_id FROM alive)"""
    )
    return int(rows[0][0])


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


def stored_fields(catalog: Catalog, content_id: int) -> list[ChunkFields]:
    """Return the lexical fields of the chunks of a content, in order, made anew from what is stored of it."""
    symbols = stored_symbols(catalog, content_id)
    return [chunk_fields(chunk, symbols) for chunk in stored_chunks(catalog, content_id)]
