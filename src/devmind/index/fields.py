"""Chunk → lexical fields: what of a chunk is searched, and under which name."""

from __future__ import annotations

from collections.abc import Sequence

from devmind.index.terms import term_text


def chunk_fields(
    *, content: str, header: str, qualified_name: str, names: Sequence[str], docs: Sequence[str]
) -> dict[str, str]:
    """Return the fields of a chunk except its path, each as terms joined by spaces."""
    return {
        "name": term_text("\n".join(names)),
        "qualified": term_text(qualified_name),
        "doc": term_text("\n".join([header, *docs])),
        "body": term_text(content),
    }


def path_field(path: str) -> str:
    """Return the terms of a path; the file's own name counts twice, its extension not at all."""
    folder, _, name = path.rpartition("/")
    stem = name.rsplit(".", 1)[0] or name
    return term_text(f"{folder} {stem} {stem}")
