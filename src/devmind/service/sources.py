"""A place in a generation → its lines and definitions: what citations are checked against."""

from __future__ import annotations

from devmind.answer.subject import Named
from devmind.retrieve.published import Published
from devmind.service.relations import symbols


class Sources:
    """The indexed files, as `answer` reads them (its `extractive.Sources`)."""

    def __init__(self, published: Published) -> None:
        self._published = published
        self._catalog = published.catalog

    def lines(self, repo: str, path: str, generation: int) -> list[str] | None:
        """Return the lines of a file; None when it is not in that generation."""
        at = self._content(repo, path, generation)
        return None if at is None else self._published.lines_of(at)

    def symbol_span(self, repo: str, path: str, generation: int, symbol: str) -> tuple[int, int] | None:
        """Return the lines of the definition of a qualified or bare name; None when the file has none."""
        at = self._content(repo, path, generation)
        if at is None:
            return None
        rows = self._catalog.rows(
            "SELECT doc_line, end_line FROM symbol WHERE content_id = ? AND (qualified_name = ? OR name = ?) "
            "ORDER BY qualified_name = ? DESC, start_line LIMIT 1",
            (at, symbol, symbol, symbol),
        )
        return (rows[0][0], rows[0][1]) if rows else None

    def is_defined(self, name: str, repo: str) -> bool:
        """Return whether ``repo`` defines ``name``, which may be qualified."""
        return bool(symbols(self._catalog, name, repo=repo, limit=1))

    def named_within(self, repo: str, path: str, generation: int, *, start_line: int, end_line: int) -> list[Named]:
        """Return the definitions that share a line with ``start_line..end_line``, outer ones first."""
        at = self._content(repo, path, generation)
        rows = self._catalog.rows(
            "SELECT qualified_name, kind, doc_line, end_line, docstring FROM symbol WHERE content_id = ? "
            "AND doc_line <= ? AND end_line >= ? ORDER BY doc_line, end_line DESC, ordinal",
            (at, end_line, start_line),
        )
        return [Named(*row) for row in rows]

    def _content(self, repo: str, path: str, generation: int) -> int | None:
        rows = self._catalog.rows(
            "SELECT p.content_id FROM repository r JOIN place p ON p.repo_id = r.repo_id AND p.path = ? "
            "JOIN alive a ON a.place_id = p.place_id AND a.born <= ? AND (a.died IS NULL OR a.died > ?) "
            "WHERE r.name = ?",
            (path, generation, generation, repo),
        )
        return rows[0][0] if rows else None
