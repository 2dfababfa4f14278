"""Whether catalog, lexical index and vectors agree, and what to do when they do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from devmind.errors import StoreError
from devmind.index.catalog import ALIVE
from devmind.index.lexical import LexicalReader
from devmind.index.snapshot_folder import snapshot_fault
from devmind.index.stored import n_lexical
from devmind.retrieve import Retriever
from devmind.retrieve.published import Published
from devmind.service.state import report

REBUILD = "restore it from a copy, or index its repositories again into another --kb folder"
REMAKE = "run 'devmind sync', which makes it again"


def checks(kb: Path, retriever: Retriever) -> list[dict[str, Any]]:
    """Return a row a check: what was found, and what to do.

    Cost: reads the whole catalog and all vectors.
    """
    published = retriever.published
    catalog = published.catalog
    try:
        damage = catalog.rows("PRAGMA quick_check")[0][0]
        found = [{"check": "catalog file", "ok": damage == "ok", "detail": damage}, _check_lexical(kb, published)]
    except StoreError as error:
        return [{"check": "catalog file", "ok": False, "detail": f"{error.__cause__ or error}; {REBUILD}"}]
    for repo_id, active in sorted(catalog.active().items()):
        found.append(
            {"check": f"vectors of {active.name}", **_check_vectors(kb, published, repo_id, active.generation)}
        )
    return [*found, {"check": "ranking weights", **_check_weights(retriever)}]


def _check_weights(retriever: Retriever) -> dict[str, Any]:
    try:
        return {"ok": True, "detail": retriever.weights.told}
    except StoreError as error:
        return {"ok": False, "detail": str(error)}


def _check_vectors(kb: Path, published: Published, repo_id: int, generation: int) -> dict[str, Any]:
    folder, catalog = kb / "vectors", published.catalog
    try:
        fault = snapshot_fault(folder, catalog, repo_id, generation, published.embedder, thorough=True)
        n_vectors = len(published.snapshot(repo_id, generation).keys)
    except StoreError as error:
        return {"ok": False, "detail": str(error)}
    n_chunks = report(catalog, repo_id, generation).get("n_chunks", 0)
    told = f"generation {generation}: {n_vectors} vectors, {n_chunks} chunks"
    if fault:
        told += f"; {fault}: remove {folder / f'{repo_id}-{generation}'} and {REMAKE}"
    return {"ok": n_vectors == n_chunks and not fault, "detail": told}


def _check_lexical(kb: Path, published: Published) -> dict[str, Any]:
    missing = published.catalog.rows(
        f"""SELECT count(*) FROM repository r JOIN alive a ON a.repo_id = r.repo_id AND {ALIVE}
        JOIN place p ON p.place_id = a.place_id WHERE p.in_lexical = 0"""
    )[0][0]
    # at least: a running or interrupted ingest may have put more into it than the catalog says
    expected = n_lexical(published.catalog)
    try:
        held = LexicalReader(kb / "lexical").n_chunks
    except StoreError as error:
        return {"check": "lexical index", "ok": False, "detail": str(error)}
    lost = f"; it holds {held} of {expected} chunks: {REMAKE}" if held < expected else ""
    return {
        "check": "lexical index",
        "ok": missing == 0 and not lost,
        "detail": f"{missing} visible files not in it{lost}",
    }
