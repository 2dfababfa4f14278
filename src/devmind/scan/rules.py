"""Which paths are wanted: include and exclude globs, ignore files, folders of foreign code.

Turns a path into a verdict. Must not open the files it judges (only the ignore files).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

from devmind.types import Skipped

# Installed code: never the project's own, and often more than everything else together.
_INSTALLED = frozenset(
    {
        "node_modules", "bower_components", "jspm_packages", ".venv", "site-packages", "__pycache__", ".tox",
        ".nox", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".gradle", ".hg", ".svn", ".yarn"
    }
)  # fmt: skip
_KNOWLEDGE_BASE = ("write.lock", "catalog.sqlite")  # the files by which one is known, the rarer first
_INSTALLED_ENDS = (".dist-info", ".egg-info")
_LOOKS_ESCAPED = re.compile(rb"\\(?=x[0-9a-f]{2})")
DEVMINDIGNORE = ".devmindignore"
GITIGNORE = ".gitignore"
_Stack = tuple[tuple[int, GitIgnoreSpec], ...]  # (where a path counts from, patterns), the weaker first


@dataclass(frozen=True, slots=True)
class ScanRules:
    """What to take. Globs are written as in ``.gitignore``; an empty ``include`` takes all.

    ``index_vendored`` opens installed folders (``node_modules``, ``site-packages`` …) too; copies in ``vendor/`` and
    the like are always taken, with the role "vendored".
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_bytes: int = 1_000_000
    index_vendored: bool = False


def shown(raw: bytes) -> str:
    """Return a path for people and the store: bytes that are not UTF-8 become ``\\xNN``, always the same way.

    No two paths look alike: a backslash that would read as such an escape is itself escaped.
    """
    if b"\\x" in raw:
        raw = _LOOKS_ESCAPED.sub(rb"\\x5c", raw)
    return raw.decode("utf-8", "backslashreplace")


def compile_ignore(lines: Iterable[str]) -> GitIgnoreSpec:
    """Compile patterns; one that is malformed is left out, as git does."""
    kept = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        kept.append(line)
    return GitIgnoreSpec.from_lines(kept)


class Gate:
    """The verdict on folders and paths of one scan; remembers folders, since each is asked for every file in it.

    Args:
        rules: the caller's rules.
        read_ignore: given (folder relative to the repository's root, name), the bytes of that ignore file or None.
        names: ignore file names that count, the weaker first.
        prefix: where the scanned folder lies below the repository's root: "" or "sub/folder/".
        is_link: whether a folder (as read_ignore's) is a symbolic link on disk.
    """

    def __init__(
        self,
        rules: ScanRules,
        *,
        read_ignore: Callable[[bytes, str], bytes | None],
        names: tuple[str, ...],
        prefix: bytes = b"",
        is_link: Callable[[bytes], bool] = lambda _: False,
    ) -> None:
        self._include = compile_ignore(rules.include) if rules.include else None
        self._exclude = compile_ignore(rules.exclude) if rules.exclude else None
        self._index_vendored = rules.index_vendored
        self._read_ignore = read_ignore
        self._names = names
        self._prefix = prefix
        self._is_link = is_link
        self._stacks: dict[bytes, _Stack] = {}
        self._folders: dict[bytes, Skipped | None] = {b"": None}

    def folder(self, raw: bytes) -> Skipped | None:
        """Return None for an open folder, else the skip of the topmost closed folder on the way to it."""
        for place in _unknown(raw, self._folders):
            parent, _, name = place.rpartition(b"/")
            self._folders[place] = self._folders[parent] or self._judge_folder(place, name)
        return self._folders[raw]

    def path(self, raw: bytes) -> Skipped | None:
        """Return the skip of a file whose folder is open, or None if it is wanted."""
        path = shown(raw)
        if self._is_ignored(raw):
            return Skipped(path, "ignored", "an ignore file names it")
        if self._exclude is not None and self._exclude.match_file(path):
            return Skipped(path, "excluded", "an exclude glob matches it")
        if self._include is not None and not self._include.match_file(path):
            return Skipped(path, "excluded", "no include glob matches it")
        return None

    def _judge_folder(self, raw: bytes, name: bytes) -> Skipped | None:
        path = shown(raw) + "/"
        plain = shown(name)
        if not self._index_vendored and (plain in _INSTALLED or plain.endswith(_INSTALLED_ENDS)):
            return Skipped(path, "vendored", f"{plain} holds installed or derived files")
        if self._is_ignored(raw + b"/"):
            return Skipped(path, "ignored", "an ignore file names this folder")
        if self._exclude is not None and self._exclude.match_file(path):
            return Skipped(path, "excluded", "an exclude glob matches this folder")
        inside = self._prefix + raw
        if all(self._read_ignore(inside, name) is not None for name in _KNOWLEDGE_BASE):
            return Skipped(path, "generated", "a knowledge base of devmind: it would change with every reading")
        if self._is_link(inside):
            return Skipped(path, "symlink", "the folder was replaced by a symbolic link")
        return None

    def _is_ignored(self, raw: bytes) -> bool:
        full = self._prefix + raw
        folder = full.rstrip(b"/").rpartition(b"/")[0]
        stack = self._stack(folder)
        if not stack:
            return False
        text = shown(full)
        for start, spec in reversed(stack):
            include = spec.check_file(text[start:]).include
            if include is not None:
                return include
        return False

    def _stack(self, folder: bytes) -> _Stack:
        for place in _unknown(folder, self._stacks):
            above = self._stacks[place.rpartition(b"/")[0]] if place else ()
            self._stacks[place] = self._with_ignores(place, above)
        return self._stacks[folder]

    def _with_ignores(self, folder: bytes, stack: _Stack) -> _Stack:
        start = len(shown(folder)) + 1 if folder else 0
        for name in self._names:
            data = self._read_ignore(folder, name)
            if data:
                text = data.decode("utf-8", "backslashreplace").removeprefix("\ufeff").replace("\r\n", "\n")
                spec = compile_ignore(text.split("\n"))
                if len(spec):
                    stack = (*stack, (start, spec))
        return stack


def _unknown(folder: bytes, known: Container[bytes]) -> list[bytes]:
    """Return ``folder`` and the folders above it that are not in ``known``, topmost first.

    A loop and no recursion: git holds paths that are nested deeper than Python recurses.
    """
    found: list[bytes] = []
    while folder not in known:
        found.append(folder)
        if not folder:
            break
        folder = folder.rpartition(b"/")[0]
    return found[::-1]
