"""Fields of a JSON object, taken with their type and range checked; a bad one is named with its place and value."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

MAX_WHOLE = 1 << 53  # what JSON numbers can hold exactly; SQLite holds more
SHOWN_CHARS = 80
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


class BadField(ValueError):
    """A field is missing or holds what it may not."""


@dataclass(frozen=True, slots=True)
class Fields:
    """An object; ``where`` is its place in the line, as ``chunks[3].``, "" for the line itself."""

    values: dict[str, Any]
    where: str = ""

    def text(self, name: str, default: str | None = None, *, longest: int, may_be_empty: bool = True) -> str:
        """Return a string without lone surrogates and NUL, which no store can hold or give back."""
        value = self._value(name, default)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise self._bad(name, value, "must be a string")
        if not value and not may_be_empty:
            raise self._bad(name, value, "must not be empty")
        if len(value) > longest:
            raise self._bad(name, value, f"must have at most {longest} characters")
        if _UNSTORABLE.search(value):
            raise self._bad(name, value, "must not hold NUL or half of a surrogate pair")
        return value

    def whole(self, name: str, default: int | None = None, *, least: int, most: int = MAX_WHOLE) -> int:
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self._bad(name, value, f"must be a whole number from {least} to {most}")
        return value

    def seconds(self, name: str) -> float | None:
        """Return a point in time, or None for none."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MAX_WHOLE:
            raise self._bad(name, value, "must be seconds since 1970 or null")
        return float(value)

    def choice(self, name: str, default: str | None = None, *, known: Collection[str]) -> str:
        value = self._value(name, default)
        if not isinstance(value, str) or value not in known:
            raise self._bad(name, value, f"must be one of {', '.join(sorted(known))}")
        return value

    def one(self, name: str) -> Fields:
        """Return the object of that name."""
        value = self._value(name, None)
        if not isinstance(value, dict):
            raise self._bad(name, value, "must be an object")
        return Fields(value, f"{self.where}{name}.")

    def many(self, name: str, *, most: int = MAX_WHOLE, required: bool = False) -> Iterator[Fields]:
        """Yield the objects of a list."""
        for at, value in enumerate(self._list(name, most=most, required=required)):
            if not isinstance(value, dict):
                raise self._bad(f"{name}[{at}]", value, "must be an object")
            yield Fields(value, f"{self.where}{name}[{at}].")

    def indexes(self, name: str, *, below: int) -> tuple[int, ...]:
        """Return a list of indexes of something that has ``below`` members."""
        found = self._list(name, most=below, required=False)
        for at, value in enumerate(found):
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < below:
                raise self._bad(f"{name}[{at}]", value, f"must be an index below {below}")
        return tuple(found)

    def _list(self, name: str, *, most: int, required: bool) -> list[Any]:
        value = self._value(name, None if required else [])
        if not isinstance(value, list):
            raise self._bad(name, value, "must be a list")
        if len(value) > most:
            raise BadField(f"{self.where}{name} has {len(value)} members, at most {most} are possible")
        return value

    def _value(self, name: str, default: Any) -> Any:
        if name not in self.values and default is None:
            raise BadField(f"{self.where}{name} is missing")
        return self.values.get(name, default)

    def _bad(self, name: str, value: object, rule: str) -> BadField:
        shown = ascii(value)
        return BadField(
            f"{self.where}{name} is {shown if len(shown) <= SHOWN_CHARS else shown[:SHOWN_CHARS] + '…'}: it {rule}"
        )
