"""A recall index that lost something → whole again, from the catalog alone; and the end of what a killed run left.

Runs before a writer does anything else, so that "remove it and run 'devmind sync'" is true of everything but the
catalog. It looks at sizes, checksums and counts, and does nothing when they are right (10 ms for 28,000 chunks).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from devmind.embed.types import Embedder
from devmind.errors import StoreError
from devmind.index.catalog import Catalog
from devmind.index.fields import path_field
from devmind.index.folders import clear
from devmind.index.lexical import LexicalReader, LexicalWriter, create_lexical
from devmind.index.snapshot import gather
from devmind.index.snapshot_folder import drop_foreign_snapshots, snapshot_fault, write_snapshot
from devmind.index.stored import n_lexical, stored_fields
from devmind.ingest.forget import forget

Tell = Callable[[str, int, int, int, int], None]


def mend(kb: Path, catalog: Catalog, embedder: Embedder, tell: Tell) -> None:
    """Make lexical index and snapshots hold what the catalog says, and no more repositories than it knows.

    Raises:
        StoreError: they cannot be written.
    """
    if _lexical_is_lost(kb / "lexical", catalog):
        _remake_lexical(kb / "lexical", catalog, tell)
    forget(kb, catalog, catalog.abandoned_places())
    drop_foreign_snapshots(kb / "vectors", {repo.repo_id for repo in catalog.repositories()})
    for repo_id, (_, generation, _) in sorted(catalog.active().items()):
        _mend_snapshot(kb / "vectors", catalog, repo_id, generation, embedder)


def _lexical_is_lost(folder: Path, catalog: Catalog) -> bool:
    try:
        return LexicalReader(folder).n_chunks < n_lexical(catalog)
    except StoreError as error:
        if error.code != "lexical":
            raise
        return True


def _remake_lexical(folder: Path, catalog: Catalog, tell: Tell) -> None:
    """Index the chunks of all places that a kept generation shows, in a folder that then takes the old one's place."""
    places = catalog.rows(
        "SELECT place_id, repo_id, path, content_id FROM place WHERE place_id IN (SELECT place_id FROM alive) "
        "ORDER BY place_id"
    )
    draft = folder.with_suffix(".tmp")
    create_lexical(draft)
    writer = LexicalWriter(draft)
    try:
        for done, (place_id, repo_id, path, content_id) in enumerate(places):
            writer.add(place_id, repo_id, path_field(path), stored_fields(catalog, content_id))
            tell("mend", done, len(places), 0, 0)
        writer.commit()
    finally:
        writer.close()
    # What no generation shows is not in the new index; said first, so that a kill in between loses nothing.
    with catalog.transaction():
        catalog.db.execute("UPDATE place SET in_lexical = 0 WHERE place_id NOT IN (SELECT place_id FROM alive)")
    try:
        clear(folder)
        draft.replace(folder)
    except OSError as error:
        raise StoreError(f"cannot put {draft} in the place of {folder}: {error}; run the same command again") from error
    with catalog.transaction():
        catalog.db.execute("UPDATE place SET in_lexical = 1 WHERE place_id IN (SELECT place_id FROM alive)")


def _mend_snapshot(folder: Path, catalog: Catalog, repo_id: int, generation: int, embedder: Embedder) -> None:
    try:
        if snapshot_fault(folder, catalog, repo_id, generation, embedder):
            write_snapshot(folder, catalog, repo_id, generation, gather(catalog, repo_id, generation, embedder))
    except StoreError as error:
        # The first is what the ingest that follows may be about to change; the second is no fault of the snapshot's.
        if error.code not in ("other_embedder", "damaged"):
            raise
