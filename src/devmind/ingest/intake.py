"""What one ingest adds to the store before anybody can see it: contents, places, lexical documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from devmind.index.catalog import Catalog, Repository
from devmind.index.fields import ChunkFields, path_field
from devmind.index.lexical import LexicalWriter
from devmind.index.stored import insert_rows, stored_fields
from devmind.ingest.build import Built
from devmind.types import Document


class Intake:
    """Stores documents for the next generations; ``places`` maps each repository's paths to their places.

    The lexical index has a writer only once there is something to write. Left by an error, nothing is committed to it
    that counts as stored.

    Args:
        model: name of the embedder whose vectors are stored.
    """

    def __init__(self, catalog: Catalog, lexical_dir: Path, model: str) -> None:
        self.catalog = catalog
        self.places: dict[int, dict[str, int]] = defaultdict(dict)
        self._lexical_dir, self._model = lexical_dir, model
        self._lexical: LexicalWriter | None = None
        self._indexed: list[int] = []
        self._committed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lexical is None:
            return
        if kind is None:
            if not self._committed:
                self._lexical.commit()
            with self.catalog.transaction():
                self.catalog.db.executemany(
                    "UPDATE place SET in_lexical = 1 WHERE place_id = ?", [(p,) for p in self._indexed]
                )
        self._lexical.close()

    @contextmanager
    def committing(self) -> Iterator[None]:
        """Commit the lexical documents while the block runs, which adds none; tantivy has a thread of its own."""
        if self._lexical is None:
            yield
            return
        with ThreadPoolExecutor(1) as threads:
            committed = threads.submit(self._lexical.commit)
            yield
            committed.result()
        self._committed = True

    def store(self, repo: Repository, built: Built, content_hash: str) -> int:
        """Write a content with its chunks, symbols and references, and place it; return the content's id."""
        document = built.document
        made = self.catalog.db.execute(
            "INSERT INTO content (hash, language, encoding, size_bytes, n_lines, text, lead, has_errors, model, "
            "vectors, terms, defines, uses) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (content_hash, document.language, document.encoding, document.size_bytes, built.n_lines, built.text,
             built.lead, int(built.has_errors), self._model, built.vectors, built.terms,
             built.defines, built.uses),
        )  # fmt: skip
        content_id = int(made.lastrowid or 0)
        rows, fields = built.unpacked()
        insert_rows(self.catalog, content_id, rows)
        self.place(repo, document, content_id, fields)
        return content_id

    def place(
        self, repo: Repository, document: Document, content_id: int, fields: Sequence[ChunkFields] | None = None
    ) -> None:
        """Put a stored content at the document's path; its chunks go to the lexical index when they are not there."""
        place_id, new, in_lexical = self.catalog.place(
            repo.repo_id, document.path, content_id, document.role, document.last_modified
        )
        self.places[repo.repo_id][document.path] = place_id
        if in_lexical:
            return
        if self._lexical is None:
            self._lexical = LexicalWriter(self._lexical_dir)
        if not new:
            self._lexical.delete_place(place_id)
        if fields is None:
            fields = stored_fields(self.catalog, content_id)
        self._lexical.add(place_id, repo.repo_id, path_field(document.path), fields)
        self._indexed.append(place_id)
