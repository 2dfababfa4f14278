"""What one query is put to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from devmind.embed.types import Embedder
from devmind.index.catalog import Catalog
from devmind.index.lexical import LexicalReader
from devmind.index.snapshot import Keys
from devmind.index.view import Rows, View
from devmind.retrieve.dictionary import Dictionary
from devmind.retrieve.passing import Mask


@dataclass(frozen=True, slots=True)
class Corpus:
    """The indexes that the legs read.

    Attributes:
        view: the chunks of the repositories ``repo_ids``.
        allowed: which of its rows may be shown; None for all.
        is_part: whether other repositories are published besides.
        lines_of: the lines of a content.
        names: the names of all that is defined; read when they are first asked for.
        fields: of the lexical index, and what each counts; None lets the question decide.
    """

    view: View
    allowed: Mask | None
    repo_ids: tuple[int, ...]
    is_part: bool
    catalog: Catalog
    lexical: LexicalReader
    embedder: Embedder
    lines_of: Callable[[int], Sequence[str]]
    names: Callable[[], Dictionary]
    fields: Mapping[str, float] | None = None

    def rows_of(self, keys: Keys) -> tuple[Rows, Mask]:
        """Return the row of each key, and which of them are visible and may be shown."""
        rows = self.view.rows_of(keys)
        keep = rows >= 0
        if self.allowed is not None and self.view.n:
            keep &= self.allowed[rows]
        return rows, keep
