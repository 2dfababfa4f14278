"""A name → its definitions and the relations that lead to and from it, as rows that front ends show."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict
from itertools import groupby
from typing import Any

from devmind.errors import UsageError
from devmind.index.catalog import VISIBLE, Catalog
from devmind.retrieve.definitions import definitions
from devmind.retrieve.graph import CALLS, Edge, callees, callers, path_between
from devmind.retrieve.resolve import Resolver

HERITAGE = ("inherits", "implements")
DIRECTIONS = ("callers", "callees", "imports", "inherits")
MAX_ENDS = 3  # definitions of a name that a chain of calls may begin or end at; each pair is a search of its own


def symbols(catalog: Catalog, name: str, *, repo: str | None, limit: int) -> list[dict[str, Any]]:
    """Return the definitions of ``name``, which may be qualified: ``Class.method``, ``ns::fn``, ``(*T).Method``."""
    active = catalog.active()
    return [
        {"repo": active[d.repo_id].name, "path": d.path, "name": d.name, "qualified_name": d.qualified_name,
         "kind": d.kind, "start_line": d.start_line, "end_line": d.end_line, "signature": d.signature,
         "docstring": d.docstring}
        for d in definitions(catalog, _plain(name), _repo_ids(catalog, repo))[:limit]
    ]  # fmt: skip


def edges(catalog: Catalog, direction: str, name: str, *, repo: str | None, limit: int) -> list[dict[str, Any]]:
    """Return edges: ``callers`` of a symbol, its ``callees``, ``imports`` of a path or name, ``inherits``.

    ``path`` and ``line`` of an edge say where the use is written, ``target_path`` where the target is defined
    (empty when that is outside the repository).

    Raises:
        UsageError: the direction or the repository is unknown.
    """
    if direction not in DIRECTIONS:
        raise UsageError(f"unknown relation '{direction}': use {', '.join(DIRECTIONS)}")
    repo_ids = _repo_ids(catalog, repo)
    if direction == "imports":
        return _imports(catalog, _sayable(name), repo_ids)[:limit]
    found: list[dict[str, Any]] = []
    active = catalog.active()
    kinds = HERITAGE if direction == "inherits" else CALLS
    for repo_id, group in groupby(definitions(catalog, _plain(name), repo_ids), lambda d: d.repo_id):
        resolver, targets = Resolver(catalog, repo_id), list(group)
        if direction != "callees":
            found += [_row(active[repo_id].name, edge) for edge in callers(resolver, targets, kinds)]
        if direction != "callers":
            found += [_row(active[repo_id].name, edge) for d in targets for edge in callees(resolver, d, kinds)]
    unique = {json.dumps(edge, sort_keys=True): edge for edge in found}
    return list(unique.values())[:limit]


def chain(catalog: Catalog, a: str, b: str, *, repo: str | None) -> list[dict[str, Any]]:
    """Return the edges of a shortest chain of calls from ``a`` to ``b``, with the places that ``edges`` gives."""
    for start in definitions(catalog, _plain(a), _repo_ids(catalog, repo))[:MAX_ENDS]:
        for goal in definitions(catalog, _plain(b), [start.repo_id])[:MAX_ENDS]:
            found = path_between(catalog, start, goal)
            if found:
                return [_row(catalog.active()[start.repo_id].name, edge) for edge in found]
    return []


def _imports(catalog: Catalog, name: str, repo_ids: Iterable[int]) -> list[dict[str, Any]]:
    """Return what the file ``name`` imports, and who imports the name or module ``name`` or a part of it."""
    rows = catalog.rows(
        f"""SELECT DISTINCT r.name, p.path, x.name, x.qualifier, x.line
        FROM reference x JOIN place p ON p.content_id = x.content_id
        {VISIBLE}
        WHERE x.kind = 'imports' AND (p.path = ?1 OR x.name = ?1 OR x.qualifier = ?1
          OR substr(x.qualifier, 1, length(?1) + 1) IN (?1 || '.', ?1 || '/', ?1 || '\\')
          OR substr(x.qualifier, 1, length(?1) + 2) = ?1 || '::')
        AND r.repo_id IN (SELECT value FROM json_each(?2)) ORDER BY r.name, p.path, x.line, x.name""",
        (name, json.dumps(list(repo_ids))),
    )
    return [
        {"repo": repo, "kind": "imports", "source": path,
         "target": f"{module}:{what}" if module and module != what else what,
         "path": path, "line": line, "target_path": "", "confidence": "exact"}
        for repo, path, what, module, line in rows
    ]  # fmt: skip


def _row(repo: str, edge: Edge) -> dict[str, Any]:
    return {"repo": repo, **asdict(edge)}


def _repo_ids(catalog: Catalog, repo: str | None) -> list[int]:
    return sorted(catalog.active()) if repo is None else [catalog.repository(repo).repo_id]


def _sayable(name: str) -> str:
    """Return ``name`` with what no store can hold (bytes that were not UTF-8, lone surrogates) as escapes."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _plain(name: str) -> str:
    """Return a name without what people write around it: back-ticks, ``()`` and Go's ``(*T)``."""
    return re.sub(r"\(\*?(\w*)\)", r"\1", _sayable(name).strip().strip("`"))
