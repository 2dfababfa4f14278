"""A published repository in the knowledge base → its files with text, symbols and references, as generators need it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from devmind.errors import UsageError
from devmind.index.catalog import Catalog, Repository
from devmind.index.stored import stored_references, stored_symbols
from devmind.scan.git import find_repository
from devmind.scan.source import mirror_of
from devmind.types import Reference, Symbol, split_lines

DIRTY = "-dirty"  # how the scan marks a working tree that differs from its commit
_TEST_MODULE = re.compile(r"(?:.*(?:::|\.))?tests?(?:::|\.|$)")
# What a question may ask for. Headings and keys are answered by prose and settings, which no symbol question means.
CODE_KINDS = frozenset(
    {
        "class", "method", "function", "constant", "enum", "interface", "struct", "union", "trait", "protocol", "type",
        "macro", "object", "message", "service", "rpc", "property", "variable", "field", "enum_member", "module",
        "namespace", "table", "view", "route",
    }
)  # fmt: skip
FUNCTION_KINDS = frozenset({"function", "method"})
CLASS_KINDS = frozenset({"class", "struct", "interface", "trait", "protocol", "enum", "object", "union"})


@dataclass(frozen=True)
class File:
    """One indexed file."""

    path: str
    role: str
    language: str
    content_id: int
    text: str
    symbols: tuple[Symbol, ...]
    references: tuple[Reference, ...]

    @cached_property
    def lines(self) -> list[str]:
        return split_lines(self.text)


@dataclass(frozen=True, slots=True)
class Unit:
    """A definition and where it is; ``index`` is the symbol's place among those of its file."""

    file: File
    index: int
    symbol: Symbol

    @property
    def key(self) -> str:
        return f"{self.file.path}:{self.symbol.qualified_name}:{self.symbol.kind}:{self.symbol.start_line}"


@dataclass(frozen=True)
class Corpus:
    """One repository at its active generation.

    Attributes:
        commit: what topics name; "" if the files indexed are no commit's (a plain folder, a changed working tree).
        head: the commit that the indexed files are, or are changes of; "" if there is none.
        folder: where the files and the history are on this machine; None if the repository was imported.
        skipped: paths that were not indexed: what they hold is not known, but their names are.
    """

    repository: Repository
    commit: str
    head: str
    folder: Path | None
    files: tuple[File, ...]
    skipped: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.repository.name

    def units(self, *, role: str = "") -> Iterator[Unit]:
        """Yield the definitions of code, by path and line; of one role only, if it is given.

        Tests that stand in the file that they test are no source.
        """
        for file in self.files:
            if role and file.role != role:
                continue
            for index, symbol in enumerate(file.symbols):
                if symbol.kind in CODE_KINDS and not (role == "source" and _TEST_MODULE.match(symbol.qualified_name)):
                    yield Unit(file, index, symbol)


@contextmanager
def open_catalog(home: Path) -> Iterator[Catalog]:
    """Open the catalog of the knowledge base in ``home`` for reading.

    Raises:
        UsageError: there is no knowledge base.
    """
    catalog = Catalog(home / "catalog.sqlite")
    try:
        yield catalog
    finally:
        catalog.close()


def read_corpus(catalog: Catalog, repo: str, *, home: Path) -> Corpus:
    """Return the repository ``repo`` as its active generation shows it.

    Args:
        home: the knowledge base's folder, where mirrors of URLs are kept.

    Raises:
        UsageError: there is no such repository, or it has no published generation or no indexed file.
    """
    repository = catalog.repository(repo)
    published = catalog.active().get(repository.repo_id)
    if published is None:
        raise UsageError(f"'{repo}' has no published generation: run 'devmind sync {repo}' first", code="not_indexed")
    commit = published[2]
    places = catalog.alive_places(repository.repo_id, repository.active_generation)
    if not places:
        raise UsageError(f"'{repo}' has no indexed file: see 'devmind files {repo}'", code="not_indexed")
    languages = dict(catalog.rows("SELECT content_id, language FROM content"))
    skipped = catalog.rows(
        "SELECT path FROM skip WHERE repo_id = ? AND generation = ? ORDER BY path",
        (repository.repo_id, repository.active_generation),
    )
    return Corpus(
        repository=repository,
        commit="" if commit.endswith(DIRTY) else commit,
        head=commit.removesuffix(DIRTY),
        folder=_folder(repository, home),
        files=tuple(
            _file(catalog, path, role, content_id, languages[content_id])
            for path, (_, content_id, role) in sorted(places.items())
        ),
        skipped=tuple(row[0] for row in skipped),
    )


def _file(catalog: Catalog, path: str, role: str, content_id: int, language: str) -> File:
    return File(
        path, role, language, content_id, catalog.text(content_id),
        stored_symbols(catalog, content_id), stored_references(catalog, content_id),
    )  # fmt: skip


def _folder(repository: Repository, home: Path) -> Path | None:
    place = Path(repository.source) if repository.kind != "url" else mirror_of(repository.source, home / "mirrors")
    return place if repository.kind != "import" and place.is_dir() else None


def has_history(corpus: Corpus) -> bool:
    """Return whether the commits that led to the indexed files can be read on this machine."""
    return bool(corpus.head) and corpus.folder is not None and find_repository(corpus.folder) is not None
