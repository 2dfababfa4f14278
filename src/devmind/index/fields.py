"""Chunk → lexical fields: what of a chunk is searched, and under which name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from devmind.index.terms import term_text
from devmind.types import Chunk, Symbol


class ChunkFields(NamedTuple):
    """The fields of a chunk except its path, each as terms joined by spaces. A tuple, for it crosses processes."""

    name: str
    qualified: str
    doc: str
    body: str


def chunk_fields(chunk: Chunk, symbols: Sequence[Symbol]) -> ChunkFields:
    """Return the fields of ``chunk``; ``symbols`` are those of its document."""
    names = [symbols[i].name for i in chunk.symbols] or [chunk.function_name]
    return ChunkFields(
        name=term_text("\n".join(names)),
        qualified=term_text(chunk.qualified_name),
        doc=term_text("\n".join([chunk.header, *(symbols[i].docstring for i in chunk.symbols)])),
        body=term_text(chunk.content),
    )


def path_field(path: str) -> str:
    """Return the terms of a path; the file's own name counts twice, its extension not at all."""
    folder, _, name = path.rpartition("/")
    stem = name.rsplit(".", 1)[0] or name
    return term_text(f"{folder} {stem} {stem}")
