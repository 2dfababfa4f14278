"""The read path's composition root: one object that front ends ask.

It reads published generations only and never writes to the knowledge base.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from devmind.answer.extractive import compose
from devmind.embed.static import built_in
from devmind.embed.types import Embedder
from devmind.errors import UsageError
from devmind.index.catalog import ALIVE, VISIBLE
from devmind.index.stored import stored_chunks, stored_references, stored_symbols
from devmind.retrieve import CACHE_SECONDS, Retriever
from devmind.retrieve.graph import callees, callers, definitions, path_between
from devmind.settings import Settings
from devmind.types import Answer, Filters, SearchResult, stable_id

NO_FILTERS = Filters()


class Service:
    """Answers from the knowledge base in ``settings.home``.

    Args:
        cache_seconds: how long the result of a search may be given again; 0 searches each time.
        embedder: the model that the index was made with; the built-in one if none is given.

    Raises:
        UsageError: there is no knowledge base there.
    """

    def __init__(
        self, settings: Settings, *, cache_seconds: float = CACHE_SECONDS, embedder: Embedder | None = None
    ) -> None:
        self.settings = settings
        self.retriever = Retriever(settings.home, embedder or built_in(), cache_seconds=cache_seconds)
        self.catalog = self.retriever.catalog

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.retriever.close()

    # Questions --------------------------------------------------------------------------------------------------

    def search(self, query: str, *, k: int = 10, filters: Filters = NO_FILTERS) -> SearchResult:
        return self.retriever.search(query, k=k, filters=filters)

    def ask(self, question: str, *, k: int = 5, filters: Filters = NO_FILTERS) -> Answer:
        return self.answer(self.search(question, k=k, filters=filters))

    def answer(self, found: SearchResult) -> Answer:
        """Answer the query of ``found`` from its hits."""
        return compose(found.query, found, self)

    def symbols(self, name: str, *, repo: str | None = None, limit: int = 50) -> list[dict[str, Any]]:
        names = self._names()
        return [
            {"repo": names[d.repo_id], "path": d.path, "name": d.name, "qualified_name": d.qualified_name,
             "kind": d.kind, "start_line": d.start_line, "end_line": d.end_line, "signature": d.signature,
             "docstring": d.docstring}
            for d in definitions(self.catalog, name, self._repo_ids(repo))[:limit]
        ]  # fmt: skip

    def graph(self, direction: str, name: str, *, repo: str | None = None, limit: int = 100) -> list[dict[str, Any]]:
        """Return edges: ``callers`` of a symbol, its ``callees``, ``imports`` of a path or name, ``inherits``."""
        repo_ids = self._repo_ids(repo)
        if direction == "imports":
            return self._imports(name, repo_ids)[:limit]
        edges: list[dict[str, Any]] = []
        for d in definitions(self.catalog, name, repo_ids):
            if direction == "callers":
                edges += callers(self.catalog, d)
            elif direction == "callees":
                edges += callees(self.catalog, d)
            elif direction == "inherits":
                edges += callers(self.catalog, d, ("inherits", "implements"))
                edges += callees(self.catalog, d, ("inherits", "implements"))
            else:
                raise UsageError(f"unknown relation '{direction}': use callers, callees, imports or inherits")
        unique = {json.dumps(edge, sort_keys=True): edge for edge in edges}
        return list(unique.values())[:limit]

    def _imports(self, name: str, repo_ids: list[int]) -> list[dict[str, Any]]:
        rows = self.catalog.rows(
            f"""SELECT p.path, x.name, x.qualifier, x.line FROM reference x JOIN place p ON p.content_id = x.content_id
            {VISIBLE}
            WHERE x.kind = 'imports' AND (p.path = ? OR x.name = ? OR x.qualifier = ?)
            AND r.repo_id IN (SELECT value FROM json_each(?)) ORDER BY p.path, x.line""",
            (name, name, name, json.dumps(repo_ids)),
        )
        return [
            {"kind": "imports", "source": path, "target": f"{module}:{what}" if module and module != what else what,
             "path": path, "line": line, "confidence": "exact"}
            for path, what, module, line in rows
        ]  # fmt: skip

    def graph_path(self, a: str, b: str, *, repo: str | None = None) -> list[dict[str, Any]]:
        repo_ids = self._repo_ids(repo)
        for start in definitions(self.catalog, a, repo_ids)[:3]:
            for goal in definitions(self.catalog, b, [start.repo_id])[:3]:
                found = path_between(self.catalog, start, goal)
                if found:
                    return found
        return []

    # State ------------------------------------------------------------------------------------------------------

    def status(self, repo: str | None = None) -> list[dict[str, Any]]:
        if repo is not None:
            self.catalog.repository(repo)
        return [
            {"repo": r.name, "source": r.source, "kind": r.kind, "ref": r.ref, "generation": r.active_generation,
             **self._report(r.repo_id, r.active_generation)}
            for r in self.catalog.repositories()
            if repo is None or r.name == repo
        ]  # fmt: skip

    def _report(self, repo_id: int, generation: int) -> dict[str, Any]:
        rows = self.catalog.rows(
            "SELECT report, created_at FROM generation WHERE repo_id = ? AND number = ?", (repo_id, generation)
        )
        return {**json.loads(rows[0][0]), "published_at": rows[0][1]} if rows else {"n_indexed": 0}

    def files(self, repo: str, *, skipped: bool = False) -> list[dict[str, Any]]:
        r = self.catalog.repository(repo)
        skips = [
            {"path": path, "status": "skipped", "reason": reason, "detail": detail, "size_bytes": size}
            for path, reason, detail, size in self.catalog.rows(
                "SELECT path, reason, detail, size_bytes FROM skip WHERE repo_id = ? AND generation = ? ORDER BY path",
                (r.repo_id, r.active_generation),
            )
        ]
        if skipped:
            return skips
        rows = self.catalog.rows(
            f"""SELECT p.path, t.language, p.role, t.size_bytes, t.n_lines, t.encoding, t.has_errors FROM repository r
            JOIN alive a ON a.repo_id = r.repo_id AND {ALIVE} JOIN place p ON p.place_id = a.place_id
            JOIN content t ON t.content_id = p.content_id WHERE r.repo_id = ? ORDER BY p.path""",
            (r.repo_id,),
        )
        indexed = [
            {"path": row[0], "status": "indexed", "reason": "", "detail": "syntax errors" if row[6] else "",
             "language": row[1], "role": row[2], "size_bytes": row[3], "n_lines": row[4], "encoding": row[5]}
            for row in rows
        ]  # fmt: skip
        return sorted([*indexed, *skips], key=lambda item: item["path"])

    def generations(self, repo: str) -> list[dict[str, Any]]:
        r = self.catalog.repository(repo)
        rows = self.catalog.rows(
            "SELECT number, commit_hash, created_at, report FROM generation WHERE repo_id = ? ORDER BY number DESC",
            (r.repo_id,),
        )
        return [
            {"generation": row[0], "active": row[0] == r.active_generation, "commit": row[1], "published_at": row[2],
             "n_indexed": json.loads(row[3])["n_indexed"], "n_chunks": json.loads(row[3])["n_chunks"]}
            for row in rows
        ]  # fmt: skip

    def export(self, repo: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield the visible documents in the intermediate format."""
        if repo is not None:
            self.catalog.repository(repo)
        for repo_id, (name, generation, commit) in sorted(self.catalog.active().items()):
            if repo in (None, name):
                for path, (_, content_id, role) in sorted(self.catalog.alive_places(repo_id, generation).items()):
                    yield self._document(name, commit, path, content_id, role)

    def _document(self, repo: str, commit: str, path: str, content_id: int, role: str) -> dict[str, Any]:
        content = self.catalog.rows(
            "SELECT hash, language, encoding, size_bytes FROM content WHERE content_id = ?", (content_id,)
        )[0]
        symbols, chunks = stored_symbols(self.catalog, content_id), stored_chunks(self.catalog, content_id)
        document_id = f"{repo}/{path}"
        contains = [
            {"source": symbols[s.parent].qualified_name, "target": s.qualified_name, "kind": "contains",
             "line": s.start_line, "confidence": "exact"}
            for s in symbols if 0 <= s.parent < len(symbols)
        ]  # fmt: skip
        uses = [
            {"source": symbols[r.scope].qualified_name if 0 <= r.scope < len(symbols) else path, "target": r.name,
             "kind": r.kind, "line": r.line, "confidence": "guess", "scope": r.scope, "qualifier": r.qualifier,
             "alias": r.alias}
            for r in stored_references(self.catalog, content_id)
        ]  # fmt: skip
        return {
            "document_id": document_id,
            "source_path": path,
            "repo_id": repo,
            "language": content[1],
            "content_hash": content[0],
            "text": self.catalog.text(content_id),
            "chunks": [
                {"chunk_id": stable_id(repo, path, c.start_line, c.end_line),
                 **{field: getattr(c, field) for field in type(c).__slots__}, "content_hash": stable_id(c.content)}
                for c in chunks
            ],
            "symbols": [{field: getattr(s, field) for field in type(s).__slots__} for s in symbols],
            "edges": contains + uses,
            "metadata": {"commit_hash": commit, "last_modified": None, "size_bytes": content[3], "encoding": content[2],
                         "role": role},
        }  # fmt: skip

    def doctor(self) -> list[dict[str, Any]]:
        """Check that catalog, lexical index and vectors agree; each row says what was found and what to do."""
        damage = self.catalog.rows("PRAGMA quick_check")[0][0]
        checks = [{"check": "catalog file", "ok": damage == "ok", "detail": damage}]
        missing = self.catalog.rows(
            f"""SELECT count(*) FROM repository r JOIN alive a ON a.repo_id = r.repo_id AND {ALIVE}
            JOIN place p ON p.place_id = a.place_id WHERE p.in_lexical = 0"""
        )[0][0]
        checks.append({"check": "lexical index", "ok": missing == 0, "detail": f"{missing} visible files not in it"})
        for repo_id, (name, generation, commit) in sorted(self.catalog.active().items()):
            snapshot = self.retriever.snapshot(repo_id, generation)
            n_chunks = self._report(repo_id, generation).get("n_chunks", 0)
            checks.append(
                {"check": f"vectors of {name}", "ok": len(snapshot.keys) == n_chunks,
                 "detail": f"generation {generation} ({commit[:12] or 'no commit'}): {len(snapshot.keys)} vectors, "
                           f"{n_chunks} chunks"}
            )  # fmt: skip
        return checks

    # What a citation is checked against -------------------------------------------------------------------------

    def lines(self, repo: str, path: str, generation: int) -> list[str] | None:
        at = self._content(repo, path, generation)
        return None if at is None else self.retriever.lines_of(at)

    def symbol_span(self, repo: str, path: str, generation: int, symbol: str) -> tuple[int, int] | None:
        at = self._content(repo, path, generation)
        if at is None:
            return None
        rows = self.catalog.rows(
            "SELECT doc_line, end_line FROM symbol WHERE content_id = ? AND (qualified_name = ? OR name = ?) "
            "ORDER BY qualified_name = ? DESC, start_line LIMIT 1",
            (at, symbol, symbol, symbol),
        )
        return (rows[0][0], rows[0][1]) if rows else None

    def _content(self, repo: str, path: str, generation: int) -> int | None:
        rows = self.catalog.rows(
            "SELECT p.content_id FROM repository r JOIN place p ON p.repo_id = r.repo_id AND p.path = ? "
            "JOIN alive a ON a.place_id = p.place_id AND a.born <= ? AND (a.died IS NULL OR a.died > ?) "
            "WHERE r.name = ?",
            (path, generation, generation, repo),
        )
        return rows[0][0] if rows else None

    def _repo_ids(self, repo: str | None) -> list[int]:
        return sorted(self.catalog.active()) if repo is None else [self.catalog.repository(repo).repo_id]

    def _names(self) -> dict[int, str]:
        return {repo_id: name for repo_id, (name, _, _) in self.catalog.active().items()}
