"""What the catalog holds of one repository at its active generation, as the resolution of references reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from devmind.index.catalog import VISIBLE, Catalog
from devmind.index.stored import stored_symbols
from devmind.retrieve.definitions import Definition, named
from devmind.retrieve.modules import Modules, local_name
from devmind.retrieve.scoping import Scoping, scoping_of
from devmind.types import Symbol, split_lines

TYPES = frozenset({"class", "struct", "interface", "trait", "protocol", "enum", "object", "union", "type"})
FUNCTIONS = frozenset({"function", "method", "macro"})
MEMBERS = frozenset({"method", "field", "property", "enum_member"})
NO_TARGETS = frozenset({"heading", "key", "route", "selector", "element", "target", "stage"})
_BUILD = re.compile(r"^(?:.*/)?src/\w+/(?:java|kotlin|scala)(?:/|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A reference and where it stands; ``scope`` is the ordinal of the enclosing symbol, -1 for none."""

    name: str
    kind: str
    line: int
    qualifier: str
    path: str
    content_id: int
    scope: int
    role: str = ""


@dataclass(frozen=True, slots=True)
class Import:
    name: str
    module: str
    local: str
    line: int


class Code:
    """Symbols, imports and lines, each read once and kept for the life of this object, one question's.

    Args:
        catalog: at the active generation.
        repo_id: of the repository.
    """

    def __init__(self, catalog: Catalog, repo_id: int) -> None:
        self.catalog, self.repo_id = catalog, repo_id
        self._named: dict[str, list[Definition]] = {}
        self._symbols: dict[int, tuple[Symbol, ...]] = {}
        self._imports: dict[int, tuple[Import, ...]] = {}
        self._supers: dict[int, dict[int, list[tuple[str, str]]]] = {}
        self._lines: dict[int, list[str]] = {}

    def symbols(self, content_id: int) -> tuple[Symbol, ...]:
        if content_id not in self._symbols:
            self._symbols[content_id] = stored_symbols(self.catalog, content_id)
        return self._symbols[content_id]

    def imports(self, use: Use) -> tuple[Import, ...]:
        if use.content_id not in self._imports:
            family = self.scoping(use).family
            self._imports[use.content_id] = tuple(
                Import(name, module, local_name(name, module, alias, family), line)
                for name, module, alias, line in self.catalog.rows(
                    "SELECT name, qualifier, alias, line FROM reference WHERE content_id = ? AND kind = 'imports'",
                    (use.content_id,),
                )
            )
        return self._imports[use.content_id]

    def supers(self, content_id: int, ordinal: int) -> list[tuple[str, str]]:
        """Return (qualifier, name) of what a class inherits from or implements."""
        if content_id not in self._supers:
            found: dict[int, list[tuple[str, str]]] = {}
            for scope, qualifier, name in self.catalog.rows(
                "SELECT scope, qualifier, name FROM reference WHERE content_id = ? "
                "AND kind IN ('inherits', 'implements')",
                (content_id,),
            ):
                found.setdefault(scope, []).append((qualifier, name))
            self._supers[content_id] = found
        return self._supers[content_id].get(ordinal, [])

    def lines(self, content_id: int) -> list[str]:
        if content_id not in self._lines:
            self._lines[content_id] = split_lines(self.catalog.text(content_id))
        return self._lines[content_id]

    @cached_property
    def files(self) -> dict[str, tuple[str, str, int]]:
        """Map each visible path to its (language, role, content id)."""
        rows = self.catalog.rows(
            f"""SELECT p.path, t.language, p.role, p.content_id FROM place p {VISIBLE}
            JOIN content t ON t.content_id = p.content_id WHERE p.repo_id = ?""",
            (self.repo_id,),
        )
        return {row[0]: row[1:] for row in rows}

    @cached_property
    def modules(self) -> Modules:
        go_module = ""
        for (content_id,) in self.catalog.rows(
            f"SELECT p.content_id FROM place p {VISIBLE} WHERE p.repo_id = ? AND p.path = 'go.mod'", (self.repo_id,)
        ):
            words = self.catalog.text(content_id).split()
            go_module = words[words.index("module") + 1] if "module" in words[:-1] else ""
        return Modules(self.files, go_module)

    def scoping(self, use: Use) -> Scoping:
        return scoping_of(self.files.get(use.path, ("", "", 0))[0])

    def named(self, use: Use, name: str) -> list[Definition]:
        """Return what ``name`` can mean where ``use`` stands: its language and case, and no test to what is none."""
        scoping = self.scoping(use)
        if name.lower() not in self._named:
            self._named[name.lower()] = named(self.catalog, name, [self.repo_id])
        in_test = self.files.get(use.path, ("", "", 0))[1] == "test"
        return [
            d
            for d in self._named[name.lower()]
            if (d.name == name or scoping.ignores_case)
            and d.kind not in NO_TARGETS
            and scoping_of(d.language).family == scoping.family
            and (in_test or d.role != "test" or d.path == use.path)
        ]

    def enclosing(self, content_id: int, ordinal: int) -> list[int]:
        """Return the ordinals of the symbol and of those around it, the innermost first."""
        found, symbols = [], self.symbols(content_id)
        while 0 <= ordinal < len(symbols):
            found.append(ordinal)
            ordinal = symbols[ordinal].parent
        return found

    def is_member(self, d: Definition) -> bool:
        parent = self.symbols(d.content_id)[d.parent].kind if d.parent >= 0 else ""
        return d.kind in MEMBERS or (parent in TYPES and d.kind not in TYPES)

    def function_around(self, d: Definition) -> int:
        """Return the ordinal of the function that ``d`` is local to; -1 for none."""
        symbols = self.symbols(d.content_id)
        return next((o for o in self.enclosing(d.content_id, d.parent) if symbols[o].kind in FUNCTIONS), -1)


def same_folder(a: str, b: str) -> bool:
    """Return whether two files lie in one folder, or in one package of a build that keeps its tests apart."""
    return _package(a) == _package(b)


def _package(path: str) -> str:
    return _BUILD.sub("", path.rpartition("/")[0])
