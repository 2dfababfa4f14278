"""Does a query give its answer away, by the name of the file or of the symbol?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Literal

from devmind.evaluate.types import Topic

Leak = Literal["none", "file", "symbol"]
_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\WA-Za-z_\d]+")
_CODE = re.compile(r"[A-Za-z_]\w*")
# File names that say what a file is for the language, not what is in it: to say them gives nothing away.
_EVERYWHERE = frozenset(
    {
        "init", "main", "index", "mod", "lib", "util", "utils", "common", "types", "type", "base", "core", "test",
        "tests", "app", "api", "readme", "setup", "conf", "config",
    }
)  # fmt: skip
_MIN_CHARS = 3  # shorter names (go, io, db) stand in any sentence


def leak_of(topic: Topic) -> Leak:
    """Return the worst leak over the truths: ``symbol`` (names the very place), ``file``, or ``none``.

    A name of several parts leaks if they stand in the query one after the other, in any spelling (``totalPrice``,
    ``total_price``, "total price"). A file of one part leaks as a word of the query. A symbol of one part leaks only
    if it is written as code is (a capital, an underscore, a digit, a bracket or dot beside it, backticks), or is the
    whole query: "run the tests" does not name ``run``.
    """
    query = topic.query
    parts = _parts(query)
    if any(_names_symbol(query, parts, truth.symbol) for truth in topic.truths if truth.symbol):
        return "symbol"
    if any(_names_file(query, parts, truth.span.file) for truth in topic.truths):
        return "file"
    return "none"


def _names_symbol(query: str, parts: Sequence[str], symbol: str) -> bool:
    name = re.split(r"[.:#/]+", symbol.strip())[-1]
    own = _parts(name)
    if len(own) > 1:
        return _stands_in(own, parts)
    return len(name) >= _MIN_CHARS and (own == list(parts) or _written_as_code(query, name))


def _written_as_code(query: str, name: str) -> bool:
    marked = any(sign.isupper() or sign == "_" or sign.isdigit() for sign in name[1:]) or name[0] == "_"
    for match in _CODE.finditer(query):
        if match[0] != name:
            continue
        before, after = query[: match.start()][-1:], query[match.end() :][:1]
        if marked or before in ("`", ".", ":") or after in ("`", "("):
            return True
        if name[0].isupper() and query[: match.start()].strip():  # a capital that does not open the sentence
            return True
    return False


def _names_file(query: str, parts: Sequence[str], file: str) -> bool:
    path = PurePosixPath(file)
    if path.name.casefold() in query.casefold() and "." in path.name:
        return True
    own = _parts(path.name.split(".")[0] or path.stem)
    if len(own) == 1 and (own[0] in _EVERYWHERE or len(own[0]) < _MIN_CHARS):
        return False
    return bool(own) and _stands_in(own, parts)


def _parts(text: str) -> list[str]:
    return [part.casefold() for word in _WORD.findall(text) for part in _PART.findall(word)]


def _stands_in(needle: Sequence[str], parts: Sequence[str]) -> bool:
    wanted = list(needle)
    return any(parts[at : at + len(wanted)] == wanted for at in range(len(parts) - len(wanted) + 1))
