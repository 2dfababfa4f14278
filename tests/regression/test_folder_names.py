"""Folders whose names begin or end in blanks were not found, and a knowledge base indexed itself without end."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.parametrize("name", [" lead", "trail ", "tab\t", "new\nline"])
def test_blanks(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scanned: Callable[..., dict[str, str]]
) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "a.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    assert scanned(name) == {"a.py": ""}
    assert scanned(f" {tmp_path / name}") == {"a.py": ""} if name == name.strip() else True


def test_a_knowledge_base_inside_its_source(shop: Path, devmind: Callable[..., object]) -> None:
    from devmind.ingest import IngestOptions, Writer

    with Writer(shop / ".kb", IngestOptions(n_workers=1)) as writer:
        first = writer.add(str(shop))
    with Writer(shop / ".kb", IngestOptions(n_workers=1)) as writer:
        second = writer.sync(first.repo)
    assert (first.changed, second.changed) == (True, False)
    assert first.skips_by_reason["generated"] == 1
