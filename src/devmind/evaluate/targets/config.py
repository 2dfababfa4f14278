"""A target's configuration file (TOML or JSON) → values of the right type, each mistake named by file and key."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devmind.errors import UsageError
from devmind.evaluate.targets.hits import Rules


@dataclass(frozen=True, slots=True)
class Metadata:
    """The names of the metadata that hold a text's place; empty: the document's name is its path."""

    file: str = ""
    start: str = ""
    end: str = ""


class Table:
    """One table of a configuration; keys are taken from it once, and ``finish`` refuses those that nobody took."""

    def __init__(self, values: Mapping[str, Any], *, file: str, name: str = "") -> None:
        self.values = dict(values)
        self._left = dict(values)
        self._file = file
        self._name = name
        self._known: list[str] = []
        self._inner: list[Table] = []

    def text(self, key: str, default: str | None = None, *, one_of: Sequence[str] = ()) -> str:
        """Return a string; without ``default`` the key must be there and not empty."""
        value = self._take(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self.error(
                key, value, "must be a string that is not empty" if default is None else "must be a string"
            )
        if one_of and value not in one_of:
            raise self.error(key, value, f"must be one of {', '.join(one_of)}")
        return value

    def number(self, key: str, default: float | None = None) -> float | None:
        value = self._take(key, default, optional=True)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise self.error(key, value, "must be a number")
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise self.error(key, value, "must be true or false")
        return value

    def texts(self, key: str, default: Sequence[str]) -> tuple[str, ...]:
        value = self._take(key, list(default))
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self.error(key, value, "must be a list of strings")
        return tuple(value)

    def any(self, key: str, default: Any = None) -> Any:
        return self._take(key, default, optional=True)

    def table(self, key: str) -> Table:
        """Return the table ``key``; an absent one is empty. ``finish`` looks into it too."""
        value = self._take(key, {})
        if not isinstance(value, dict):
            raise self.error(key, value, "must be a table")
        inner = Table(value, file=self._file, name=f"{self._name}{key}.")
        self._inner.append(inner)
        return inner

    def rest(self) -> dict[str, Any]:
        """Return all keys that are left; nothing is left after it."""
        rest, self._left = self._left, {}
        return rest

    def finish(self) -> None:
        """Raise for the first key that nobody took."""
        for key in self._left:
            if key in ("api_key", "key", "token", "secret"):
                problem = (
                    f"a configuration holds no secrets: put it into an environment variable and name that in {key}_env"
                )
                raise UsageError(f"{self._file}: {self._name}{key}: {problem}", code="bad_config")
            known = ", ".join(sorted(self._known)) or "none"
            raise UsageError(f"{self._file}: unknown key {self._name}{key}; known keys: {known}", code="bad_config")
        for inner in self._inner:
            inner.finish()

    def error(self, key: str, value: Any, problem: str) -> UsageError:
        return UsageError(f"{self._file}: {self._name}{key} = {value!r}: {problem}", code="bad_config")

    def where(self, key: str) -> str:
        return f"{self._file}: {self._name}{key}"

    def _take(self, key: str, default: Any, *, optional: bool = False) -> Any:
        self._known.append(key)
        if key not in self._left and default is None and not optional:
            raise UsageError(f"{self._file}: the key {self._name}{key} is missing", code="bad_config")
        return self._left.pop(key, default)


def read_config(path: Path) -> Table:
    """Return the configuration in ``path``: JSON if it is named so, else TOML.

    Raises:
        UsageError: It cannot be read, or is no table.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        values = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"cannot read the configuration {path}: {error.strerror}", code="bad_config") from error
    except ValueError as error:
        form = "JSON" if path.suffix == ".json" else "TOML"
        raise UsageError(f"{path} cannot be read as {form}: {error}", code="bad_config") from error
    if not isinstance(values, dict):
        raise UsageError(f"{path} holds a {type(values).__name__}: it must be a table of keys", code="bad_config")
    return Table(values, file=str(path))


def read_rules(table: Table) -> Rules:
    """Return how places are written: the tables ``paths`` (strip_prefix, separator) and ``lines`` (base, end)."""
    paths, lines = table.table("paths"), table.table("lines")
    base = lines.number("base", 1)
    if base not in (0, 1):
        raise lines.error("base", base, "must be 0 or 1, the number of a file's first line")
    end = lines.text("end", "inclusive", one_of=("inclusive", "exclusive"))
    return Rules(
        strip_prefix=paths.text("strip_prefix", ""),
        separator=paths.text("separator", ""),
        line_base=int(base),
        end_exclusive=end == "exclusive",
    )


def read_metadata(table: Table) -> Metadata:
    """Return the names in the table ``metadata``: file, start, end."""
    names = table.table("metadata")
    return Metadata(file=names.text("file", ""), start=names.text("start", ""), end=names.text("end", ""))


def flattened(values: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return nested values as ``a.b`` → text, for provenance."""
    flat: dict[str, str] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= flattened(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return flat
