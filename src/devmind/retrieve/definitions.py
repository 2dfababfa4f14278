"""Visible definitions of a name, as a person or the resolution of references asks for them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from devmind.index.catalog import VISIBLE, Catalog


@dataclass(frozen=True, slots=True)
class Definition:
    repo_id: int
    path: str
    content_id: int
    ordinal: int
    name: str
    qualified_name: str
    kind: str
    start_line: int
    end_line: int
    signature: str
    docstring: str
    parent: int
    language: str
    role: str

    @property
    def owner(self) -> str:
        """Return the qualified name without the name itself, its parts joined by dots; empty for none."""
        return dotted(self.qualified_name)[: -len(self.name)].rstrip(".") if self.qualified_name != self.name else ""


def dotted(name: str) -> str:
    """Return a qualified name of any language with dots between its parts."""
    return name.replace("::", ".").replace("\\", ".").replace("->", ".").replace("#", ".")


def named(catalog: Catalog, name: str, repo_ids: Iterable[int]) -> list[Definition]:
    """Return the visible definitions whose bare name is ``name`` in any case, headings left out, by path and line."""
    rows = catalog.rows(
        f"""SELECT p.repo_id, p.path, s.content_id, s.ordinal, s.name, s.qualified_name, s.kind, s.start_line,
          s.end_line, s.signature, s.docstring, s.parent, t.language, p.role
        FROM symbol s JOIN place p ON p.content_id = s.content_id {VISIBLE}
        JOIN content t ON t.content_id = s.content_id
        WHERE s.name = ? AND s.kind != 'heading' AND r.repo_id IN (SELECT value FROM json_each(?))""",
        (name, json.dumps(list(repo_ids))),
    )
    return sorted((Definition(*row) for row in rows), key=lambda d: (d.repo_id, d.path, d.start_line, d.ordinal))


def definitions(catalog: Catalog, name: str, repo_ids: Iterable[int]) -> list[Definition]:
    """Return the visible definitions of ``name`` (or ``Owner.name``), same case first, then by path."""
    parts = [part for part in dotted(name).split(".") if part]
    if not parts:
        return []
    suffix = [part.lower() for part in parts]
    found = [
        d
        for d in named(catalog, parts[-1], repo_ids)
        if len(parts) == 1 or dotted(d.qualified_name).lower().split(".")[-len(parts) :] == suffix
    ]
    return sorted(found, key=lambda d: d.name != parts[-1])
