"""Chunks → what a hit, or a model that reads it, is told of them besides their lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from devmind.index.catalog import Catalog


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
