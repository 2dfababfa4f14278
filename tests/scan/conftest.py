import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from devmind.scan import ScanRules, Source, open_source, scan
from devmind.types import Document, Skipped

Git = Callable[..., str]


def run_git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "protocol.file.allow=always",
         "-c", "init.defaultBranch=main", "-C", str(folder), *arguments],
        check=True, capture_output=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return done.stdout.decode().strip()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def repo(tree: Path) -> Path:
    run_git(tree, "init", "-q")
    return tree


class Scanned:
    """The result of a scan by path."""

    def __init__(self, found: Iterator[Document | Skipped]) -> None:
        items = list(found)
        self.order = [item.path for item in items]
        self.documents = {item.path: item for item in items if isinstance(item, Document)}
        self.reasons = {item.path: item.reason for item in items if isinstance(item, Skipped)}
        assert len(self.order) == len(set(self.order)), "each path once"


@pytest.fixture
def scanned(tmp_path: Path) -> Callable[..., Scanned]:
    def run(folder: Path | str | Source, rules: ScanRules | None = None, ref: str | None = None) -> Scanned:
        source = (
            folder if isinstance(folder, Source) else open_source(str(folder), ref=ref, mirror_dir=tmp_path / "mirrors")
        )
        return Scanned(scan(source, rules or ScanRules()))

    return run


@pytest.fixture
def git() -> Git:
    return run_git


def write(folder: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.fixture(name="write")
def write_fixture() -> Callable[[Path, dict[str, str | bytes]], None]:
    return write
