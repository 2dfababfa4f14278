"""Relations between symbols, resolved when asked at the active generation.

A reference is resolved by scope, then the file's imports, then the unique name in the repository; what stays ambiguous
is a ``guess``. Nothing resolved is stored, so an edge can never point at what the published generation does not hold.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from devmind.index.catalog import VISIBLE, Catalog

MAX_GUESSES = 4  # more candidates than this say nothing


@dataclass(frozen=True, slots=True)
class Definition:
    repo_id: int
    path: str
    content_id: int
    ordinal: int
    name: str
    qualified_name: str
    kind: str
    start_line: int
    end_line: int
    signature: str
    docstring: str
    parent: int


def definitions(catalog: Catalog, name: str, repo_ids: Iterable[int]) -> list[Definition]:
    """Return the visible definitions of ``name`` (or ``Owner.name``), same case first, then by path."""
    parts = [part for part in name.replace("::", ".").replace("#", ".").replace("->", ".").split(".") if part]
    if not parts:
        return []
    rows = catalog.rows(
        f"""SELECT p.repo_id, p.path, s.content_id, s.ordinal, s.name, s.qualified_name, s.kind, s.start_line,
          s.end_line, s.signature, s.docstring, s.parent
        FROM symbol s JOIN place p ON p.content_id = s.content_id {VISIBLE}
        WHERE s.name = ? AND s.kind != 'heading' AND r.repo_id IN (SELECT value FROM json_each(?))""",
        (parts[-1], json.dumps(list(repo_ids))),
    )
    found = [Definition(*row) for row in rows]
    if len(parts) > 1:
        suffix = [part.lower() for part in parts]
        found = [d for d in found if d.qualified_name.replace("::", ".").lower().split(".")[-len(parts) :] == suffix]
    return sorted(found, key=lambda d: (d.name != parts[-1], d.repo_id, d.path, d.start_line))


def callers(catalog: Catalog, target: Definition, kinds: tuple[str, ...] = ("calls",)) -> list[dict[str, Any]]:
    """Return the edges that lead to ``target``, each with its confidence."""
    marks = ",".join("?" * len(kinds))
    rows = catalog.rows(
        f"""SELECT p.path, x.kind, x.line, x.qualifier, s.qualified_name, p.content_id
        FROM reference x JOIN place p ON p.content_id = x.content_id {VISIBLE}
        LEFT JOIN symbol s ON s.content_id = x.content_id AND s.ordinal = x.scope
        WHERE x.name = ? AND x.kind IN ({marks}) AND r.repo_id = ? ORDER BY p.path, x.line""",
        (target.name, *kinds, target.repo_id),
    )
    n_rivals = len(definitions(catalog, target.name, [target.repo_id]))
    imports_of = _imports(catalog)
    edges = []
    for path, kind, line, qualifier, source, content_id in rows:
        confidence = _confidence(imports_of, target, path, content_id, qualifier, source or "", n_rivals)
        if confidence:
            edges.append(
                {"kind": kind, "source": source or path, "target": target.qualified_name, "path": path, "line": line,
                 "confidence": confidence}
            )  # fmt: skip
    return edges


ImportsOf = Callable[[int], list[tuple[Any, ...]]]


def _imports(catalog: Catalog) -> ImportsOf:
    """Return a look-up of the (name, module) pairs that a content imports, which reads each content once."""

    @cache
    def imports_of(content_id: int) -> list[tuple[Any, ...]]:
        return catalog.rows(
            "SELECT name, qualifier FROM reference WHERE content_id = ? AND kind = 'imports'", (content_id,)
        )

    return imports_of


def _confidence(
    imports_of: ImportsOf, target: Definition, path: str, content_id: int, qualifier: str, source: str, n_rivals: int
) -> str:
    """Return how sure it is that a use in ``path`` means ``target``; empty when it is known to mean another."""
    owner = target.qualified_name.replace("::", ".").rpartition(".")[0].rpartition(".")[2]
    receiver = qualifier.replace("::", ".").rpartition(".")[2]
    if path == target.path:
        if receiver in ("self", "this", "cls", "super") and owner and owner not in source:
            return "guess" if n_rivals > 1 else "scoped"
        return "exact" if n_rivals == 1 or receiver in ("", "self", "this", "cls", owner) else "scoped"
    if receiver and receiver == owner:
        return "scoped"
    stem = target.path.rpartition("/")[2].rsplit(".", 1)[0]
    folder = target.path.rpartition("/")[0].rpartition("/")[2]
    for name, module in imports_of(content_id):
        tail = module.replace("\\", "/").replace("::", "/").replace(".", "/").rstrip("/").rpartition("/")[2]
        if name in (target.name, owner) or (tail and tail in (stem, folder)):
            return "scoped" if n_rivals > 1 else "exact"
    if n_rivals == 1:
        return "scoped"
    return "guess" if n_rivals <= MAX_GUESSES else ""


def callees(catalog: Catalog, source: Definition, kinds: tuple[str, ...] = ("calls",)) -> list[dict[str, Any]]:
    """Return the edges that lead from ``source``; a target outside the repository keeps its bare name."""
    marks = ",".join("?" * len(kinds))
    rows = catalog.rows(
        f"SELECT DISTINCT name, kind, line, qualifier FROM reference WHERE content_id = ? AND kind IN ({marks}) "
        "AND line BETWEEN ? AND ? ORDER BY line, name",
        (source.content_id, *kinds, source.start_line, source.end_line),
    )
    edges = []
    for name, kind, line, qualifier in rows:
        target, confidence = resolve(catalog, source, name, qualifier)
        edges.append(
            {"kind": kind, "source": source.qualified_name, "target": target.qualified_name if target else name,
             "path": target.path if target else "", "line": line, "confidence": confidence}
        )  # fmt: skip
    return edges


def resolve(catalog: Catalog, source: Definition, name: str, qualifier: str) -> tuple[Definition | None, str]:
    """Return the definition that ``name`` means inside ``source``, and the confidence."""
    rivals = definitions(catalog, name, [source.repo_id])
    imports_of = _imports(catalog)
    ranked = []
    for rival in rivals:
        sure = _confidence(
            imports_of, rival, source.path, source.content_id, qualifier, source.qualified_name, len(rivals)
        )
        if sure:
            ranked.append(
                (("exact", "scoped", "guess").index(sure), rival.path != source.path, rival.path, rival, sure)
            )
    if not ranked:
        return None, "guess"
    best = min(ranked, key=lambda item: item[:3])
    return best[3], best[4]


def path_between(catalog: Catalog, start: Definition, goal: Definition, max_hops: int = 6) -> list[dict[str, Any]]:
    """Return the edges of a shortest chain of calls from ``start`` to ``goal``; empty when there is none."""
    queue: deque[tuple[Definition, list[dict[str, Any]]]] = deque([(start, [])])
    seen = {(start.path, start.qualified_name)}
    while queue:
        at, trail = queue.popleft()
        if len(trail) >= max_hops or len(seen) > 2000:
            continue
        for edge in callees(catalog, at):
            nexts = [d for d in definitions(catalog, edge["target"], [at.repo_id]) if d.path == edge["path"]][:1]
            for following in nexts:
                if (following.path, following.qualified_name) == (goal.path, goal.qualified_name):
                    return [*trail, edge]
                if (following.path, following.qualified_name) not in seen:
                    seen.add((following.path, following.qualified_name))
                    queue.append((following, [*trail, edge]))
    return []
