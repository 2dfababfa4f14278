"""The read path's composition root: one object that front ends ask.

It reads published generations only and never writes to the knowledge base.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, get_args

from devmind.answer.callers import asked_name, compose_callers, no_calls
from devmind.answer.extractive import compose
from devmind.answer.subject import Named
from devmind.embed.choose import open_embedder
from devmind.embed.types import Embedder
from devmind.errors import StoreError, UsageError
from devmind.index.catalog import ALIVE, VISIBLE
from devmind.index.lexical import LexicalReader
from devmind.index.snapshot_folder import snapshot_fault
from devmind.index.stored import n_lexical, stored_chunks, stored_references, stored_symbols
from devmind.retrieve import CACHE_SECONDS, Retriever
from devmind.retrieve.definitions import definitions
from devmind.retrieve.graph import CALLS, callees, callers, path_between
from devmind.retrieve.resolve import Resolver
from devmind.settings import Settings, secret
from devmind.types import Answer, Filters, Hit, Role, SearchResult, SymbolKind, split_lines, stable_id

if TYPE_CHECKING:
    from devmind.embed.remote import RemoteOptions
    from devmind.retrieve.trace import Trace

NO_FILTERS = Filters()
MASK = "***"  # what stands for a secret in indexed text
MAX_CALLS_READ = 1000  # of a name, for an answer that shows a few
HERITAGE = ("inherits", "implements")
REBUILD = "restore it from a copy, or index its repositories again into another --kb folder"
REMAKE = "run 'devmind sync', which makes it again"


def remote_options(settings: Settings) -> RemoteOptions | None:
    """Return how to reach the embedder that the settings name; None for the built-in one.

    Raises:
        UsageError: the environment variable that should hold its key does not.
    """
    if not settings.embedder:
        return None
    from devmind.embed.remote import RemoteOptions

    table = dict(settings.embedder)
    variable = table.pop("api_key_env", "")
    return RemoteOptions(**table, api_key=secret(variable) if variable else "")


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
        model = embedder or open_embedder(remote_options(settings))
        self.retriever = Retriever(settings.home, model, cache_seconds=cache_seconds)
        self.catalog = self.retriever.catalog

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.retriever.close()

    # Questions --------------------------------------------------------------------------------------------------

    def search(self, query: str, *, k: int = 10, filters: Filters = NO_FILTERS) -> SearchResult:
        """Return the best hits.

        Raises:
            UsageError: the query is empty, or a filter names what no indexed file can have.
        """
        found = self.retriever.search(query, k=k, filters=self._checked(filters))
        hits = self._with_freshness(found.hits)
        return found if all(hit.fresh for hit in hits) else replace(found, hits=hits)

    def trace(self, query: str, *, k: int = 10, filters: Filters = NO_FILTERS, legs: bool = True) -> Trace:
        """Return a search with its intermediate results; see `Retriever.trace`.

        Raises:
            UsageError: as `search`.
        """
        return self.retriever.trace(query, k=k, filters=self._checked(filters), legs=legs)

    def ask(self, question: str, *, k: int = 5, filters: Filters = NO_FILTERS) -> Answer:
        return self.answer(self.search(question, k=k, filters=filters), filters=filters)

    def answer(self, found: SearchResult, *, filters: Filters = NO_FILTERS) -> Answer:
        """Answer from the hits of ``found``; who calls a name is answered from the relations, when they know it."""
        name = asked_name(found.query)
        if name and replace(filters, repos=()) == NO_FILTERS:
            answer = self._callers_answer(found.query, name, found)
            if answer is not None:
                return answer
            if any(self.symbols(name, repo=repo, limit=1) for repo in found.generations):
                return compose(found.query, found, self, lead=no_calls(found.query, name))
        return compose(found.query, found, self)

    def _callers_answer(self, question: str, name: str, result: SearchResult) -> Answer | None:
        edges = [
            edge
            for repo in sorted(result.generations)
            for edge in self.graph("callers", name, repo=repo, limit=MAX_CALLS_READ)
        ]
        roles = {at: self._role(*at) for at in {(edge["repo"], edge["path"]) for edge in edges}}
        return compose_callers(
            question,
            name,
            [{**edge, "role": roles[edge["repo"], edge["path"]]} for edge in edges],
            result=result,
            commits={repo: commit for repo, _, commit in self.catalog.active().values()},
            sources=self,
        )

    def _role(self, repo: str, path: str) -> str:
        rows = self.catalog.rows(
            f"""SELECT p.role FROM repository r JOIN place p ON p.repo_id = r.repo_id AND p.path = ?
            JOIN alive a ON a.place_id = p.place_id AND {ALIVE} WHERE r.name = ?""",
            (path, repo),
        )
        return rows[0][0] if rows else ""

    def _checked(self, filters: Filters) -> Filters:
        """Return the filters in lower case; a value that can match nothing is an error, not an empty result."""
        if not (filters.languages or filters.kinds or filters.roles):
            return filters
        lowered = replace(
            filters,
            languages=tuple(value.lower() for value in filters.languages),
            kinds=tuple(value.lower() for value in filters.kinds),
            roles=tuple(value.lower() for value in filters.roles),
        )
        _refuse_unknown("role", lowered.roles, get_args(Role))
        if lowered.languages:
            _refuse_unknown("language", lowered.languages, self._distinct("SELECT DISTINCT language FROM content"))
        if lowered.kinds:
            indexed = self._distinct("SELECT DISTINCT node_type FROM chunk")
            if not indexed >= set(lowered.kinds):
                _refuse_unknown("kind", lowered.kinds, {*indexed, *get_args(SymbolKind)})
        return lowered

    def _distinct(self, sql: str) -> set[str]:
        return {row[0] for row in self.catalog.rows(sql) if row[0]}

    def _with_freshness(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Mark the hits whose lines no longer stand in the file on disk; a fixed ref or a bare repository stays."""
        folders = {r.name: Path(r.source) for r in self.catalog.repositories() if r.source and not r.ref}
        return tuple(
            hit if hit.repo not in folders or self._is_fresh(folders[hit.repo], hit) else replace(hit, fresh=False)
            for hit in hits
        )

    def _is_fresh(self, folder: Path, hit: Hit) -> bool:
        rows = self.catalog.rows(
            f"""SELECT p.last_modified, t.encoding FROM repository r
            JOIN place p ON p.repo_id = r.repo_id AND p.path = ? JOIN alive a ON a.place_id = p.place_id AND {ALIVE}
            JOIN content t ON t.content_id = p.content_id WHERE r.name = ?""",
            (hit.path, hit.repo),
        )
        if not rows or rows[0][0] is None or not folder.is_dir():  # read from a commit, or the folder is not here
            return True
        path = folder / hit.path
        try:
            if path.stat().st_mtime == rows[0][0]:
                return True
            now = split_lines(path.read_bytes().decode(rows[0][1], "replace"))[hit.start_line - 1 : hit.end_line]
        except OSError:
            return False
        then = hit.content.split("\n")
        return len(now) == len(then) and all(map(_is_same_line, then, now))

    def symbols(self, name: str, *, repo: str | None = None, limit: int = 50) -> list[dict[str, Any]]:
        """Return the definitions of ``name``, which may be qualified: ``Class.method``, ``ns::fn``, ``(*T).Method``."""
        names, name = self._names(), _sayable(name)
        return [
            {"repo": names[d.repo_id], "path": d.path, "name": d.name, "qualified_name": d.qualified_name,
             "kind": d.kind, "start_line": d.start_line, "end_line": d.end_line, "signature": d.signature,
             "docstring": d.docstring}
            for d in definitions(self.catalog, _plain(name), self._repo_ids(repo))[:limit]
        ]  # fmt: skip

    def graph(self, direction: str, name: str, *, repo: str | None = None, limit: int = 100) -> list[dict[str, Any]]:
        """Return edges: ``callers`` of a symbol, its ``callees``, ``imports`` of a path or name, ``inherits``.

        ``path`` and ``line`` of an edge say where the use is written, ``target_path`` where the target is defined
        (empty when that is outside the repository).
        """
        repo_ids, name = self._repo_ids(repo), _sayable(name)
        if direction == "imports":
            return self._imports(name, repo_ids)[:limit]
        if direction not in ("callers", "callees", "inherits"):
            raise UsageError(f"unknown relation '{direction}': use callers, callees, imports or inherits")
        edges: list[dict[str, Any]] = []
        names = self._names()
        for repo_id, found in groupby(definitions(self.catalog, _plain(name), repo_ids), lambda d: d.repo_id):
            resolver, group = Resolver(self.catalog, repo_id), list(found)
            kinds = HERITAGE if direction == "inherits" else CALLS
            if direction != "callees":
                edges += [_edge(names[repo_id], edge) for edge in callers(resolver, group, kinds)]
            if direction != "callers":
                edges += [_edge(names[repo_id], edge) for d in group for edge in callees(resolver, d, kinds)]
        unique = {json.dumps(edge, sort_keys=True): edge for edge in edges}
        return list(unique.values())[:limit]

    def _imports(self, name: str, repo_ids: list[int]) -> list[dict[str, Any]]:
        """Return what the file ``name`` imports, and who imports the name or module ``name`` or a part of it."""
        rows = self.catalog.rows(
            f"""SELECT DISTINCT r.name, p.path, x.name, x.qualifier, x.line
            FROM reference x JOIN place p ON p.content_id = x.content_id
            {VISIBLE}
            WHERE x.kind = 'imports' AND (p.path = ?1 OR x.name = ?1 OR x.qualifier = ?1
              OR substr(x.qualifier, 1, length(?1) + 1) IN (?1 || '.', ?1 || '/', ?1 || '\\')
              OR substr(x.qualifier, 1, length(?1) + 2) = ?1 || '::')
            AND r.repo_id IN (SELECT value FROM json_each(?2)) ORDER BY r.name, p.path, x.line, x.name""",
            (name, json.dumps(repo_ids)),
        )
        return [
            {"repo": repo, "kind": "imports", "source": path,
             "target": f"{module}:{what}" if module and module != what else what,
             "path": path, "line": line, "target_path": "", "confidence": "exact"}
            for repo, path, what, module, line in rows
        ]  # fmt: skip

    def graph_path(self, a: str, b: str, *, repo: str | None = None) -> list[dict[str, Any]]:
        """Return the edges of a shortest chain of calls from ``a`` to ``b``, with the places that ``graph`` gives."""
        repo_ids = self._repo_ids(repo)
        for start in definitions(self.catalog, _plain(_sayable(a)), repo_ids)[:3]:
            for goal in definitions(self.catalog, _plain(_sayable(b)), [start.repo_id])[:3]:
                found = path_between(self.catalog, start, goal)
                if found:
                    return [_edge(self._names()[start.repo_id], edge) for edge in found]
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
        try:
            damage = self.catalog.rows("PRAGMA quick_check")[0][0]
            checks = [{"check": "catalog file", "ok": damage == "ok", "detail": damage}, self._check_lexical()]
        except StoreError as error:
            return [{"check": "catalog file", "ok": False, "detail": f"{error.__cause__ or error}; {REBUILD}"}]
        for repo_id, (name, generation, _) in sorted(self.catalog.active().items()):
            checks.append({"check": f"vectors of {name}", **self._check_snapshot(repo_id, generation)})
        return checks

    def _check_snapshot(self, repo_id: int, generation: int) -> dict[str, Any]:
        at = (self.settings.home / "vectors", self.catalog, repo_id, generation, self.retriever.embedder)
        try:
            fault = snapshot_fault(*at, thorough=True)
            n_vectors = len(self.retriever.snapshot(repo_id, generation).keys)
        except StoreError as error:
            return {"ok": False, "detail": str(error)}
        n_chunks = self._report(repo_id, generation).get("n_chunks", 0)
        told = f"generation {generation}: {n_vectors} vectors, {n_chunks} chunks"
        if fault:
            folder = self.settings.home / "vectors" / f"{repo_id}-{generation}"
            told += f"; {fault}: remove {folder} and {REMAKE}"
        return {"ok": n_vectors == n_chunks and not fault, "detail": told}

    def _check_lexical(self) -> dict[str, Any]:
        missing = self.catalog.rows(
            f"""SELECT count(*) FROM repository r JOIN alive a ON a.repo_id = r.repo_id AND {ALIVE}
            JOIN place p ON p.place_id = a.place_id WHERE p.in_lexical = 0"""
        )[0][0]
        # at least: a running or interrupted ingest may have put more into it than the catalog says
        expected = n_lexical(self.catalog)
        try:
            held = LexicalReader(self.settings.home / "lexical").n_chunks
        except StoreError as error:
            return {"check": "lexical index", "ok": False, "detail": str(error)}
        lost = f"; it holds {held} of {expected} chunks: {REMAKE}" if held < expected else ""
        return {
            "check": "lexical index",
            "ok": missing == 0 and not lost,
            "detail": f"{missing} visible files not in it{lost}",
        }

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

    def is_defined(self, name: str, repo: str) -> bool:
        return bool(self.symbols(name, repo=repo, limit=1))

    def named_within(self, repo: str, path: str, generation: int, *, start_line: int, end_line: int) -> list[Named]:
        """Return the definitions that share a line with ``start_line..end_line``, outer ones first."""
        at = self._content(repo, path, generation)
        rows = self.catalog.rows(
            "SELECT qualified_name, kind, doc_line, end_line, docstring FROM symbol WHERE content_id = ? "
            "AND doc_line <= ? AND end_line >= ? ORDER BY doc_line, end_line DESC, ordinal",
            (at, end_line, start_line),
        )
        return [Named(*row) for row in rows]

    def _content(self, repo: str, path: str, generation: int) -> int | None:
        rows = self.catalog.rows(
            "SELECT p.content_id FROM repository r JOIN place p ON p.repo_id = r.repo_id AND p.path = ? "
            "JOIN alive a ON a.place_id = p.place_id AND a.born <= ? AND (a.died IS NULL OR a.died > ?) "
            "WHERE r.name = ?",
            (path, generation, generation, repo),
        )
        return rows[0][0] if rows else None

    def require(self, repo: str) -> None:
        """Check that ``repo`` is a published repository.

        Raises:
            UsageError: it is not; the message lists those that are.
        """
        if repo not in self._names().values():
            raise self.catalog.unpublished(repo)

    def _repo_ids(self, repo: str | None) -> list[int]:
        return sorted(self.catalog.active()) if repo is None else [self.catalog.repository(repo).repo_id]

    def _names(self) -> dict[int, str]:
        return {repo_id: name for repo_id, (name, _, _) in self.catalog.active().items()}


