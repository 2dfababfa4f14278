"""What the tests of single faults share: a git repository, a scan as a mapping, and the command as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devmind.cli.run import run
from devmind.scan import ScanRules, open_source, scan
from devmind.types import Document, Skipped

Scan = Callable[..., dict[str, str]]


def reasons(found: Any) -> dict[str, str]:
    """Map each path to the reason of its skip, or to "" when it is a document."""
    items: list[Document | Skipped] = list(found)
    by_path = {item.path: item.reason if isinstance(item, Skipped) else "" for item in items}
    assert len(by_path) == len(items), "each path once"
    return by_path


@pytest.fixture
def scanned(tmp_path: Path) -> Scan:
    def of(folder: Path | str, ref: str | None = None) -> dict[str, str]:
        return reasons(scan(open_source(str(folder), ref=ref, mirror_dir=tmp_path / "mirrors"), ScanRules()))

    return of


@pytest.fixture
def repo(tmp_path: Path, git: Callable[..., str]) -> Path:
    """A repository with the files a.py and b.py in one commit."""
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for name in ("a", "b"):
        (folder / f"{name}.py").write_text(f"def {name}():\n    pass\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder


@pytest.fixture
def devmind(kb: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command in a process of its own; the time limit ends what hangs, and measures nothing."""

    def call(*argv: str, **options: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "devmind", "--kb", str(kb), *argv]
        given = {"capture_output": True, "text": True, "timeout": 120, "check": False, **options}
        return subprocess.run(command, **given)

    return call


@pytest.fixture
def call(kb: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, list[Any], str]]:
    """Run the command in this process; return exit code, the JSON lines of the output, and the error stream."""

    def of(*argv: str) -> tuple[int, list[Any], str]:
        capfd.readouterr()
        code = run(["--kb", str(kb), "--json", *argv])
        out, err = capfd.readouterr()
        return code, [json.loads(line) for line in out.splitlines()], err

    return of
