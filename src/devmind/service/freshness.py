"""Hits → hits that say whether their lines still stand in the files on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from devmind.index.catalog import ALIVE, Catalog
from devmind.types import Hit, split_lines

MASK = "***"  # what stands for a secret in indexed text


def with_freshness(catalog: Catalog, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Mark the hits whose lines no longer stand in the file on disk; a fixed ref or a bare repository stays."""
    folders = {r.name: Path(r.source) for r in catalog.repositories() if r.source and not r.ref}
    return tuple(
        hit if hit.repo not in folders or _is_fresh(catalog, folders[hit.repo], hit) else replace(hit, fresh=False)
        for hit in hits
    )


def _is_fresh(catalog: Catalog, folder: Path, hit: Hit) -> bool:
    rows = catalog.rows(
        f"""SELECT p.last_modified, t.encoding FROM repository r
        JOIN place p ON p.repo_id = r.repo_id AND p.path = ? JOIN alive a ON a.place_id = p.place_id AND {ALIVE}
        JOIN content t ON t.content_id = p.content_id WHERE r.name = ?""",
        (hit.path, hit.repo),
    )
    if not rows or rows[0][0] is None or not folder.is_dir():  # read from a commit, or the folder is not here
        return True
    last_modified, encoding = rows[0]
    path = folder / hit.path
    try:
        if path.stat().st_mtime == last_modified:
            return True
        now = split_lines(path.read_bytes().decode(encoding, "replace"))[hit.start_line - 1 : hit.end_line]
    except OSError:
        return False
    then = hit.content.split("\n")
    return len(now) == len(then) and all(map(_is_same_line, then, now))


def _is_same_line(indexed: str, now: str) -> bool:
    """Return whether a line on disk is the indexed one, whose secrets are masked and whose byte order mark is gone."""
    head, mask, rest = indexed.lstrip("\ufeff").partition(MASK)
    now = now.lstrip("\ufeff")
    return now.startswith(head) and now.endswith(rest.rpartition(MASK)[2]) if mask else now == head
