"""A name → its visible definitions, as a person, the resolution of references or a search asks for them.

A name may be qualified (``Class.method``, ``ns::fn``): its last part is looked up, the rest must match as a suffix.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from devmind.index.catalog import ORDINAL_BITS, VISIBLE, Catalog

MAX_DEFINITIONS = 400  # rows of the catalog; a name with more says little


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


def parts_of(name: str) -> list[str]:
    """Return the parts of a qualified name; none for separators alone."""
    return [part for part in dotted(name).split(".") if part]


def _is_end_of(parts: Sequence[str], qualified: str) -> bool:
    """Return whether ``parts`` are, in any case, the last ones of a qualified name."""
    return dotted(qualified).lower().split(".")[-len(parts) :] == [part.lower() for part in parts]


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
    parts = parts_of(name)
    if not parts:
        return []
    found = [d for d in named(catalog, parts[-1], repo_ids) if len(parts) == 1 or _is_end_of(parts, d.qualified_name)]
    return sorted(found, key=lambda d: d.name != parts[-1])


def defining(catalog: Catalog, name: str, repo_ids: Collection[int], limit: int = 50) -> list[tuple[int, bool]]:
    """Return (key, whether the case matches too) of the chunks that define ``name``; a key of data is no name."""
    parts = parts_of(name)
    if not parts:
        return []
    rows = catalog.rows(
        f"""SELECT p.place_id, p.repo_id, s.qualified_name, s.name,
          (SELECT max(c.ordinal) FROM chunk c
           WHERE c.content_id = s.content_id AND c.start_line <= s.start_line AND c.end_line >= s.start_line)
        FROM symbol s JOIN place p ON p.content_id = s.content_id
        {VISIBLE}
        WHERE s.name = ? AND s.kind NOT IN ('heading', 'key') LIMIT {MAX_DEFINITIONS}""",
        (parts[-1],),
    )
    found = []
    for place_id, repo_id, qualified, own, ordinal in rows:
        if ordinal is None or repo_id not in repo_ids:
            continue
        if len(parts) == 1 or _is_end_of(parts, qualified):
            found.append(((place_id << ORDINAL_BITS) + ordinal, own == parts[-1]))
    return found[:limit]