def _sayable(name: str) -> str:
    """Return ``name`` with what no store can hold (bytes that were not UTF-8, lone surrogates) as escapes."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _edge(repo: str, edge: Mapping[str, Any]) -> dict[str, Any]:
    fields = ("kind", "source", "target", "path", "line", "target_path", "confidence")
    return {"repo": repo, **{field: edge[field] for field in fields}}


def _plain(name: str) -> str:
    """Return a name without what people write around it: back-ticks, ``()`` and Go's ``(*T)``."""
    return re.sub(r"\(\*?(\w*)\)", r"\1", name.strip().strip("`"))


def _refuse_unknown(what: str, values: Iterable[str], known: Collection[str]) -> None:
    for value in values:
        if value not in known:
            raise UsageError(
                f"no {what} {value!r} is indexed; known: {', '.join(sorted(known)) or 'none'}", code=f"unknown_{what}"
            )


def _is_same_line(indexed: str, now: str) -> bool:
    """Return whether a line on disk is the indexed one, whose secrets are masked and whose byte order mark is gone."""
    head, mask, rest = indexed.lstrip("\ufeff").partition(MASK)
    now = now.lstrip("\ufeff")
    return now.startswith(head) and now.endswith(rest.rpartition(MASK)[2]) if mask else now == head
