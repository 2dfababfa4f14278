"""The writer of a knowledge base: registers sources and moves their repositories from one generation to the next.

Order of one ingest: contents, places and lexical documents are written (no reader sees them), the lexical index
commits while the snapshot is made and renamed into place, and one catalog transaction publishes. Killed anywhere before
that, the published generation stands untouched; the same command run again finds what was built by its content and goes
on.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from devmind.chunk import ChunkRules
from devmind.embed.choose import open_embedder
from devmind.embed.types import Embedder
from devmind.errors import StoreError, UsageError
from devmind.index.catalog import Catalog, Repository
from devmind.index.lexical import create_lexical
from devmind.ingest.build import Built, batches, build_batch, fingerprint, finish
from devmind.ingest.exchange import document_from_json
from devmind.ingest.fill import Fill
from devmind.ingest.intake import Intake
from devmind.ingest.mend import Tell, mend
from devmind.ingest.publish import Publisher, commit_of, skips_of
from devmind.ingest.report import IngestOptions, OnProgress, Progress, Report
from devmind.ingest.worker import MOST_WAITING, Workers
from devmind.scan import ScanRules, open_source, scan
from devmind.types import Document, Skipped, stable_id

MIN_BATCHES_FOR_WORKERS = 4  # below that, starting workers (imports, grammars) outweighs what they save; by hand
IMPORT_BATCH = 200  # documents in one transaction


@dataclass(frozen=True, slots=True)
class _Importing:
    """A repository that an import fills, and what of it is left out."""

    repo: Repository
    commit: str
    skips: list[Skipped] = field(default_factory=list)


class Writer:
    """The one writer of a knowledge base folder.

    Args:
        embedder: used instead of the one that ``options`` name; documents are then built in this process.

    Raises:
        StoreError: another process is writing (code ``busy``), or the folder cannot be written.
    """

    def __init__(self, kb: Path, options: IngestOptions, *, embedder: Embedder | None = None) -> None:
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
        try:
            if not (kb / "catalog.sqlite").exists():  # first, so that a reader never finds the one without the other
                create_lexical(kb / "lexical")
            self.catalog = Catalog(kb / "catalog.sqlite", create=True)
        except BaseException:
            self._lock.close()
            raise
        self._mended = False
        self.embedder = embedder or open_embedder(options.embedder)
        self._in_process = embedder is not None or options.n_workers <= 1
        self.publisher = Publisher(kb, self.catalog, self.embedder, keep=options.keep_generations)

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
            self._mend()
            raise UsageError(f"'{name}' was imported from a file and has no source to sync: import it again")
        return self._index(repo, progress, open_source(repo.source, ref=repo.ref, mirror_dir=self.kb / "mirrors"))

    def remove(self, name: str) -> None:
        """Remove a repository and all that only it holds."""
        self._remove(self.catalog.repository(name))

    def rollback(self, name: str, generation: int) -> Report:
        """Publish a new generation whose files equal those of ``generation``."""
        repo = self.catalog.repository(name)
        started = time.monotonic()
        self._mend()
        kept = self.publisher.kept(repo)
        if generation not in kept:
            raise UsageError(
                f"'{name}' keeps no generation {generation}; kept: {', '.join(map(str, kept)) or 'none'}",
                code="unknown_generation",
            )
        self.catalog.clear_pending(repo)
        places = {path: at[0] for path, at in self.catalog.alive_places(repo.repo_id, generation).items()}
        return self.publisher.publish(
            repo,
            places,
            skips_of(self.catalog, repo, generation),
            commit=commit_of(self.catalog, repo, generation),
            n_reused=len(places),
            started=started,
        )

    def import_documents(self, lines: Iterable[str], progress: OnProgress | None = None) -> list[Report]:
        """Index documents in the intermediate format, one JSON object a line; each repository is published once.

        Raises:
            UsageError: a line is no such document; nothing is published then, and repositories that the import had
                registered are gone again.
        """
        started = time.monotonic()
        before = {repo.name for repo in self.catalog.repositories()}
        repos: dict[str, _Importing] = {}
        self._mend(_teller(progress, started))
        try:
            with Intake(self.catalog, self.kb / "lexical", self.embedder.name) as intake:
                self._take_in(lines, repos, intake, _teller(progress, started))
        except BaseException:
            for name, taken in repos.items():
                if name not in before:
                    self._remove(taken.repo)
            raise
        return [
            self.publisher.publish(
                taken.repo,
                intake.places[taken.repo.repo_id],
                taken.skips,
                commit=taken.commit,
                n_reused=0,
                started=started,
            )
            for taken in repos.values()
        ]

    def _take_in(self, lines: Iterable[str], repos: dict[str, _Importing], intake: Intake, tell: Tell) -> None:
        """Store imported documents, ``IMPORT_BATCH`` in a transaction; note their repositories in ``repos``."""
        numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
        key = f"{fingerprint(self.rules, self.embedder)}/import"
        n_bytes = 0
        while batch := list(islice(numbered, IMPORT_BATCH)):
            parsed = [document_from_json(line, number) for number, line in batch]
            for item in parsed:
                if item.repo not in repos:
                    repos[item.repo] = _Importing(self._imported(item.repo), item.commit)
            with self.catalog.transaction():
                for item in parsed:
                    repo = repos[item.repo].repo
                    if item.skipped is not None:
                        repos[item.repo].skips.append(item.skipped)
                        continue
                    content_hash = stable_id(key, item.identity)
                    known = self.catalog.content_ids([content_hash])
                    if known:
                        intake.place(repo, item.document, known[content_hash])
                    else:
                        built = finish([(item.document, item.structure, item.chunks)], self.embedder)
                        intake.store(repo, built[0], content_hash)
            n_bytes += sum(item.document.size_bytes for item in parsed)
            tell("import", batch[-1][0], 0, n_bytes, 0)

    def _imported(self, name: str) -> Repository:
        for known in self.catalog.repositories():
            if known.name == name and known.kind != "import":
                raise UsageError(
                    f"the name '{name}' belongs to {known.source}: 'devmind remove {name}' first, or change repo_id in "
                    "the file",
                    code="name_taken",
                )
        repo = self.catalog.register(name=name, source="", kind="import", ref=None, include=(), exclude=())
        self.catalog.clear_pending(repo)
        return repo

    # What earlier runs left or lost -----------------------------------------------------------------------------

    def _mend(self, tell: Tell | None = None) -> None:
        """Look once whether the recall index is whole, and make again what is not."""
        if not self._mended:
            mend(self.kb, self.catalog, self.embedder, tell or _teller(None, 0.0))
            self._mended = True

    def _remove(self, repo: Repository) -> None:
        self.catalog.drop_repository(repo.repo_id)
        self._mended = False
        self._mend()  # forgets the places of repositories that are gone

    # One ingest -------------------------------------------------------------------------------------------------

    def _index(self, repo: Repository, progress: OnProgress | None, source: Any) -> Report:
        started = time.monotonic()
        self.catalog.clear_pending(repo)
        tell = _teller(progress, started)
        self._mend(tell)
        key = fingerprint(self.rules, self.embedder)
        with Intake(self.catalog, self.kb / "lexical", self.embedder.name) as intake:
            fill = Fill(self.catalog, intake, repo, key=key, tell=tell)
            found = scan(source, ScanRules(include=repo.include, exclude=repo.exclude))
            fill.store(self._built(fill.new(found)))
            places = intake.places[repo.repo_id]
            tell("publish", len(places), len(places), 0, 0)
            with intake.committing():
                number = self.publisher.prepare(repo, places, fill.skips, commit=source.commit)
        return self.publisher.conclude(
            repo, number, fill.skips, commit=source.commit, n_reused=fill.n_reused, started=started
        )

    def _built(self, documents: Iterable[Document]) -> Iterator[list[Built | Skipped]]:
        """Yield the documents built, in any order; worker processes are started only when the work pays for it."""
        work = batches(documents)
        first = list(islice(work, MIN_BATCHES_FOR_WORKERS))
        if self._in_process or len(first) < MIN_BATCHES_FOR_WORKERS:
            while first:
                yield from (build_batch(batch, self.rules, self.embedder) for batch in first)
                first = list(islice(work, MOST_WAITING))
            return
        workers = Workers(self.options.n_workers)
        try:
            yield from workers.build(chain(first, work), self.rules, self.options.embedder)
        finally:
            workers.close()


def _free_name(wanted: str, taken: set[str]) -> str:
    name, n = wanted, 2
    while name in taken:
        name, n = f"{wanted}-{n}", n + 1
    return name


def _teller(progress: OnProgress | None, started: float) -> Tell:
    def tell(phase: str, done: int, total: int, bytes_done: int, bytes_total: int) -> None:
        if progress is not None:
            progress(Progress(phase, done, total, bytes_done, bytes_total, time.monotonic() - started))

    return tell
