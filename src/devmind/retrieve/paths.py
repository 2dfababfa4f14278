"""Text → the paths in it with their lines; and which files of a repository a path, as someone wrote it, means."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

# Extensions that mark a bare word as a file name: those of code, since `node.js` and `next.js` are names of projects in
# any text, but a name that no file has does no harm.
_CODE: Final = (
    "py|pyi|pyx|js|jsx|mjs|cjs|ts|tsx|vue|svelte|go|java|kt|kts|scala|c|h|cc|cpp|cxx|hpp|hh|cs|rs|rb|php|swift|sh|bash|lua"
    "|hs|ex|exs|erl|zig|sql|m|mm|dart|groovy|gradle|pl|pm|r|jl|clj|ml|proto|graphql|tf|css|scss|html|md|rst|json|yaml|yml"
    "|toml|xml|ini|cfg"
)
PATHLIKE: Final = re.compile(
    r"(?<![\w.@-])[\w.@-]{1,100}(?:[/\\][\w.@-]{1,100}){1,20}"
    rf"|(?<![\w-])[\w-]{{1,100}}(?:\.[\w-]{{1,40}}){{0,3}}\.(?:{_CODE})\b"
)
# Lines after a path: a.py:12, a.py:12-20, a.py#L12-L20, a.py(12), "a.py", line 12
_LINES: Final = re.compile(
    r"(?::|#L|\(|[\"'`]?,? (?:on |at )?lines? )(?P<first>\d{1,7})(?:(?:\s?[-–]\s?L?|:L)(?P<last>\d{1,7}))?"
)
MAX_PATHS: Final = 20
LIBRARIES: Final = re.compile(
    r"(?:^|/)(?:site-packages|dist-packages|node_modules|vendor/bundle|gems|rustc|registry/src|pkg/mod|\.m2|\.cargo"
    r"|usr/lib\d*|usr/local/(?:go|lib)|lib/python[\d.]+|libstd|internal/process|node:internal)/"
)


@dataclass(frozen=True, slots=True)
class Place:
    """A path as written, with slashes, and the lines told with it; 0 and 0 when none are."""

    path: str
    first: int = 0
    last: int = 0


def places(text: str) -> tuple[Place, ...]:
    """Return the paths in ``text``, in order, each once with its first lines."""
    found: dict[str, Place] = {}
    for match in PATHLIKE.finditer(text):
        path = match[0].replace("\\", "/").rstrip(".")
        lines = _LINES.match(text, match.end())
        first = int(lines["first"]) if lines else 0
        last = int(lines["last"] or first) if lines else 0
        known = found.get(path)
        if known is None or (first and not known.first):
            found[path] = Place(path, first, max(first, last))
    return tuple(found.values())[:MAX_PATHS]


def lines_told(text: str, path: str) -> list[int]:
    """Return the lines of the file ``path`` that ``text`` tells, in order: the first of each range."""
    by_name = {path.rpartition("/")[2].lower(): [(0, path)]}
    told = ((match[0].replace("\\", "/"), _LINES.match(text, match.end())) for match in PATHLIKE.finditer(text))
    return [int(lines["first"]) for written, lines in told if lines and meant(written, by_name)]


def meant(path: str, by_name: Mapping[str, Sequence[tuple[int, str]]]) -> list[int]:
    """Return the files that ``path`` means: those that share its longest end.

    One of both must be an end of the other, or they must share a folder at least: what lies at ``/app/shop/cart.py``
    there may be ``backend/shop/cart.py`` here.

    Args:
        path: as written, absolute or not.
        by_name: (index, path) of the files by their own name in lower case.
    """
    wanted = [part for part in path.split("/") if part not in ("", ".", "..")]
    if not wanted:
        return []
    best, found = 0, list[int]()
    for at, held in by_name.get(wanted[-1].lower(), ()):
        parts = held.split("/")
        shared = _shared(wanted, parts)
        whole = shared == len(wanted) or shared == len(parts)
        if shared < 2 and (not whole or (len(wanted) > 1 and LIBRARIES.search(path))):
            continue
        if shared > best:
            best, found = shared, []
        if shared == best:
            found.append(at)
    return found


def _shared(wanted: Sequence[str], parts: Sequence[str]) -> int:
    n = 0
    for a, b in zip(reversed(wanted), reversed(parts), strict=False):
        if a.lower() != b.lower():
            break
        n += 1
    return n
