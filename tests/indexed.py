"""Files of a test → a folder, and a knowledge base of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from devmind.ingest import IngestOptions, Writer


def write_files(folder: Path, files: Mapping[str, str]) -> Path:
    """Write texts by their path below ``folder``; return it."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return folder


def index_files(folder: Path, files: Mapping[str, str], *, name: str = "shop") -> Path:
    """Write the files below ``folder`` and index them; return the knowledge base."""
    with Writer(folder / "kb", IngestOptions(n_workers=1)) as writer:
        writer.add(str(write_files(folder / "src", files)), name=name)
    return folder / "kb"
