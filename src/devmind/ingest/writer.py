"""The writer of a knowledge base: registers sources and moves their repositories from one generation to the next.

Order of one ingest: contents, places and lexical documents are written (no reader sees them), the lexical index
commits, the vector snapshot is renamed into place, and one catalog transaction publishes. Killed anywhere before
that, the published generation stands untouched; the same command run again finds what was built by its content and
goes on.
"""

from __future__ import annotations

import fcntl
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from devmind.chunk import ChunkRules
from devmind.errors import StoreError, UsageError
from devmind.index.catalog import ORDINAL_BITS, Catalog, Repository
from devmind.index.fields import path_field
from devmind.index.lexical import LexicalChunk, LexicalWriter
from devmind.index.stored import stored_chunks, stored_symbols
from devmind.index.vectors import gather, snapshot_path, write_snapshot
from devmind.ingest.build import Built, batches, build_batch, fields_of, fingerprint, finish, load_embedder
from devmind.ingest.exchange import document_from_json
from devmind.ingest.report import IngestOptions, OnProgress, Progress, Report
from devmind.ingest.worker import Workers
from devmind.scan import ScanRules, open_source, scan
from devmind.types import Document, ParsedDocument, Skipped, stable_id

MIN_BATCHES_FOR_WORKERS = 4  # below that, starting workers (imports, grammars) outweighs what they save; by hand
WINDOW_BYTES = 64_000_000  # source text held in memory at once
# Skips that follow a rule; every other reason counts against completeness.
BY_RULE = {
    "ignored", "excluded", "binary", "too_large", "minified", "generated", "vendored", "secret", "symlink",
    "symlink_outside", "symlink_loop", "broken_symlink", "empty", "not_regular", "submodule",
}  # fmt: skip


