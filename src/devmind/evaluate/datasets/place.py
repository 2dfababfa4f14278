"""Where in a dataset's file something stands, and the error that names it: file, line, topic, field."""

from __future__ import annotations

from dataclasses import dataclass

from devmind.errors import UsageError
from devmind.evaluate.types import Topic


@dataclass(frozen=True, slots=True)
class Place:
    """A file, the line in it (0: unknown) and the topic (empty: unknown or none)."""

    file: str
    line: int = 0
    topic: str = ""

    def error(self, problem: str, *, field: str = "") -> UsageError:
        """Return the error to raise; ``problem`` says what is wrong and what to do."""
        where = f"{self.file}:{self.line}" if self.line else self.file
        parts = [f"topic {self.topic!r}" if self.topic else "", f"field {field!r}" if field else ""]
        named = ", ".join(part for part in parts if part)
        return UsageError(f"{where}: {named + ': ' if named else ''}{problem}", code="bad_dataset")


@dataclass(frozen=True, slots=True)
class Placed:
    """A topic as it was read, and where from."""

    topic: Topic
    place: Place
