"""Keys found by the legs → candidates: what the catalog knows of each visible chunk."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from devmind.index.catalog import ORDINAL_BITS, VISIBLE, Catalog


@dataclass(frozen=True, slots=True)
class Candidate:
    key: int
    repo_id: int
    path: str
    role: str
    content_id: int
    language: str
    start_line: int
    end_line: int
    header: str
    function_name: str
    class_name: str
    qualified_name: str
    node_type: str
    parent: int
    body_hash: str


def load(catalog: Catalog, keys: Iterable[int]) -> dict[int, Candidate]:
    """Return the candidates among ``keys`` that are visible at the active generations."""
    rows = catalog.rows(
        f"""SELECT j.value, p.repo_id, p.path, p.role, p.content_id, t.language, c.start_line, c.end_line, c.header,
          c.function_name, c.class_name, c.qualified_name, c.node_type, c.parent, c.hash
        FROM json_each(?) j JOIN place p ON p.place_id = j.value >> {ORDINAL_BITS}
        {VISIBLE}
        JOIN content t ON t.content_id = p.content_id
        JOIN chunk c ON c.content_id = p.content_id AND c.ordinal = j.value & {(1 << ORDINAL_BITS) - 1}""",
        (json.dumps(list(keys)),),
    )
    return {row[0]: Candidate(*row) for row in rows}


def defining(catalog: Catalog, name: str, repo_ids: set[int], limit: int = 50) -> list[tuple[int, bool]]:
    """Return (key, whether the qualified name matches too) of the chunks that define ``name``.

    ``name`` may be qualified (``Class.method``, ``ns::fn``): its last part is looked up,
    the rest must match as a suffix.
    """
    parts = [
        part
        for part in name.replace("::", ".").replace("->", ".").replace("#", ".").replace("\\", ".").split(".")
        if part
    ]
    if not parts:
        return []
    rows = catalog.rows(
        f"""SELECT p.place_id, p.repo_id, s.content_id, s.start_line, s.qualified_name, s.name
        FROM symbol s JOIN place p ON p.content_id = s.content_id
        {VISIBLE}
        WHERE s.name = ? AND s.kind NOT IN ('heading', 'key') LIMIT 400""",
        (parts[-1],),
    )
    found = []
    for place_id, repo_id, content_id, line, qualified, own in rows:
        if repo_ids and repo_id not in repo_ids:
            continue
        suffix = qualified.replace("::", ".").split(".")[-len(parts) :]
        exact = [part.lower() for part in suffix] == [part.lower() for part in parts]
        if len(parts) > 1 and not exact:
            continue
        at = catalog.rows(
            "SELECT ordinal FROM chunk WHERE content_id = ? AND start_line <= ? AND end_line >= ? "
            "ORDER BY start_line DESC LIMIT 1",
            (content_id, line, line),
        )
        if at:
            found.append(((place_id << ORDINAL_BITS) + at[0][0], own == parts[-1]))
    return found[:limit]
