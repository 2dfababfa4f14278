"""Files of a dataset → text, JSON values with their lines, CSV rows with their lines; and text → file, all or nothing.

A line ends at ``\\n``; a byte order mark and the ``\\r`` of CRLF are left out. JSON is strict: no NaN, no key twice.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from devmind.errors import UsageError
from devmind.evaluate.datasets.place import Place
from devmind.evaluate.datasets.row import shown

_BLANK = re.compile(r"[ \t\r\n]*")
_DELIMITERS = (",", ";", "\t")  # a spreadsheet saves what its locale says


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, without a byte order mark."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; check the path", code="bad_dataset") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Place(str(path), line).error(
            f"not UTF-8 (byte {data[error.start]:#04x}); save the file as UTF-8"
        ) from error


def write_text(path: Path, text: str) -> None:
    """Write a file so that it is either the old one or the new one, whatever happens meanwhile."""
    attempt = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise Place(str(path), line).error(
            f"half a character ({text[error.start]!a}) can be written in JSON only; remove it from the topic"
        ) from error
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            attempt.write_bytes(data)
            attempt.replace(path)
        finally:
            attempt.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}; choose another place", code="unwritable") from error


def dump(value: Any, *, indent: int | None = None) -> str:
    """Return JSON with Chinese text as it is; half a surrogate pair, which UTF-8 cannot hold, stays an escape."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def dump_lines(values: Iterable[Any]) -> str:
    return "".join(dump(value) + "\n" for value in values)


def parse_json(text: str, place: Place) -> Any:
    """Return the value of a whole text of JSON."""
    value, end = _decode(text, 0, place)
    if (rest := _skip(text, end)) != len(text):
        raise _at(text, rest, place).error("text after the end of the JSON value; one value is expected")
    return value


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, object) of each line that is not blank."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            place = Place(str(path), number)
            value = parse_json(line, place)
            if not isinstance(value, dict):
                raise place.error(f"must be an object, not {shown(value)}")
            yield number, value


def read_json_list(path: Path, key: str = "") -> tuple[dict[str, Any], list[tuple[int, dict[str, Any]]]]:
    """Return the objects of a list with the line each begins at.

    Args:
        key: the list may be the value of this key of an object; then the object's other keys come first.
    """
    text, place = read_text(path), Place(str(path))
    start = _skip(text, 0)
    header: dict[str, Any] = {}
    if key and text.startswith("{", start):
        header, found, end = _envelope(text, start, key, place)
    else:
        found, end = _elements(text, start, place)
    if (rest := _skip(text, end)) != len(text):
        raise _at(text, rest, place).error("text after the end of the JSON value; one value is expected")
    return header, found


