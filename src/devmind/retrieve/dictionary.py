"""All names of a knowledge base → those that hold a part."""

from __future__ import annotations

from devmind.index.catalog import Catalog


class Dictionary:
    """The names of all that is defined. One long text is the fastest to search: 1.6 MB for 100,000 names, 2 ms."""

    def __init__(self, catalog: Catalog) -> None:
        rows = catalog.rows("SELECT DISTINCT name FROM symbol")
        # A title is no name, and a letter whose small form is longer would shift what comes after.
        names = (name for (name,) in rows if " " not in name and "\n" not in name and len(name.lower()) == len(name))
        self._text = "\n".join(["", *names, ""])
        self._lower = self._text.lower()

    def holding(self, part: str, *, limit: int = 2000) -> list[str]:
        """Return the names that hold ``part`` in any case, each once, ``limit`` at most."""
        found: dict[str, None] = {}
        wanted = part.lower()
        at = self._lower.find(wanted)
        while at >= 0 and len(found) < limit:
            start, end = self._lower.rfind("\n", 0, at) + 1, self._lower.find("\n", at)
            found[self._text[start:end]] = None
            at = self._lower.find(wanted, end)
        return list(found)
