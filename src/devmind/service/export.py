"""The visible documents → the intermediate format, a document at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from devmind.index.catalog import Catalog
from devmind.index.stored import stored_chunks, stored_references, stored_symbols
from devmind.types import stable_id


def documents(catalog: Catalog, repo: str | None) -> Iterator[dict[str, Any]]:
    """Yield the visible documents, by repository and path.

    Raises:
        UsageError: ``repo`` is unknown.
    """
    if repo is not None:
        catalog.repository(repo)
    for repo_id, active in sorted(catalog.active().items()):
        if repo in (None, active.name):
            for path, (_, content_id, role) in sorted(catalog.alive_places(repo_id, active.generation).items()):
                yield {
                    "document_id": f"{active.name}/{path}",
                    "source_path": path,
                    "repo_id": active.name,
                    **_content(catalog, content_id, repo=active.name, path=path, commit=active.commit, role=role),
                }


def _content(catalog: Catalog, content_id: int, *, repo: str, path: str, commit: str, role: str) -> dict[str, Any]:
    content_hash, language, encoding, size_bytes = catalog.rows(
        "SELECT hash, language, encoding, size_bytes FROM content WHERE content_id = ?", (content_id,)
    )[0]
    symbols = stored_symbols(catalog, content_id)
    return {
        "language": language,
        "content_hash": content_hash,
        "text": catalog.text(content_id),
        "chunks": [
            {"chunk_id": stable_id(repo, path, c.start_line, c.end_line),
             **{field: getattr(c, field) for field in type(c).__slots__}, "content_hash": stable_id(c.content)}
            for c in stored_chunks(catalog, content_id)
        ],
        "symbols": [{field: getattr(s, field) for field in type(s).__slots__} for s in symbols],
        "edges": _edges(catalog, content_id, path),
        "metadata": {"commit_hash": commit, "last_modified": None, "size_bytes": size_bytes, "encoding": encoding,
                     "role": role},
    }  # fmt: skip


def _edges(catalog: Catalog, content_id: int, path: str) -> list[dict[str, Any]]:
    """Return what contains what in a content, and its uses of names, which stay unresolved."""
    symbols = stored_symbols(catalog, content_id)
    contains = [
        {"source": symbols[s.parent].qualified_name, "target": s.qualified_name, "kind": "contains",
         "line": s.start_line, "confidence": "exact"}
        for s in symbols if 0 <= s.parent < len(symbols)
    ]  # fmt: skip
    uses = [
        {"source": symbols[r.scope].qualified_name if 0 <= r.scope < len(symbols) else path, "target": r.name,
         "kind": r.kind, "line": r.line, "confidence": "guess", "scope": r.scope, "qualifier": r.qualifier,
         "alias": r.alias}
        for r in stored_references(catalog, content_id)
    ]  # fmt: skip
    return contains + uses