class Writer:
    """The one writer of a knowledge base folder.

    Raises:
        StoreError: another process is writing (code ``busy``), or the folder cannot be written.
    """

    def __init__(self, kb: Path, options: IngestOptions) -> None:
        self.kb, self.options = kb, options
        self.rules = ChunkRules(strategy=options.strategy)
        try:
            kb.mkdir(parents=True, exist_ok=True)
            self._lock = (kb / "write.lock").open("a")
        except OSError as error:
            raise StoreError(
                f"cannot write the knowledge base {kb}: {error}; choose another folder with --kb"
            ) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._lock.close()
            raise StoreError(
                f"another devmind process is writing {kb}: wait until it has finished, then run this again", code="busy"
            ) from error
        self.catalog = Catalog(kb / "catalog.sqlite", create=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.catalog.close()
        self._lock.close()

    # Commands ---------------------------------------------------------------------------------------------------

    def add(
        self,
        source: str,
        *,
        name: str | None = None,
        ref: str | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        progress: OnProgress | None = None,
    ) -> Report:
        """Register a source and index it; a source that is registered already is brought up to date."""
        opened = open_source(source, ref=ref, mirror_dir=self.kb / "mirrors")
        known = self.catalog.repositories()
        if name is None:
            same = [r for r in known if (r.source, r.ref) == (opened.location, ref)]
            name = same[0].name if same else _free_name(opened.name, {r.name for r in known})
        for repo in known:
            if repo.name == name and (repo.source, repo.ref) != (opened.location, ref):
                raise UsageError(
                    f"the name '{name}' belongs to {repo.source}: choose another --name, "
                    f"or 'devmind remove {name}' first",
                    code="name_taken",
                )
        repo = self.catalog.register(
            name=name, source=opened.location, kind=opened.kind, ref=ref, include=include, exclude=exclude
        )
        return self._index(repo, progress, opened)

    def sync(self, name: str, *, progress: OnProgress | None = None) -> Report:
        """Bring a registered repository up to date with its source."""
        repo = self.catalog.repository(name)
        if repo.kind == "import":
            raise UsageError(f"'{name}' was imported from a file and has no source to sync: import it again")
        return self._index(repo, progress, open_source(repo.source, ref=repo.ref, mirror_dir=self.kb / "mirrors"))

    def remove(self, name: str) -> None:
        """Remove a repository and all that only it holds."""
        repo = self.catalog.repository(name)
        places = [row[0] for row in self.catalog.rows("SELECT place_id FROM place WHERE repo_id = ?", (repo.repo_id,))]
        self.catalog.drop_repository(repo.repo_id)
        self._forget(places)
        for stale in (self.kb / "vectors").glob(f"{repo.repo_id}-*.npz"):
            stale.unlink(missing_ok=True)

    def rollback(self, name: str, generation: int) -> Report:
        """Publish a new generation whose files equal those of ``generation``."""
        repo = self.catalog.repository(name)
        started = time.monotonic()
        kept = self._kept(repo)
        if generation not in kept:
            raise UsageError(
                f"'{name}' keeps no generation {generation}; kept: {', '.join(map(str, kept)) or 'none'}",
                code="unknown_generation",
            )
        self.catalog.clear_pending(repo)
        commit = self.catalog.rows(
            "SELECT commit_hash FROM generation WHERE repo_id = ? AND number = ?", (repo.repo_id, generation)
        )[0][0]
        skips = [
            Skipped(*row)
            for row in self.catalog.rows(
                "SELECT path, reason, detail, size_bytes FROM skip WHERE repo_id = ? AND generation = ?",
                (repo.repo_id, generation),
            )
        ]
        places = {path: at[0] for path, at in self.catalog.alive_places(repo.repo_id, generation).items()}
        return self._switch(repo, places, skips, commit=commit, n_reused=len(places), started=started)

    def import_documents(self, lines: Iterable[str], progress: OnProgress | None = None) -> list[Report]:
        """Index documents in the intermediate format, one JSON object a line; each repository is published once."""
        by_repo: dict[str, list[Built]] = {}
        embedder = load_embedder(self.options.embedder)
        commits: dict[str, str] = {}
        for number, line in enumerate(lines, 1):
            if line.strip():
                repo_name, commit, document, parsed, chunks = document_from_json(line, number)
                by_repo.setdefault(repo_name, []).append(finish(document, parsed, chunks, embedder))
                commits[repo_name] = commit
        reports = []
        for repo_name, built in by_repo.items():
            started = time.monotonic()
            repo = self.catalog.register(name=repo_name, source="", kind="import", ref=None, include=(), exclude=())
            self.catalog.clear_pending(repo)
            lexical = LexicalWriter(self.kb / "lexical")
            places: dict[str, int] = {}
            indexed: list[int] = []
            with self.catalog.transaction():
                for item in built:
                    item_hash = stable_id(fingerprint(self.rules, embedder), "import", item.text.hex())
                    found = self.catalog.content_ids([item_hash])
                    content_id = found.get(item_hash) or self._store(item, item_hash)
                    places[item.document.path] = self._place(
                        repo, item.document, content_id, item.fields, lexical, indexed
                    )
            self._commit_lexical(lexical, indexed)
            reports.append(self._switch(repo, places, [], commit=commits[repo_name], n_reused=0, started=started))
        return reports

    # One ingest -------------------------------------------------------------------------------------------------

    def _index(self, repo: Repository, progress: OnProgress | None, source: Any) -> Report:
        started = time.monotonic()
        self.catalog.clear_pending(repo)
        embedder = load_embedder(self.options.embedder)
        key = fingerprint(self.rules, embedder)
        tell = _teller(progress, started)
        lexical = LexicalWriter(self.kb / "lexical")
        places: dict[str, int] = {}
        skips: list[Skipped] = []
        indexed: list[int] = []
        n_reused = 0
        for window in _windows(scan(source, ScanRules(include=repo.include, exclude=repo.exclude)), skips, tell):
            n_reused += self._build_window(repo, window, key, places, lexical, indexed, tell)
        tell("publish", len(places), len(places), 0, 0)
        self._commit_lexical(lexical, indexed)
        return self._switch(repo, places, skips, commit=source.commit, n_reused=n_reused, started=started)

    def _build_window(
        self,
        repo: Repository,
        window: Sequence[Document],
        key: str,
        places: dict[str, int],
        lexical: LexicalWriter,
        indexed: list[int],
        tell: Callable[[str, int, int, int, int], None],
    ) -> int:
        """Store the documents of a window; return how many had been stored before."""
        hashes = {document.path: stable_id(key, document.content_hash) for document in window}
        known = self.catalog.content_ids(set(hashes.values()))
        new: dict[str, Document] = {}
        for document in window:
            if hashes[document.path] not in known:
                new.setdefault(hashes[document.path], document)
        total_bytes = sum(len(document.text) for document in new.values())
        done = done_bytes = 0
        tell("index", 0, len(new), 0, total_bytes)
        for batch in self._built(list(new.values())):
            with self.catalog.transaction():
                for built in batch:
                    content_hash = hashes[built.document.path]
                    known[content_hash] = self._store(built, content_hash)
                    places[built.document.path] = self._place(
                        repo, built.document, known[content_hash], built.fields, lexical, indexed
                    )
            done += len(batch)
            done_bytes += sum(built.document.size_bytes for built in batch)
            tell("index", done, len(new), done_bytes, total_bytes)
        with self.catalog.transaction():
            for document in window:
                if document.path not in places:
                    content_id = known[hashes[document.path]]
                    places[document.path] = self._place(repo, document, content_id, None, lexical, indexed)
        return len(window) - len(new)

    def _built(self, documents: Sequence[Document]) -> Iterator[list[Built]]:
        """Yield the documents built, in any order; worker processes are started only when the work pays for it."""
        work = list(batches(documents))
        if self.options.n_workers <= 1 or len(work) < MIN_BATCHES_FOR_WORKERS:
            yield from (build_batch(batch, self.rules, self.options.embedder) for batch in work)
            return
        workers = Workers(self.options.n_workers)
        try:
            yield from workers.build(work, self.rules, self.options.embedder)
        finally:
            workers.close()

    def _store(self, built: Built, content_hash: str) -> int:
        """Write a content with its chunks, symbols and references; return its id."""
        db, document = self.catalog.db, built.document
        content_id = int(
            db.execute(
                "INSERT INTO content (hash, language, encoding, size_bytes, n_lines, text, lead, has_errors, vectors) "
                "VALUES (?,?,?,?,?,?,?,?,?)",
                (content_hash, document.language, document.encoding, document.size_bytes, built.n_lines, built.text,
                 built.parsed.lead, int(built.parsed.has_errors), built.vectors),
            ).lastrowid
            or 0
        )  # fmt: skip
        db.executemany(
            "INSERT INTO chunk VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            [
                (content_id, i, c.start_line, c.end_line, c.header, c.function_name, c.class_name, c.qualified_name,
                 c.node_type, c.parent, c.n_tokens, json.dumps(c.symbols), stable_id(built.fields[i]["body"]))
                for i, c in enumerate(built.chunks)
            ],
        )  # fmt: skip
        db.executemany(
            "INSERT INTO symbol VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
            [
                (content_id, i, s.name, s.qualified_name, s.kind, s.start_line, s.end_line, s.doc_line, s.signature,
                 s.docstring, s.visibility, s.parent)
                for i, s in enumerate(built.parsed.symbols)
            ],
        )  # fmt: skip
        db.executemany(
            "INSERT INTO reference VALUES (?,?,?,?,?,?,?)",
            [(content_id, r.name, r.kind, r.line, r.scope, r.qualifier, r.alias) for r in built.parsed.references],
        )
        return content_id

    def _place(
        self,
        repo: Repository,
        document: Document,
        content_id: int,
        fields: Sequence[dict[str, str]] | None,
        lexical: LexicalWriter,
        indexed: list[int],
    ) -> int:
        """Return the place of a content at a path, its chunks handed to the lexical index when they are not there."""
        place_id, new, in_lexical = self.catalog.place(
            repo.repo_id, document.path, content_id, document.role, document.last_modified
        )
        if in_lexical:
            return place_id
        if not new:
            lexical.delete_place(place_id)
        if fields is None:
            chunks, symbols = stored_chunks(self.catalog, content_id), stored_symbols(self.catalog, content_id)
            fields = fields_of(chunks, ParsedDocument(symbols=symbols))
        path = path_field(document.path)
        lexical.add(
            LexicalChunk((place_id << ORDINAL_BITS) + i, place_id, repo.repo_id, {**terms, "path": path})
            for i, terms in enumerate(fields)
        )
        indexed.append(place_id)
        return place_id

    def _commit_lexical(self, lexical: LexicalWriter, indexed: Sequence[int]) -> None:
        if indexed:
            lexical.commit()
            with self.catalog.transaction():
                self.catalog.db.executemany(
                    "UPDATE place SET in_lexical = 1 WHERE place_id = ?", [(p,) for p in indexed]
                )
        lexical.close()

    def _switch(
        self,
        repo: Repository,
        places: dict[str, int],
        skips: Sequence[Skipped],
        *,
        commit: str,
        n_reused: int,
        started: float,
    ) -> Report:
        """Publish the generation in which ``places`` (path → place id) are visible, unless nothing changed."""
        active = repo.active_generation
        before = {at[0] for at in self.catalog.alive_places(repo.repo_id, active).values()} if active else set()
        after = set(places.values())
        if active and before == after and self._published(repo, active) == (commit, _skip_rows(skips)):
            return self._report(repo, active, commit, skips, changed=False, n_reused=n_reused, started=started)
        number = active + 1
        with self.catalog.transaction():
            db = self.catalog.db
            db.executemany(
                "UPDATE alive SET died = ? WHERE place_id = ? AND died IS NULL",
                [(number, place_id) for place_id in before - after],
            )
            db.executemany(
                "INSERT INTO alive (place_id, repo_id, born) VALUES (?,?,?)",
                [(place_id, repo.repo_id, number) for place_id in sorted(after - before)],
            )
            db.executemany(
                "INSERT INTO skip VALUES (?,?,?,?,?,?)", [(repo.repo_id, number, *row) for row in _skip_rows(skips)]
            )
        visible = self.catalog.alive_places(repo.repo_id, number).values()
        pairs = ((place_id, content_id) for place_id, content_id, _ in visible)
        dim = load_embedder(self.options.embedder).dim
        write_snapshot(snapshot_path(self.kb / "vectors", repo.repo_id, number), *gather(self.catalog, pairs, dim))
        report = self._report(repo, number, commit, skips, changed=True, n_reused=n_reused, started=started)
        self.catalog.publish(repo.repo_id, number, commit=commit, report=asdict(report))
        self._collect(repo, number)
        return report

    def _published(self, repo: Repository, generation: int) -> tuple[str, list[tuple[str, str, str, int]]]:
        commit = self.catalog.rows(
            "SELECT commit_hash FROM generation WHERE repo_id = ? AND number = ?", (repo.repo_id, generation)
        )
        rows = self.catalog.rows(
            "SELECT path, reason, detail, size_bytes FROM skip WHERE repo_id = ? AND generation = ? ORDER BY 1, 2",
            (repo.repo_id, generation),
        )
        return (commit[0][0] if commit else ""), [tuple(row) for row in rows]

    def _report(
        self,
        repo: Repository,
        number: int,
        commit: str,
        skips: Sequence[Skipped],
        *,
        changed: bool,
        n_reused: int,
        started: float,
    ) -> Report:
        visible = (
            "FROM alive a JOIN place p ON p.place_id = a.place_id {} WHERE a.repo_id = ? AND a.born <= ? "
            "AND (a.died IS NULL OR a.died > ?)"
        )
        at = (repo.repo_id, number, number)
        content = visible.format("JOIN content c ON c.content_id = p.content_id")
        languages = self.catalog.rows(f"SELECT c.language, count(*), sum(c.size_bytes) {content} GROUP BY 1", at)
        counts = {
            table: self.catalog.rows(
                f"SELECT count(*) {visible.format(f'JOIN {table} t ON t.content_id = p.content_id')}", at
            )[0][0]
            for table in ("chunk", "symbol", "reference")
        }
        n_indexed = sum(row[1] for row in languages)
        trouble = sum(1 for skip in skips if skip.reason not in BY_RULE)
        return Report(
            repo=repo.name,
            generation=number,
            commit=commit,
            changed=changed,
            n_files=n_indexed + len(skips),
            n_indexed=n_indexed,
            n_reused=n_reused,
            n_chunks=counts["chunk"],
            n_symbols=counts["symbol"],
            n_edges=counts["reference"],
            files_by_language={row[0]: row[1] for row in sorted(languages, key=lambda row: (-row[1], row[0]))},
            skips_by_reason=dict(Counter(skip.reason for skip in skips).most_common()),
            completeness=n_indexed / (n_indexed + trouble) if n_indexed + trouble else 1.0,
            bytes_indexed=sum(row[2] for row in languages),
            seconds=round(time.monotonic() - started, 3),
        )

    # What is no longer needed -----------------------------------------------------------------------------------

    def _kept(self, repo: Repository) -> list[int]:
        floor = repo.active_generation - self.options.keep_generations
        return [
            row[0]
            for row in self.catalog.rows(
                "SELECT number FROM generation WHERE repo_id = ? AND number > ? AND number <= ? ORDER BY 1",
                (repo.repo_id, floor, repo.active_generation),
            )
        ]

    def _collect(self, repo: Repository, active: int) -> None:
        """Forget generations older than those kept, and what only they held."""
        floor = active - self.options.keep_generations
        with self.catalog.transaction():
            db = self.catalog.db
            db.execute("DELETE FROM alive WHERE repo_id = ? AND died <= ?", (repo.repo_id, floor + 1))
            db.execute("DELETE FROM skip WHERE repo_id = ? AND generation <= ?", (repo.repo_id, floor))
            db.execute("DELETE FROM generation WHERE repo_id = ? AND number <= ?", (repo.repo_id, floor))
        dead = self.catalog.rows(
            "SELECT place_id FROM place WHERE repo_id = ? AND place_id NOT IN (SELECT place_id FROM alive)",
            (repo.repo_id,),
        )
        self._forget([row[0] for row in dead])
        for old in (self.kb / "vectors").glob(f"{repo.repo_id}-*.npz"):
            if int(old.stem.split("-")[1]) < active - 1:
                old.unlink(missing_ok=True)

    def _forget(self, places: Sequence[int]) -> None:
        """Delete places from the lexical index and the catalog, and contents that no place holds any more."""
        if not places:
            return
        lexical = LexicalWriter(self.kb / "lexical")
        for place_id in places:
            lexical.delete_place(place_id)
        lexical.commit()
        lexical.close()
        with self.catalog.transaction():
            db = self.catalog.db
            db.executemany("DELETE FROM place WHERE place_id = ?", [(p,) for p in places])
            orphans = db.execute(
                "SELECT content_id FROM content WHERE content_id NOT IN (SELECT content_id FROM place)"
            ).fetchall()
            for table in ("chunk", "symbol", "reference", "content"):
                db.executemany(f"DELETE FROM {table} WHERE content_id = ?", orphans)


