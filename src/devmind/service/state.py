"""What is published: repositories, their files, their generations."""

from __future__ import annotations

import json
from typing import Any

from devmind.index.catalog import ALIVE, Catalog, Repository


def status(catalog: Catalog, repo: str | None, *, ranking: str) -> list[dict[str, Any]]:
    """Return each repository with the report of its active generation, by name.

    Args:
        ranking: which weights searches use.
    """
    repositories = catalog.repositories() if repo is None else [catalog.repository(repo)]
    return [
        {"repo": r.name, "source": r.source, "kind": r.kind, "ref": r.ref, "generation": r.active_generation,
         **report(catalog, r.repo_id, r.active_generation), "ranking": ranking}
        for r in repositories
    ]  # fmt: skip


def report(catalog: Catalog, repo_id: int, generation: int) -> dict[str, Any]:
    """Return what the ingest of a generation reported, and when it was published."""
    rows = catalog.rows(
        "SELECT report, created_at FROM generation WHERE repo_id = ? AND number = ?", (repo_id, generation)
    )
    return {**json.loads(rows[0][0]), "published_at": rows[0][1]} if rows else {"n_indexed": 0}


def files(catalog: Catalog, repo: str, *, skipped: bool) -> list[dict[str, Any]]:
    """Return the files of a repository by path, or those alone that were ``skipped``, each with its reason."""
    r = catalog.repository(repo)
    skips = _skips(catalog, r)
    return skips if skipped else sorted([*_indexed(catalog, r), *skips], key=lambda item: item["path"])


def _skips(catalog: Catalog, r: Repository) -> list[dict[str, Any]]:
    return [
        {"path": path, "status": "skipped", "reason": reason, "detail": detail, "size_bytes": size}
        for path, reason, detail, size in catalog.rows(
            "SELECT path, reason, detail, size_bytes FROM skip WHERE repo_id = ? AND generation = ? ORDER BY path",
            (r.repo_id, r.active_generation),
        )
    ]


def _indexed(catalog: Catalog, r: Repository) -> list[dict[str, Any]]:
    rows = catalog.rows(
        f"""SELECT p.path, t.language, p.role, t.size_bytes, t.n_lines, t.encoding, t.has_errors FROM repository r
        JOIN alive a ON a.repo_id = r.repo_id AND {ALIVE} JOIN place p ON p.place_id = a.place_id
        JOIN content t ON t.content_id = p.content_id WHERE r.repo_id = ? ORDER BY p.path""",
        (r.repo_id,),
    )
    return [
        {"path": path, "status": "indexed", "reason": "", "detail": "syntax errors" if has_errors else "",
         "language": language, "role": role, "size_bytes": size, "n_lines": n_lines, "encoding": encoding}
        for path, language, role, size, n_lines, encoding, has_errors in rows
    ]  # fmt: skip


def generations(catalog: Catalog, repo: str) -> list[dict[str, Any]]:
    """Return the kept generations of a repository, the newest first."""
    r = catalog.repository(repo)
    rows = catalog.rows(
        "SELECT number, commit_hash, created_at, report FROM generation WHERE repo_id = ? ORDER BY number DESC",
        (r.repo_id,),
    )
    told = [(number, commit, created_at, json.loads(text)) for number, commit, created_at, text in rows]
    return [
        {"generation": number, "active": number == r.active_generation, "commit": commit, "published_at": created_at,
         "n_indexed": counts["n_indexed"], "n_chunks": counts["n_chunks"]}
        for number, commit, created_at, counts in told
    ]  # fmt: skip
