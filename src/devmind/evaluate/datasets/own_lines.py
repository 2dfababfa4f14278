"""DevMind's own JSON Lines: one topic a line; the dataset's name is the file's. Lossless, and the form to keep."""

from __future__ import annotations

from pathlib import Path

from devmind.evaluate.datasets.files import dump_lines, read_json_lines, write_text
from devmind.evaluate.datasets.own_json import placed
from devmind.evaluate.datasets.place import Placed
from devmind.evaluate.datasets.record import record_of
from devmind.evaluate.types import Dataset


def read(path: Path) -> tuple[str, list[Placed]]:
    return path.stem, [placed(path, line, value) for line, value in read_json_lines(path)]


def write(dataset: Dataset, path: Path) -> None:
    write_text(path, dump_lines(map(record_of, dataset.topics)))
