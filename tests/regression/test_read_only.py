"""A knowledge base in a folder that cannot be written was "a readonly database; restore the file" to every reader."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

RIGHTS = "-dac_override,-dac_read_search"  # root reads and writes whatever the rights of a file say
PREFIX = ["setpriv", f"--inh-caps={RIGHTS}", f"--bounding-set={RIGHTS}"] if os.geteuid() == 0 else []


@contextmanager
def read_only(kb: Path) -> Iterator[None]:
    def allow(folder_mode: int, file_mode: int) -> None:
        for folder, _, names in os.walk(kb):
            Path(folder).chmod(0o755)
            for name in names:
                Path(folder, name).chmod(file_mode)
            Path(folder).chmod(folder_mode)

    allow(0o555, 0o444)
    try:
        yield
    finally:
        for folder, _, _ in os.walk(kb):
            Path(folder).chmod(0o755)
        allow(0o755, 0o644)


def devmind(kb: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    command = [*PREFIX, sys.executable, "-m", "devmind", "--kb", str(kb), "--json", *argv]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("argv", [
    ("search", "total price"), ("ask", "What does total_price return?"), ("status",), ("files", "shop"),
    ("symbol", "total_price"), ("graph", "callers", "price_of"), ("export",), ("doctor",),
], ids=lambda argv: argv[0])  # fmt: skip
def test_it_can_be_read(argv: tuple[str, ...], shop: Path, kb: Path, add: Callable[[Path], object]) -> None:
    add(shop)
    before = sorted(path.relative_to(kb) for path in kb.rglob("*"))
    with read_only(kb):
        done = devmind(kb, *argv)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.strip()
    assert sorted(path.relative_to(kb) for path in kb.rglob("*")) == before


def test_writing_it_is_a_clear_error(shop: Path, kb: Path, add: Callable[[Path], object]) -> None:
    add(shop)
    with read_only(kb):
        done = devmind(kb, "sync")
    assert done.returncode == 2
    assert f"cannot write the knowledge base {kb}" in json.loads(done.stderr.splitlines()[-1])["error"]["message"]


def test_it_can_be_read_while_its_writer_has_it_open(shop: Path, kb: Path, add: Callable[[Path], object]) -> None:
    add(shop)
    writer = sqlite3.connect(kb / "catalog.sqlite")
    writer.execute("UPDATE repository SET source = 'moved'")
    writer.commit()
    with read_only(kb):
        done = devmind(kb, "status")
    writer.close()
    assert (done.returncode, json.loads(done.stdout)[0]["source"]) == (0, "moved")


def test_what_a_killed_writer_left_is_named(
    shop: Path, kb: Path, add: Callable[[Path], object], tmp_path: Path
) -> None:
    add(shop)
    writer = sqlite3.connect(kb / "catalog.sqlite")
    writer.execute("UPDATE repository SET source = 'moved'")
    writer.commit()
    shutil.copytree(kb, tmp_path / "killed")
    writer.close()
    (tmp_path / "killed" / "catalog.sqlite-shm").unlink()
    with read_only(tmp_path / "killed"):
        done = devmind(tmp_path / "killed", "search", "total price")
    assert done.returncode == 2
    error = json.loads(done.stderr)["error"]
    assert error["code"] == "read_only"
    assert "its last writer was killed; run 'devmind status' once where the folder can be written" in error["message"]
    done = devmind(tmp_path / "killed", "status")
    assert (done.returncode, json.loads(done.stdout)[0]["source"]) == (0, "moved")
