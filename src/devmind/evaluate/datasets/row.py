"""A JSON object of a dataset's file → typed values; each refusal names file, line, topic and field."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from devmind.errors import UsageError
from devmind.evaluate.datasets.place import Place

# No query, answer or labelled span that a person made comes near this; what does is a file put into the wrong field.
MAX_CHARS = 1_000_000
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Row:
    """An object with its place. ``at`` is its path inside the topic, such as ``truths[0].``."""

    values: Mapping[str, Any]
    place: Place
    at: str = ""

    def fail(self, key: str, problem: str) -> UsageError:
        return self.place.error(problem, field=self.at + key)

    def text(self, key: str, default: str | None = None) -> str:
        """Return a string; without ``default`` the key is required. null counts as absent."""
        value = self.values.get(key)
        if value is None:
            if default is None:
                raise self.fail(key, f"is missing; the keys here are {_names(self.values)}")
            return default
        if not isinstance(value, str):
            raise self.fail(key, f"must be a string, not {shown(value)}")
        if len(value) > MAX_CHARS:
            raise self.fail(key, f"holds {len(value):,} characters; at most {MAX_CHARS:,} are read")
        return value

    def identity(self, key: str) -> str:
        """Return an id as a string; other tools write whole numbers, too."""
        value = self.values.get(key)
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else self.text(key)

    def number(self, key: str, default: int | None = None) -> int:
        """Return a whole number; without ``default`` the key is required."""
        value = self.values.get(key)
        if value is None:
            if default is None:
                raise self.fail(key, f"is missing; the keys here are {_names(self.values)}")
            return default
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.fail(key, f"must be a whole number, not {shown(value)}")
        return value

    def pair(self, key: str) -> tuple[int, int] | None:
        """Return two whole numbers, or None if the key is absent."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != 2 or not all(type(item) is int for item in value):
            raise self.fail(key, f"must be [start, end], two whole numbers, not {shown(value)}")
        return value[0], value[1]

    def choice(self, key: str, allowed: Collection[str], default: str) -> str:
        value = self.text(key, default)
        if value not in allowed:
            raise self.fail(key, f"is {value[:_SHOWN]!r}; it must be one of {', '.join(allowed)}")
        return value

    def strings(self, key: str) -> dict[str, str]:
        """Return an object whose values are strings; empty if absent."""
        inner = self.row(key)
        return {name: inner.text(name) for name in inner.values}

    def row(self, key: str) -> Row:
        """Return the object at ``key``, empty if absent."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, dict):
            raise self.fail(key, f"must be an object, not {shown(value)}")
        return Row(value or {}, self.place, f"{self.at}{key}.")

    def items(self, key: str, *, required: bool = False) -> list[Any]:
        """Return the list at ``key``; empty if absent and not required."""
        value = self.values.get(key)
        if value is None and not required:
            return []
        if not isinstance(value, list):
            raise self.fail(key, f"must be a list, not {'missing' if value is None else shown(value)}")
        return value

    def rows(self, key: str, *, required: bool = False) -> list[Row]:
        """Return the objects of the list at ``key``."""
        found = []
        for number, value in enumerate(self.items(key, required=required)):
            if not isinstance(value, dict):
                raise self.fail(f"{key}[{number}]", f"must be an object, not {shown(value)}")
            found.append(Row(value, self.place, f"{self.at}{key}[{number}]."))
        return found

    def only(self, known: Collection[str]) -> None:
        """Refuse keys that nobody reads: they are typing errors, or data that would be lost."""
        for key in self.values:
            if key not in known:
                raise self.fail(key, f"is not a known key; the known ones are {', '.join(known)}")


def shown(value: Any) -> str:
    """Return a short form of any value for a message."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _names(values: Mapping[str, Any]) -> str:
    return ", ".join(list(values)[:12]) or "none"
