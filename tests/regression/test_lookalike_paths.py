"""Two files of a folder, one with a byte that is not UTF-8 and one that spells its escape, were taken for one."""

import os
from collections.abc import Callable
from pathlib import Path

from devmind.scan.rules import shown


def test_both_are_found(tmp_path: Path, scanned: Callable[..., dict[str, str]]) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    for name in (b"bad\xff.py", rb"bad\xff.py", rb"c:\dir.py"):
        Path(os.fsdecode(os.path.join(os.fsencode(folder), name))).write_text("x = 1\n")  # noqa: PTH118
    assert set(scanned(folder)) == {r"bad\xff.py", r"bad\x5cxff.py", r"c:\dir.py"}


def test_no_two_names_are_shown_alike() -> None:
    parts = (b"\xff", rb"\xff", rb"\x5c", rb"\x5cxff", b"\\", b"x", b"ff", b"5c", b"a")
    names = {a + b + c for a in parts for b in parts for c in parts}
    assert len({shown(name) for name in names}) == len(names)
