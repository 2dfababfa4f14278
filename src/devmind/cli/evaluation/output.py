"""Results of evaluation → the files that options of commands name."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def write_json(path: Path | None, value: Any) -> None:
    """Write ``value``, if a file was named.

    Raises:
        UsageError: the file cannot be written.
    """
    if path is not None:
        from devmind.evaluate.datasets.files import dump

        write(path, dump(value, indent=1) + "\n")


def write(path: Path, text: str) -> None:
    from devmind.evaluate.datasets.files import write_text

    write_text(path, text)
