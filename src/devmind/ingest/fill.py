"""What a scan finds → contents and places of the next generation: what is stored is placed, the rest is to be built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from devmind.index.catalog import Catalog, Repository
from devmind.ingest.build import Built, batches
from devmind.ingest.intake import Intake
from devmind.ingest.mend import Tell
from devmind.types import Document, Skipped, stable_id

TOLD_EVERY = 200  # files between two words on how far the scan is
# A transaction writes each page that it touched: four batches in one take a tenth less time than one by one.
STORED_TOGETHER = 4


class Fill:
    """Takes the files of one source into the store; a content that several of them have is built once.

    ``new`` and ``store`` go on at the same time: the documents that the first yields come back built to the second.

    Attributes:
        skips: files that are not indexed, so far.
        n_reused: files whose content needed no building, so far.

    Args:
        key: what, besides a document's text, decides how it is stored.
    """

    def __init__(self, catalog: Catalog, intake: Intake, repo: Repository, *, key: str, tell: Tell) -> None:
        self.skips: list[Skipped] = []
        self.n_reused = 0
        self._catalog, self._intake, self._repo, self._key, self._tell = catalog, intake, repo, key, tell
        self._stored: dict[str, int] = {}  # hash → content id
        self._refused: dict[str, Skipped] = {}  # hash → why it cannot be stored
        self._awaited: dict[str, list[Document]] = {}  # hash of what is being built → where else it goes
        self._hash_by_path: dict[str, str] = {}  # of what is being built
        self._scanning = True
        self._n_new = self._n_done = self._new_bytes = self._done_bytes = 0

    def new(self, found: Iterable[Document | Skipped]) -> Iterator[Document]:
        """Yield the documents whose content is to be built; put the others where they belong."""
        for documents in batches(self._documents(found)):
            hashes = [stable_id(self._key, document.content_hash) for document in documents]
            self._stored |= self._catalog.content_ids(set(hashes) - self._stored.keys() - self._awaited.keys())
            building: list[Document] = []
            stored: list[tuple[Document, int]] = []
            for document, content_hash in zip(documents, hashes, strict=True):
                if content_hash in self._stored:
                    stored.append((document, self._stored[content_hash]))
                elif content_hash in self._refused:
                    self.skips.append(replace(self._refused[content_hash], path=document.path))
                elif content_hash in self._awaited:
                    self._awaited[content_hash].append(replace(document, text=""))
                else:
                    self._awaited[content_hash] = []
                    self._hash_by_path[document.path] = content_hash
                    building.append(document)
            self._place(stored)
            self.n_reused += len(documents) - len(building)
            self._n_new += len(building)
            self._new_bytes += sum(document.size_bytes for document in building)
            yield from building
        self._scanning = False
        self._tell_stored()

    def store(self, built: Iterator[Sequence[Built | Skipped]]) -> None:
        """Store what was built; a document that cannot be stored is a skip."""
        while group := list(islice(built, STORED_TOGETHER)):
            with self._catalog.transaction():
                for batch in group:
                    for one in batch:
                        self._take(one)
            self._n_done += sum(map(len, group))
            if not self._scanning:
                self._tell_stored()

    def _documents(self, found: Iterable[Document | Skipped]) -> Iterator[Document]:
        n_bytes = 0
        for n_seen, item in enumerate(found, 1):
            if isinstance(item, Skipped):
                self.skips.append(item)
                continue
            n_bytes += item.size_bytes
            if n_seen % TOLD_EVERY == 0:
                self._tell("scan", n_seen, 0, n_bytes, 0)
            yield item

    def _tell_stored(self) -> None:
        self._tell("index", self._n_done, self._n_new, self._done_bytes, self._new_bytes)

    def _place(self, stored: Sequence[tuple[Document, int]]) -> None:
        if stored:
            with self._catalog.transaction():
                for document, content_id in stored:
                    self._intake.place(self._repo, document, content_id)

    def _take(self, built: Built | Skipped) -> None:
        """Store one content and place it wherever it was found; the caller holds the transaction."""
        path = built.path if isinstance(built, Skipped) else built.document.path
        content_hash = self._hash_by_path.pop(path)
        others = self._awaited.pop(content_hash)
        self._done_bytes += built.size_bytes if isinstance(built, Skipped) else built.document.size_bytes
        if isinstance(built, Skipped):
            self._refused[content_hash] = built
            self.skips += [built, *(replace(built, path=document.path) for document in others)]
            return
        content_id = self._stored[content_hash] = self._intake.store(self._repo, built, content_hash)
        for document in others:
            self._intake.place(self._repo, document, content_id)
