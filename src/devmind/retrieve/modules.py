"""The module that an import names → the files of the repository that it can mean; none for one from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from posixpath import normpath

_VERSION = re.compile(r"v\d+$")
_SOURCE = re.compile(r"(?:\.d)?\.[cm]?[jt]sx?$|\.vue$|\.(?:py|pyi|go|rs|java|kt|scala|rb|php|lua|ex|exs|swift|cs)$")
_STEMS = ("index", "__init__", "mod", "lib", "main")  # a file of such a name speaks for its folder


def local_name(name: str, module: str, alias: str, family: str) -> str:
    """Return the name that an import gives to what it imports, as the code that follows writes it."""
    if alias:
        return alias
    if family == "go":
        parts = [part for part in module.split("/") if not _VERSION.match(part)] or [name]
        return parts[-1].removeprefix("go-").partition(".")[0]
    return name


class Modules:
    """The files of a repository, as modules.

    Args:
        paths: of all its visible files.
        go_module: what its ``go.mod`` says it is; empty without one.
    """

    def __init__(self, paths: Iterable[str], go_module: str = "") -> None:
        self._go_module = go_module
        self._by_tail: dict[str, list[tuple[str, str]]] = {}  # last part of the module → (module, path)
        self._by_module: dict[str, list[str]] = {}
        self._folders: dict[str, list[str]] = {}
        self._known: dict[tuple[str, str, str], frozenset[str]] = {}
        for path in paths:
            module = _SOURCE.sub("", path)
            folder, _, stem = module.rpartition("/")
            self._folders.setdefault(folder, []).append(path)
            self._note(module, path)
            if stem in _STEMS and folder:
                self._note(folder, path)

    def _note(self, module: str, path: str) -> None:
        self._by_module.setdefault(module, []).append(path)
        self._by_tail.setdefault(module.rpartition("/")[2], []).append((module, path))

    def files(self, module: str, *, at: str, family: str) -> frozenset[str]:
        """Return the paths that ``module``, imported by the file ``at``, can mean.

        Args:
            module: as written.
            family: of languages (``scoping``).
        """
        key = (module, at if family == "rust" or module.startswith(".") else "", family)
        if key not in self._known:
            self._known[key] = self._find(module, at, family)
        return self._known[key]

    def _find(self, module: str, at: str, family: str) -> frozenset[str]:
        folder = at.rpartition("/")[0]
        if family == "python":
            return self._python(module, folder)
        if family == "ecma":
            return self._ecma(module, folder)
        if family == "go":
            return self._go(module)
        if family == "rust":
            return self._rust(module, at)
        if module.startswith("."):
            return self._exactly(normpath(f"{folder}/{_SOURCE.sub('', module)}"))
        return self._ending(re.split(r"[./\\]|::", _SOURCE.sub("", module)))

    def _exactly(self, module: str) -> frozenset[str]:
        return frozenset(self._by_module.get(module.strip("/"), ()))

    def _ending(self, parts: list[str]) -> frozenset[str]:
        """Return the files whose module ends with all ``parts``, else those of a folder that does."""
        wanted = "/".join(filter(None, parts))
        tail = wanted.rpartition("/")[2]
        files = frozenset(
            path for module, path in self._by_tail.get(tail, ()) if module == wanted or module.endswith("/" + wanted)
        )
        return files or frozenset(
            path
            for folder, paths in self._folders.items()
            if folder == wanted or folder.endswith("/" + wanted)
            for path in paths
        )

    def _python(self, module: str, folder: str) -> frozenset[str]:
        rest = module.lstrip(".")
        if not (up := len(module) - len(rest)):
            return self._ending(rest.split("."))
        base = folder.split("/") if folder else []
        base = base[: len(base) - up + 1]
        whole = "/".join([*base, *filter(None, rest.split("."))])
        return self._exactly(whole) or frozenset(self._folders.get(whole, ()))

    def _ecma(self, module: str, folder: str) -> frozenset[str]:
        bare = _SOURCE.sub("", module)
        if module.startswith("."):
            return self._exactly(normpath(f"{folder}/{bare}"))
        if module.startswith(("@/", "~/")):
            return self._ending(bare[2:].split("/"))
        parts = [part for part in bare.split("/") if not part.startswith("@")] or [bare]
        if parts[0].startswith("node:"):
            return frozenset()
        # A package of this very repository: its folder has its name, the rest of the module lies below.
        return frozenset(
            path
            for at, paths in self._folders.items()
            if _in_order(parts, at.split("/"))
            for path in paths
            if at.rpartition("/")[2] == parts[-1] and PurePosixPath(path).name.partition(".")[0] == "index"
        )

    def _go(self, module: str) -> frozenset[str]:
        own = self._go_module
        if own and module == own:
            return frozenset(self._folders.get("", ()))
        if own and not module.startswith(own + "/"):
            return frozenset()
        if own:
            return frozenset(self._folders.get(module[len(own) + 1 :], ()))
        return frozenset(p for folder, paths in self._folders.items() if module.endswith(f"/{folder}") for p in paths)

    def _rust(self, module: str, at: str) -> frozenset[str]:
        parts = module.split("::")
        crate = at.partition("/src/")[0] if "/src/" in at else ""
        inside = [part for part in parts if part not in ("crate", "self", "super", "Self")]
        if len(inside) == len(parts):
            crates = {folder.partition("/src")[0] for folder in self._folders if folder.endswith("/src")} | {""}
            named = [c for c in crates if c.rpartition("/")[2].replace("-", "_") == parts[0]]
            if not named:  # another crate, or the rest of a path whose beginning stands before a brace
                own = [p for f, ps in self._folders.items() if f.startswith(crate) for p in ps if p.endswith(".rs")]
                return frozenset(p for p in own if _in_order(parts, _SOURCE.sub("", p).split("/")))
            crate, inside = named[0], parts[1:]
        below = [p for folder, ps in self._folders.items() if folder.startswith(crate) for p in ps if p.endswith(".rs")]
        near = [p for p in below if inside and _in_order(inside, _SOURCE.sub("", p).split("/"))]
        return frozenset(near or below)


def _in_order(parts: list[str], among: list[str]) -> bool:
    """Return whether all ``parts`` stand in ``among`` in this order, with others between them or not."""
    rest = iter(among)
    return all(part in rest for part in parts)
