"""What the readers of other tools' formats share: paths as those tools write them, and keys that have no field here."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from devmind.evaluate.datasets.files import dump
from devmind.evaluate.datasets.place import Place
from devmind.evaluate.datasets.row import Row
from devmind.evaluate.types import Topic
from devmind.types import stable_id


def clean_path(text: str) -> str:
    """Return a path with ``/`` and without a leading ``./``."""
    path = text.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path


def as_text(value: Any) -> str:
    """Return a value as a label: strings as they are, the rest as JSON."""
    return value if isinstance(value, str) else dump(value)


def extras(values: Mapping[str, Any], known: Collection[str]) -> dict[str, str]:
    """Return what stands under keys that are not ``known``, so that it is not lost."""
    return {key: as_text(value) for key, value in values.items() if key not in known and value not in (None, "")}


def made_id(query: str, taken: Collection[str]) -> str:
    """Return an id for a topic that has none: the same for the same query, whatever stands around it."""
    first = f"q-{stable_id(query)}"
    count = 1
    while (name := first if count == 1 else f"{first}-{count}") in taken:
        count += 1
    return name


def row_of(path: Path, line: int, values: dict[str, Any], key: str) -> Row:
    """Return a row whose place is named by the id under ``key``, if it is there."""
    name = values.get(key)
    return Row(values, Place(str(path), line, str(name) if isinstance(name, str | int) else ""))


def by_repo(topics: Collection[Topic]) -> dict[str, list[Topic]]:
    """Return the topics by repository, in the order in which each first appears."""
    found: dict[str, list[Topic]] = {}
    for topic in topics:
        found.setdefault(topic.repo, []).append(topic)
    return found