def read_rows(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """Return the objects of a JSON list or of JSON Lines, whichever the file holds."""
    if _BLANK.sub("", read_text(path), count=1).startswith("["):
        return read_json_list(path)[1]
    return list(read_json_lines(path))


def _envelope(
    text: str, start: int, key: str, place: Place
) -> tuple[dict[str, Any], list[tuple[int, dict[str, Any]]], int]:
    header: dict[str, Any] = {}
    found: list[tuple[int, dict[str, Any]]] | None = None
    at = _skip(text, start + 1)
    while not text.startswith("}", at):
        name, at = _decode(text, at, place)
        at = _skip(text, at)
        if not isinstance(name, str) or not text.startswith(":", at):
            raise _at(text, at, place).error("not JSON: a key and a colon are expected")
        if name in header or (name == key and found is not None):
            raise _at(text, at, place).error(f"the key {name!r} stands here twice; remove one")
        at = _skip(text, at + 1)
        if name == key:
            found, at = _elements(text, at, place)
        else:
            header[name], at = _decode(text, at, place)
        at = _skip(text, at)
        if text.startswith(",", at):
            at = _skip(text, at + 1)
        elif not text.startswith("}", at):
            raise _at(text, at, place).error("not JSON: a comma or the end of the object is expected")
    if found is None:
        raise place.error(f"the list {key!r} is missing", field=key)
    return header, found, at + 1


def _elements(text: str, start: int, place: Place) -> tuple[list[tuple[int, dict[str, Any]]], int]:
    if not text.startswith("[", start):
        raise _at(text, start, place).error("a list of objects is expected")
    found: list[tuple[int, dict[str, Any]]] = []
    line, counted = 1, 0
    at = _skip(text, start + 1)
    if text.startswith("]", at):
        return found, at + 1
    while True:
        line += text.count("\n", counted, at)
        counted = at
        value, at = _decode(text, at, place)
        if not isinstance(value, dict):
            raise Place(place.file, line).error(f"must be an object, not {shown(value)}")
        found.append((line, value))
        at = _skip(text, at)
        if text.startswith("]", at):
            return found, at + 1
        if not text.startswith(",", at):
            raise _at(text, at, place).error("not JSON: a comma or the end of the list is expected")
        at = _skip(text, at + 1)


def _decode(text: str, at: int, place: Place) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise _at(text, error.pos, place).error(f"not JSON: {error.msg} (column {error.colno})") from error
    except (ValueError, RecursionError) as error:
        said = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise _at(text, at, place).error(f"not JSON that can be read: {said}") from error


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _at(text: str, at: int, place: Place) -> Place:
    """Return the place of an offset; the lines of a text that is one line of a file are that line."""
    return Place(place.file, place.line or text.count("\n", 0, at) + 1, place.topic)


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)


def read_csv(path: Path) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Return the header, and each row that is not blank with the line it begins at.

    Source: RFC 4180; also ``;`` and tabs between cells, if the header has no comma. Blank lines are skipped.
    """
    text, place = read_text(path), Place(str(path))
    first = text.split("\n", 1)[0]
    delimiter = next((sign for sign in _DELIMITERS if sign in first), ",")
    rows = _csv_rows(text, delimiter, place)
    header_line, header = next(rows, (1, []))
    header = [name.strip() for name in header]
    for name in header:
        if header.count(name) > 1:
            raise Place(place.file, header_line).error("this column stands twice; remove one", field=name)
    found = []
    for line, cells in rows:
        if not any(cells):
            continue
        if len(cells) > len(header):
            raise Place(place.file, line).error(
                f"{len(cells)} cells, but the header has {len(header)}; quote cells that hold {delimiter!r}"
            )
        row = dict.fromkeys(header, "") | dict(zip(header, cells, strict=False))
        found.append((line, row))
    return header, found


def _csv_rows(text: str, delimiter: str, place: Place) -> Iterator[tuple[int, list[str]]]:
    sign = re.escape(delimiter)
    cell = re.compile(rf'(?:"([^"]*(?:""[^"]*)*)"|([^"{sign}\n][^{sign}\n]*|))({sign}|\r?\n|\Z)')
    at, line = 0, 1
    while at < len(text):
        first_line = line
        cells: list[str] = []
        while True:
            match = cell.match(text, at)
            if match is None:
                raise Place(place.file, line).error(
                    'a quoted cell is not closed, or text follows its closing quote; write a quote as ""',
                    field=f"column {len(cells) + 1}",
                )
            quoted, bare, end = match.groups()
            value = quoted.replace('""', '"') if quoted is not None else bare.removesuffix("\r")
            cells.append(value)
            line += text.count("\n", at, match.end())
            at = match.end()
            if end != delimiter:
                break
        yield first_line, cells


def dump_csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return CSV; a cell is quoted when another reader could take it apart or trim it."""
    return "".join(",".join(map(_cell, row)) + "\n" for row in (header, *rows))


def _cell(value: str) -> str:
    plain = value == value.strip() and not any(sign in value for sign in ('"', "\n", "\r", *_DELIMITERS))
    return value if plain else '"' + value.replace('"', '""') + '"'
