"""Hits → hits that say whether their lines still stand in the files on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from devmind.index.catalog import ALIVE, Catalog
from devmind.types import Hit, split_lines

MASK = "***"  # what stands for a secret in indexed text


def with_freshness(catalog: Catalog, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Mark the hits whose lines no longer stand in the file on disk; a fixed ref or a bare repository stays."""
    read = _read(catalog, hits)
    there = {folder for folder in {folder for folder, _, _ in read.values()} if Path(folder).is_dir()}
    return tuple(
        hit if found is None or found[0] not in there or _is_fresh(hit, *found) else replace(hit, fresh=False)
        for hit, found in zip(hits, map(read.get, range(len(hits))), strict=True)
    )


def _read(catalog: Catalog, hits: Sequence[Hit]) -> dict[int, tuple[str, float, str]]:
    """Return (folder, when the file was last modified, encoding) by the place of each hit that a folder holds."""
    rows = catalog.rows(
        f"""SELECT j.key, r.source, p.last_modified, t.encoding FROM json_each(?) j
        JOIN repository r ON r.name = json_extract(j.value, '$[0]') AND r.source <> '' AND coalesce(r.ref, '') = ''
        JOIN place p ON p.repo_id = r.repo_id AND p.path = json_extract(j.value, '$[1]')
        JOIN alive a ON a.place_id = p.place_id AND {ALIVE} JOIN content t ON t.content_id = p.content_id
        WHERE p.last_modified IS NOT NULL""",
        (json.dumps([(hit.repo, hit.path) for hit in hits], ensure_ascii=False),),
    )
    return {row[0]: row[1:] for row in rows}


def _is_fresh(hit: Hit, folder: str, last_modified: float, encoding: str) -> bool:
    path = f"{folder}/{hit.path}"
    try:
        if os.stat(path).st_mtime == last_modified:  # noqa: PTH116 (to make a `Path` takes ten times as long)
            return True
        now = split_lines(Path(path).read_bytes().decode(encoding, "replace"))[hit.start_line - 1 : hit.end_line]
    except OSError:
        return False
    then = hit.content.split("\n")
    return len(now) == len(then) and all(map(_is_same_line, then, now))


def _is_same_line(indexed: str, now: str) -> bool:
    """Return whether a line on disk is the indexed one, whose secrets are masked and whose byte order mark is gone."""
    head, mask, rest = indexed.lstrip("\ufeff").partition(MASK)
    now = now.lstrip("\ufeff")
    return now.startswith(head) and now.endswith(rest.rpartition(MASK)[2]) if mask else now == head
