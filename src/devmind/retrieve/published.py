"""The active generations → the open indexes over them: lexical reader, snapshots and views, kept until they move."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from devmind.embed.types import Embedder
from devmind.index.catalog import Active, Catalog
from devmind.index.lexical import LexicalReader
from devmind.index.snapshot import Snapshot
from devmind.index.snapshot_folder import load_snapshot
from devmind.index.view import View
from devmind.retrieve.dictionary import Dictionary
from devmind.types import split_lines

NEWLINE = 10
VIEWS_KEPT = 4  # of repositories searched together; the arrays of a large one take tens of megabytes
TEXTS_KEPT = 256  # of files that hits and citations are cut from: some megabytes


class Published:
    """What searches read of one knowledge base folder. Use it within `Catalog.reading`.

    Args:
        kb: the folder.
        embedder: that the index was made with.
    """

    def __init__(self, kb: Path, embedder: Embedder) -> None:
        self.catalog = Catalog(kb / "catalog.sqlite")
        self.embedder = embedder
        self.active: Mapping[int, Active] = {}
        self._kb = kb
        self._lexical: LexicalReader | None = None
        self._snapshots: dict[tuple[int, int], Snapshot] = {}
        self._views: OrderedDict[tuple[tuple[int, int], ...], View] = OrderedDict()
        self._names: Dictionary | None = None
        self._texts: OrderedDict[int, _Text] = OrderedDict()

    def take_up(self) -> Mapping[int, Active]:
        """Read the active generations; when they moved, see the lexical commits that came before."""
        active = self.catalog.active()
        if active != self.active:
            if self._lexical is not None:
                self._lexical.refresh()
            self._snapshots = {
                (repo_id, generation): snapshot
                for (repo_id, generation), snapshot in self._snapshots.items()
                if repo_id in active and active[repo_id].generation == generation
            }
            self._views.clear()
            self._names = None
            self.active = active
        return active

    def chosen(self, repos: Sequence[str]) -> list[int]:
        """Return the ids of the repositories of these names, of all without names.

        Raises:
            UsageError: a name is unknown.
        """
        id_by_name = {one.name: repo_id for repo_id, one in self.active.items()}
        for name in repos:
            if name not in id_by_name:
                raise self.catalog.unpublished(name)
        return sorted(id_by_name[name] for name in repos) if repos else sorted(self.active)

    @property
    def lexical(self) -> LexicalReader:
        """The lexical index, opened by the first search: all else can be asked without it."""
        if self._lexical is None:
            self._lexical = LexicalReader(self._kb / "lexical")
        return self._lexical

    def forget_lexical(self) -> None:
        """Open the lexical index anew when it is needed next: it may be mended by then."""
        self._lexical = None

    def snapshot(self, repo_id: int, generation: int) -> Snapshot:
        at = (repo_id, generation)
        if at not in self._snapshots:
            self._snapshots[at] = load_snapshot(self._kb / "vectors", self.catalog, repo_id, generation, self.embedder)
        return self._snapshots[at]

    def view(self, repo_ids: Sequence[int]) -> View:
        """Return the active generations of these repositories as one view."""
        at = tuple((repo_id, self.active[repo_id].generation) for repo_id in repo_ids)
        if at not in self._views:
            self._views[at] = View([self.snapshot(*one) for one in at])
            while len(self._views) > VIEWS_KEPT:
                self._views.popitem(last=False)
        self._views.move_to_end(at)
        return self._views[at]

    def names(self) -> Dictionary:
        """Return the names of all that is defined; the first call of a state reads them all."""
        if self._names is None:
            self._names = Dictionary(self.catalog)
        return self._names

    def lines_of(self, content_id: int) -> list[str]:
        """Return the lines of a content."""
        text = self._text(content_id)
        if text.lines is None:
            text.lines = split_lines(self.catalog.decoded(content_id, text.stored))
        return text.lines

    def cut(self, content_id: int, start: int, end: int) -> str:
        """Return the lines ``start..end`` of a content, as one text."""
        return self.catalog.decoded(content_id, self._text(content_id).cut(start, end))

    def _text(self, content_id: int) -> _Text:
        if content_id not in self._texts:
            self._texts[content_id] = _Text(self.catalog.stored_text(content_id))
            while len(self._texts) > TEXTS_KEPT:
                self._texts.popitem(last=False)
        self._texts.move_to_end(content_id)
        return self._texts[content_id]


class _Text:
    """A text as it is stored. Its lines are found by where they end: splitting all of it takes ten times as long."""

    __slots__ = ("_ends", "lines", "stored")

    def __init__(self, stored: bytes) -> None:
        self.stored = stored
        self.lines: list[str] | None = None  # made when somebody needs them all
        self._ends = (np.frombuffer(stored, np.uint8) == NEWLINE).nonzero()[0]

    def cut(self, start: int, end: int) -> bytes:
        """Return the lines ``start..end``, without the last one's end."""
        first = self._ends.item(start - 2) + 1 if start > 1 else 0
        return self.stored[first : self._ends.item(end - 1) if end <= len(self._ends) else None]
