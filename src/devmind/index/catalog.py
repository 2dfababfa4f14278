"""The catalog: repositories, generations, contents, chunks, symbols and references in one SQLite file (WAL).

Content is stored once per (content hash, pipeline): its compressed text, chunks, symbols, references and vectors. A
*place* says that a repository has this content at a path; ``alive`` says in which generations. A place is visible at
generation g when ``born <= g`` and (``died`` is null or ``died > g``), so everything written for g+1 stays invisible
until ``publish`` moves the repository's active generation by one statement.

Ids of repositories, contents and places are never given twice (AUTOINCREMENT): the lexical index, snapshots and the
caches of readers know things by them, and may hold some that are gone from here for a while.

Raw ``sqlite3`` and not an SQL toolkit: importing SQLAlchemy costs 0.30 s of CPU (measured 2026-11-30), half of what a
cold ``devmind search`` may spend.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from devmind.errors import StoreError, UsageError

# 1: first format; 2: a content names the model of its vectors; 3: ids are never used again, the knowledge base has one;
# 4: a content holds the terms of its file and the names that it defines and uses.
FORMAT_VERSION = 4
ORDINAL_BITS = 16  # a chunk's key is place_id << 16 | ordinal
MAX_CHUNKS = 1 << ORDINAL_BITS  # of a document; one more would have the key of another place's first
ORDINALS = MAX_CHUNKS - 1  # the bits of a key that are the ordinal

SCHEMA = """
CREATE TABLE knowledge_base (kb_id TEXT NOT NULL);
INSERT INTO knowledge_base VALUES (lower(hex(randomblob(8))));
CREATE TABLE repository (
  repo_id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, source TEXT NOT NULL, kind TEXT NOT NULL,
  ref TEXT, include TEXT NOT NULL, exclude TEXT NOT NULL, active_generation INTEGER NOT NULL DEFAULT 0);
CREATE TABLE generation (
  repo_id INTEGER NOT NULL, number INTEGER NOT NULL, commit_hash TEXT NOT NULL, created_at REAL NOT NULL,
  report TEXT NOT NULL, PRIMARY KEY (repo_id, number)) WITHOUT ROWID;
CREATE TABLE content (
  content_id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE, language TEXT NOT NULL,
  encoding TEXT NOT NULL, size_bytes INTEGER NOT NULL, n_lines INTEGER NOT NULL, text BLOB NOT NULL, lead TEXT NOT NULL,
  has_errors INTEGER NOT NULL, model TEXT NOT NULL, vectors BLOB NOT NULL,
  terms BLOB NOT NULL, defines BLOB NOT NULL, uses BLOB NOT NULL);
CREATE TABLE chunk (
  content_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
  header TEXT NOT NULL, function_name TEXT NOT NULL, class_name TEXT NOT NULL, qualified_name TEXT NOT NULL,
  node_type TEXT NOT NULL, parent INTEGER NOT NULL, n_tokens INTEGER NOT NULL, symbols TEXT NOT NULL,
  hash TEXT NOT NULL, PRIMARY KEY (content_id, ordinal)) WITHOUT ROWID;
CREATE TABLE symbol (
  content_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, name TEXT NOT NULL COLLATE NOCASE,
  qualified_name TEXT NOT NULL, kind TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
  doc_line INTEGER NOT NULL, signature TEXT NOT NULL, docstring TEXT NOT NULL, visibility TEXT NOT NULL,
  parent INTEGER NOT NULL, PRIMARY KEY (content_id, ordinal)) WITHOUT ROWID;
CREATE INDEX symbol_by_name ON symbol (name);
CREATE TABLE reference (
  content_id INTEGER NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, line INTEGER NOT NULL, scope INTEGER NOT NULL,
  qualifier TEXT NOT NULL, alias TEXT NOT NULL);
CREATE INDEX reference_by_name ON reference (name);
CREATE INDEX reference_by_content ON reference (content_id);
CREATE TABLE place (
  place_id INTEGER PRIMARY KEY AUTOINCREMENT, repo_id INTEGER NOT NULL, path TEXT NOT NULL,
  content_id INTEGER NOT NULL, role TEXT NOT NULL, last_modified REAL, in_lexical INTEGER NOT NULL DEFAULT 0,
  UNIQUE (repo_id, path, content_id));