def _free_name(wanted: str, taken: set[str]) -> str:
    name, n = wanted, 2
    while name in taken:
        name, n = f"{wanted}-{n}", n + 1
    return name


def _skip_rows(skips: Sequence[Skipped]) -> list[tuple[str, str, str, int]]:
    return sorted((skip.path, skip.reason, skip.detail, skip.size_bytes) for skip in skips)


def _teller(progress: OnProgress | None, started: float) -> Callable[[str, int, int, int, int], None]:
    def tell(phase: str, done: int, total: int, bytes_done: int, bytes_total: int) -> None:
        if progress is not None:
            progress(Progress(phase, done, total, bytes_done, bytes_total, time.monotonic() - started))

    return tell


def _windows(
    found: Iterator[Document | Skipped], skips: list[Skipped], tell: Callable[[str, int, int, int, int], None]
) -> Iterator[list[Document]]:
    """Yield documents in groups that fit in memory; skips are put aside."""
    window: list[Document] = []
    size = seen = 0
    for item in found:
        seen += 1
        if isinstance(item, Skipped):
            skips.append(item)
            continue
        window.append(item)
        size += len(item.text)
        if seen % 200 == 0:
            tell("scan", seen, 0, size, 0)
        if size >= WINDOW_BYTES:
            yield window
            window, size = [], 0
    if window:
        yield window
