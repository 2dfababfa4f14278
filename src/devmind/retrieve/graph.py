"""Relations between symbols, resolved when asked at the active generation.

Nothing resolved is stored, so an edge can never point at what the published generation does not hold.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from devmind.index.catalog import VISIBLE, Catalog
from devmind.retrieve.code import Use
from devmind.retrieve.definitions import Definition
from devmind.retrieve.resolve import Resolver
from devmind.types import Confidence

CALLS = ("calls",)
MAX_REACHED = 2000  # definitions that a search for a chain of calls looks at


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation from ``source`` to ``target``, both qualified names.

    Attributes:
        kind: of the reference, such as ``calls``.
        source: the file's path for code outside of any definition.
        target: a bare name when it is defined outside the repository.
        path: of the file in which the use is written.
        line: of the use, from 1.
        target_path: of the file in which the target is defined; empty outside the repository.
    """

    kind: str
    source: str
    target: str
    path: str
    line: int
    target_path: str
    confidence: Confidence


def callers(resolver: Resolver, targets: Sequence[Definition], kinds: tuple[str, ...] = CALLS) -> list[Edge]:
    """Return the edges that lead to each of ``targets``, definitions of the resolver's repository, in their order."""
    found: dict[str, list[tuple[Use, str, tuple[Definition, ...], Confidence]]] = {}
    for name in {target.name for target in targets}:
        uses = _uses_of(resolver.code.catalog, resolver.code.repo_id, name, kinds)
        found[name] = [(use, source, *resolver.resolve(use)) for use, source in uses]
    edges = []
    for target in targets:
        overridden = resolver.overridden(target)
        for use, source, meant, confidence in found[target.name]:
            if sure := _leads_to(meant, confidence, target, overridden):
                edges.append(
                    Edge(
                        kind=use.kind,
                        source=source or use.path,
                        target=target.qualified_name,
                        path=use.path,
                        line=use.line,
                        target_path=target.path,
                        confidence=sure,
                    )
                )
    return edges


def _uses_of(catalog: Catalog, repo_id: int, name: str, kinds: tuple[str, ...]) -> list[tuple[Use, str]]:
    """Return the references by a name, or by what an import calls it, with the names of their scopes."""
    rows = catalog.rows(
        f"""SELECT x.name, x.kind, x.line, x.qualifier, p.path, p.content_id, x.scope, s.qualified_name
        FROM reference x JOIN place p ON p.content_id = x.content_id {VISIBLE}
        LEFT JOIN symbol s ON s.content_id = x.content_id AND s.ordinal = x.scope
        WHERE (x.name = ?1 OR (x.name, x.content_id) IN (
            SELECT i.alias, i.content_id FROM reference i WHERE i.name = ?1 AND i.kind = 'imports' AND i.alias != ''))
          AND r.repo_id = ?2 AND x.kind IN (SELECT value FROM json_each(?3))
        ORDER BY p.path, x.line""",
        (name, repo_id, json.dumps(kinds)),
    )
    return [
        (
            Use(name=written, kind=kind, line=line, qualifier=before, path=path, content_id=content_id, scope=scope),
            source,
        )
        for written, kind, line, before, path, content_id, scope, source in rows
    ]


def _leads_to(
    meant: Sequence[Definition], confidence: Confidence, target: Definition, overridden: Sequence[Definition]
) -> Confidence | None:
    if any(_same(found, target) for found in meant):
        return confidence
    return "guess" if any(_same(found, base) for found in meant for base in overridden) else None


def _same(a: Definition, b: Definition) -> bool:
    """Return whether two definitions are one to a caller: overloads, or a class and its constructor, are."""
    constructs = a.name == b.name and f"{a.qualified_name}.{a.name}" == b.qualified_name
    return a.path == b.path and (a.qualified_name == b.qualified_name or constructs)


def callees(resolver: Resolver, source: Definition, kinds: tuple[str, ...] = CALLS) -> list[Edge]:
    """Return the edges that lead from ``source``; a target outside the repository keeps its bare name."""
    return [edge for edge, _ in _out(resolver, source, kinds)]


def _out(
    resolver: Resolver, source: Definition, kinds: tuple[str, ...] = CALLS
) -> list[tuple[Edge, Definition | None]]:
    """Return the edges from ``source`` with their targets."""
    marks = ",".join("?" * len(kinds))
    rows = resolver.code.catalog.rows(
        f"SELECT DISTINCT name, kind, line, qualifier, scope FROM reference WHERE content_id = ? AND kind IN ({marks}) "
        "AND line BETWEEN ? AND ? ORDER BY line, name",
        (source.content_id, *kinds, source.start_line, source.end_line),
    )
    edges = []
    for name, kind, line, qualifier, scope in rows:
        use = Use(name=name, kind=kind, line=line, qualifier=qualifier, path=source.path, content_id=source.content_id,
                  scope=scope)  # fmt: skip
        targets, confidence = resolver.resolve(use)
        target = targets[0] if targets else None
        edge = Edge(
            kind=kind,
            source=source.qualified_name,
            target=target.qualified_name if target else name,
            path=source.path,
            line=line,
            target_path=target.path if target else "",
            confidence=confidence,
        )
        edges.append((edge, target))
    return edges


def path_between(catalog: Catalog, start: Definition, goal: Definition, max_hops: int = 6) -> list[Edge]:
    """Return the edges of a shortest chain of calls from ``start`` to ``goal``; empty when there is none."""
    resolver = Resolver(catalog, start.repo_id)
    queue: deque[tuple[Definition, list[Edge]]] = deque([(start, [])])
    seen = {(start.path, start.qualified_name)}
    while queue:
        at, trail = queue.popleft()
        if len(trail) >= max_hops or len(seen) > MAX_REACHED:
            continue
        for edge, target in _out(resolver, at):
            if target is None:
                continue
            if _same(target, goal):
                return [*trail, edge]
            if (target.path, target.qualified_name) not in seen:
                seen.add((target.path, target.qualified_name))
                queue.append((target, [*trail, edge]))
    return []
