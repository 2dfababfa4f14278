"""Where the benchmark repositories and questions lie, and one knowledge base for each repository."""

from __future__ import annotations

import json
import os
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from devmind.ingest import IngestOptions, Report, Writer
from devmind.service import Service
from devmind.settings import Settings

SUITES = Path(os.environ.get("BENCH_SUITES", "../shared/bench"))
REPOS = Path(os.environ.get("BENCH_REPOS", "../bench"))
ONLY = os.environ.get("BENCH_ONLY", "*")  # a glob over repository names
OUT = Path(os.environ.get("BENCH_OUT", "/tmp/devmind-bench"))


def repositories() -> list[Path]:
    """Return the materialised repositories, by name."""
    return sorted(
        folder for folder in REPOS.iterdir() if fnmatch(folder.name, ONLY) and (folder / ".bench-ok").exists()
    )


def index(folder: Path) -> Report:
    with Writer(OUT / "kb" / folder.name, IngestOptions()) as writer:
        return writer.add(str(folder), name=folder.name, exclude=(".bench-ok",))


def open_service(name: str) -> Service:
    return Service(Settings(home=OUT / "kb" / name))


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def as_hits(result: Any) -> list[dict[str, Any]]:
    return [
        {"file": h.path, "start_line": h.start_line, "end_line": h.end_line, "symbol": h.symbol, "score": h.score}
        for h in result.hits
    ]