CREATE INDEX place_by_content ON place (content_id);
CREATE TABLE alive (place_id INTEGER NOT NULL, repo_id INTEGER NOT NULL, born INTEGER NOT NULL, died INTEGER);
CREATE INDEX alive_by_place ON alive (place_id);
CREATE INDEX alive_by_repo ON alive (repo_id, born);
CREATE TABLE skip (
  repo_id INTEGER NOT NULL, generation INTEGER NOT NULL, path TEXT NOT NULL, reason TEXT NOT NULL,
  detail TEXT NOT NULL, size_bytes INTEGER NOT NULL);
CREATE INDEX skip_by_generation ON skip (repo_id, generation);
"""

ALIVE = "a.born <= r.active_generation AND (a.died IS NULL OR a.died > r.active_generation)"
# After ``place p``: keeps the places that are visible at their repository's active generation.
VISIBLE = f"JOIN repository r ON r.repo_id = p.repo_id JOIN alive a ON a.place_id = p.place_id AND {ALIVE}"


@dataclass(frozen=True, slots=True)
class Repository:
    repo_id: int
    name: str
    source: str
    kind: str
    ref: str | None
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    active_generation: int


class Active(NamedTuple):
    """What readers see of a repository."""

    name: str
    generation: int
    commit: str


def unknown_repository(name: str, known: Iterable[str]) -> UsageError:
    """Return the error for a name that no repository has; it lists those that are there."""
    names = ", ".join(sorted(known)) or "none"
    return UsageError(f"no repository named '{name}' here; known: {names}", code="unknown_repository")


class Catalog:
    """One connection to a knowledge base's catalog.

    A folder that cannot be written (by its rights, or as a whole file system) can be read when its last writer has
    ended in order; it is then taken to stay as it is while the connection is open.

    Args:
        path: the SQLite file.
        create: make the file and its tables when absent; otherwise a missing file is a ``UsageError``.

    Raises:
        UsageError: there is no knowledge base at ``path``.
        StoreError: the file is damaged or of another format.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        if not create and not path.exists():
            raise UsageError(f"no knowledge base at {path.parent}: run 'devmind add SOURCE' first", code="no_kb")
        self.path = path
        self._one_reader = threading.RLock()
        try:
            try:
                self.db = _connection(path, create=create)
            except sqlite3.OperationalError as error:
                if create or not _may_be_read_only(error):
                    raise
                self.db = _unchanging_connection(path, error)
            version = self.db.execute("PRAGMA user_version").fetchone()[0]
            if version == 0 and create:
                self.db.executescript(f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version={FORMAT_VERSION}; COMMIT;")
            elif version != FORMAT_VERSION:
                self.db.close()
                raise StoreError(
                    f"{path} has format {version}, this devmind reads format {FORMAT_VERSION}: "
                    "use the devmind that wrote it, or index again into another --kb folder",
                    code="format",
                )
        except sqlite3.Error as error:
            raise StoreError(f"cannot open the catalog {path}: {error}; restore the file or index again") from error

    def close(self) -> None:
        self.db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block in one write transaction: all of it is committed, or none."""
        try:
            self.db.execute("BEGIN IMMEDIATE")
            yield
            self.db.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back()
            raise StoreError(
                f"cannot write the catalog {self.path}: {error}; the published state is unchanged: "
                "mend the cause (free disk space, or stop what holds the file) and run the same command again",
                code="write_failed",
            ) from error
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let all reads of the block see one state, whatever is published meanwhile. Blocks nest.

        Only one thread at a time is in such a block: they share the connection, and with it the state.
        """
        with self._one_reader:
            if self.db.in_transaction:
                yield
                return
            self.db.execute("BEGIN")
            try:
                yield
            finally:
                self._roll_back()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            return self.db.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise StoreError(f"the catalog {self.path} cannot be read: {error}; run 'devmind doctor'") from error

    @property
    def kb_id(self) -> str:
        """What tells this knowledge base from any other, however often it is copied or moved."""
        return "".join(str(row[0]) for row in self.rows("SELECT kb_id FROM knowledge_base"))

    # Repositories -----------------------------------------------------------------------------------------------

    def repositories(self) -> list[Repository]:
        found = self.rows(
            "SELECT repo_id, name, source, kind, ref, include, exclude, active_generation FROM repository ORDER BY name"
        )
        return [
            Repository(
                row[0], row[1], row[2], row[3], row[4], tuple(json.loads(row[5])), tuple(json.loads(row[6])), row[7]
            )
            for row in found
        ]

    def repository(self, name: str) -> Repository:
        """Return the repository of that name.

        Raises:
            UsageError: there is none; the message lists the nearest names.
        """
        known = self.repositories()
        for repo in known:
            if repo.name == name:
                return repo
        raise unknown_repository(name, (repo.name for repo in known))

    def unpublished(self, name: str) -> UsageError:
        """Return the error for a name that no published repository has."""
        known = {repo.name: repo for repo in self.repositories()}
        if name not in known:
            return unknown_repository(name, (repo.name for repo in known.values() if repo.active_generation))
        how = f"run 'devmind sync {name}'" if known[name].source else "import its file again"
        return UsageError(f"'{name}' is not indexed yet: {how} to finish", code="not_indexed")

    def register(
        self, *, name: str, source: str, kind: str, ref: str | None, include: Sequence[str], exclude: Sequence[str]
    ) -> Repository:
        """Add a repository, or update the rules of the one of that name."""
        with self.transaction():
            self.db.execute(
                "INSERT INTO repository (name, source, kind, ref, include, exclude) VALUES (?,?,?,?,?,?) "
                "ON CONFLICT (name) DO UPDATE SET source=excluded.source, kind=excluded.kind, ref=excluded.ref, "
                "include=excluded.include, exclude=excluded.exclude",
                (name, source, kind, ref, json.dumps(list(include)), json.dumps(list(exclude))),
            )
        return self.repository(name)

    def drop_repository(self, repo_id: int) -> None:
        """Forget a repository; its places stay, seen by nobody, until the lexical index has forgotten them too."""
        with self.transaction():
            for table in ("alive", "skip", "generation", "repository"):
                self.db.execute(f"DELETE FROM {table} WHERE repo_id = ?", (repo_id,))

    def abandoned_places(self) -> list[int]:
        """Return the places whose repository is gone."""
        return [
            row[0]
            for row in self.rows("SELECT place_id FROM place WHERE repo_id NOT IN (SELECT repo_id FROM repository)")
        ]

    # Writing one generation -------------------------------------------------------------------------------------

    def clear_pending(self, repo: Repository) -> None:
        """Forget what an interrupted ingest left behind the active generation."""
        active = repo.active_generation
        with self.transaction():
            self.db.execute("DELETE FROM alive WHERE repo_id = ? AND born > ?", (repo.repo_id, active))
            self.db.execute("UPDATE alive SET died = NULL WHERE repo_id = ? AND died > ?", (repo.repo_id, active))
            self.db.execute("DELETE FROM skip WHERE repo_id = ? AND generation > ?", (repo.repo_id, active))

    def content_ids(self, hashes: Iterable[str]) -> dict[str, int]:
        """Map those of ``hashes`` that are stored to their content ids."""
        wanted, found = list(hashes), {}
        for at in range(0, len(wanted), 500):
            part = wanted[at : at + 500]
            marks = ",".join("?" * len(part))
            found.update(dict(self.rows(f"SELECT hash, content_id FROM content WHERE hash IN ({marks})", part)))
        return found

    def alive_places(self, repo_id: int, generation: int) -> dict[str, tuple[int, int, str]]:
        """Map each path visible at ``generation`` to (place id, content id, role)."""
        found = self.rows(
            "SELECT p.path, p.place_id, p.content_id, p.role FROM alive a JOIN place p ON p.place_id = a.place_id "
            "WHERE a.repo_id = ? AND a.born <= ? AND (a.died IS NULL OR a.died > ?)",
            (repo_id, generation, generation),
        )
        return {path: (place_id, content_id, role) for path, place_id, content_id, role in found}

    def place(
        self, repo_id: int, path: str, content_id: int, role: str, last_modified: float | None
    ) -> tuple[int, bool, bool]:
        """Return (place id, whether it is new, whether its chunks are in the lexical index)."""
        key = (repo_id, path, content_id)
        found = self.rows(
            "SELECT place_id, in_lexical FROM place WHERE repo_id = ? AND path = ? AND content_id = ?", key
        )
        if found:
            return found[0][0], False, bool(found[0][1])
        made = self.db.execute(
            "INSERT INTO place (repo_id, path, content_id, role, last_modified) VALUES (?,?,?,?,?)",
            (*key, role, last_modified),
        )
        return int(made.lastrowid or 0), True, False

    def publish(self, repo_id: int, generation: int, *, commit: str, report: dict[str, Any]) -> None:
        """Make ``generation`` the one that readers see."""
        with self.transaction():
            self.db.execute(
                "INSERT OR REPLACE INTO generation VALUES (?,?,?,?,?)",
                (repo_id, generation, commit, time.time(), json.dumps(report)),
            )
            self.db.execute("UPDATE repository SET active_generation = ? WHERE repo_id = ?", (generation, repo_id))

    # Reading ----------------------------------------------------------------------------------------------------

    def active(self) -> dict[int, Active]:
        """Map the ids of the published repositories to what readers see of them, in one read."""
        found = self.rows(
            "SELECT r.repo_id, r.name, r.active_generation, g.commit_hash FROM repository r "
            "JOIN generation g ON g.repo_id = r.repo_id AND g.number = r.active_generation"
        )
        return {row[0]: Active(*row[1:]) for row in found}

    def text(self, content_id: int) -> str:
        return self.decoded(content_id, self.stored_text(content_id))

    def stored_text(self, content_id: int) -> bytes:
        """Return the text as it is stored, for who needs a part of it; `decoded` reads that."""
        blob = self.rows("SELECT text FROM content WHERE content_id = ?", (content_id,))
        if not blob:
            raise StoreError(f"content {content_id} is gone from {self.path}; run 'devmind sync'")
        try:
            return zlib.decompress(blob[0][0])
        except (zlib.error, TypeError) as error:
            raise self._damaged(content_id, error) from error

    def decoded(self, content_id: int, stored: bytes) -> str:
        """Return some lines of a content, or all, as text."""
        try:
            return stored.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise self._damaged(content_id, error) from error

    def _damaged(self, content_id: int, error: Exception) -> StoreError:
        return StoreError(
            f"content {content_id} in {self.path} is damaged: {error}; restore the file from a copy, or index its "
            "repositories again into another --kb folder",
            code="damaged",
        )


def _connection(place: Path | str, *, create: bool) -> sqlite3.Connection:
    db = sqlite3.connect(place, timeout=30, isolation_level=None, check_same_thread=False, uri=isinstance(place, str))
    try:
        db.execute("PRAGMA journal_mode=WAL" if create else "PRAGMA query_only=1")
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("PRAGMA cache_size=-65536")
        db.execute("PRAGMA mmap_size=1073741824")
        db.execute("PRAGMA user_version")  # the first that reads the file
    except BaseException:
        db.close()
        raise
    return db


def _may_be_read_only(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


def _unchanging_connection(path: Path, error: sqlite3.Error) -> sqlite3.Connection:
    """Open a catalog where SQLite may not make the files beside it that it uses to tell writers from readers."""
    if Path(f"{path}-wal").exists():
        raise StoreError(
            f"cannot read the catalog {path}: the folder is read-only and its last writer was killed; run "
            "'devmind status' once where the folder can be written, or copy it to such a place",
            code="read_only",
        ) from error
    return _connection(f"{path.absolute().as_uri()}?immutable=1", create=False)
