"""Text → a file, whole or not at all."""

from __future__ import annotations

from pathlib import Path

from devmind.evaluate.datasets.files import write_text


def write_report(path: Path, text: str) -> None:
    """Write a report; half a character, which UTF-8 cannot hold, becomes an escape.

    Raises:
        UsageError: the file cannot be written.
    """
    write_text(path, text.encode("utf-8", "backslashreplace").decode("utf-8"))
