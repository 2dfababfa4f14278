"""What the catalog is asked while candidates are found and shown: definitions of a name, and the words of a chunk."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from devmind.index.catalog import ORDINAL_BITS, VISIBLE, Catalog
from devmind.retrieve.definitions import dotted

MAX_DEFINITIONS = 400  # rows of the catalog; a name with more says little


@dataclass(frozen=True, slots=True)
class Words:
    """What a hit tells of its chunk besides the lines."""

    header: str
    qualified_name: str
    node_type: str


def words_of(catalog: Catalog, chunks: Iterable[tuple[int, int]]) -> list[Words]:
    """Return the words of the chunks (content id, ordinal), in order."""
    wanted = list(chunks)
    rows = catalog.rows(
        """SELECT j.key, c.header, c.qualified_name, c.node_type FROM json_each(?) j
        JOIN chunk c ON c.content_id = json_extract(j.value, '$[0]') AND c.ordinal = json_extract(j.value, '$[1]')""",
        (json.dumps(wanted),),
    )
    found = {row[0]: Words(*row[1:]) for row in rows}
    return [found[i] for i in range(len(wanted))]


def defining(catalog: Catalog, name: str, repo_ids: Collection[int], limit: int = 50) -> list[tuple[int, bool]]:
    """Return (key, whether the case matches too) of the chunks that define ``name``.

    ``name`` may be qualified (``Class.method``, ``ns::fn``): its last part is looked up,
    the rest must match as a suffix.
    """
    parts = [part for part in dotted(name).split(".") if part]
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
        suffix = qualified.replace("::", ".").split(".")[-len(parts) :]
        exact = [part.lower() for part in suffix] == [part.lower() for part in parts]
        if len(parts) == 1 or exact:
            found.append(((place_id << ORDINAL_BITS) + ordinal, own == parts[-1]))
    return found[:limit]
