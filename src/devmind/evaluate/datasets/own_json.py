"""DevMind's own JSON: ``{"name", "topics": [topic…]}``, or the list alone. Lossless."""

from __future__ import annotations

from pathlib import Path

from devmind.evaluate.datasets.files import dump, read_json_list, write_text
from devmind.evaluate.datasets.place import Place, Placed
from devmind.evaluate.datasets.record import record_of, topic_of
from devmind.evaluate.datasets.row import Row
from devmind.evaluate.types import Dataset


def read(path: Path) -> tuple[str, list[Placed]]:
    header, found = read_json_list(path, "topics")
    envelope = Row(header, Place(str(path)))
    envelope.only(("name",))
    return envelope.text("name", path.stem), [placed(path, line, value) for line, value in found]


def placed(path: Path, line: int, value: dict[str, object]) -> Placed:
    name = value.get("topic_id")
    place = Place(str(path), line, name if isinstance(name, str) else "")
    return Placed(topic_of(Row(value, place)), place)


def write(dataset: Dataset, path: Path) -> None:
    """Write one topic a line, so that a changed topic is a changed line."""
    topics = ",\n".join("  " + dump(record_of(topic)) for topic in dataset.topics)
    write_text(path, f'{{"name": {dump(dataset.name)}, "topics": [\n{topics}\n]}}\n')
