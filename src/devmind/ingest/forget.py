"""Places that nobody can see any more → gone from the lexical index and the catalog, with what only they held."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from devmind.index.catalog import Catalog
from devmind.index.lexical import LexicalWriter


def forget(kb: Path, catalog: Catalog, places: Sequence[int]) -> None:
    """Delete places from the lexical index and the catalog, and contents that no place holds any more.

    The lexical index comes first: killed in between, the catalog still names what is left to do.
    """
    if not places:
        return
    lexical = LexicalWriter(kb / "lexical")
    for place_id in places:
        lexical.delete_place(place_id)
    lexical.commit()
    lexical.close()
    with catalog.transaction():
        db = catalog.db
        db.executemany("DELETE FROM place WHERE place_id = ?", [(p,) for p in places])
        orphans = db.execute(
            "SELECT content_id FROM content WHERE content_id NOT IN (SELECT content_id FROM place)"
        ).fetchall()
        for table in ("chunk", "symbol", "reference", "content"):
            db.executemany(f"DELETE FROM {table} WHERE content_id = ?", orphans)
