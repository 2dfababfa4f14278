"""Pairs → the two sides of the corpus."""

import json
from pathlib import Path

from training.bags import is_held_out, read_pairs


def _write(folder: Path, package: str, query: str, code: int) -> None:
    pair = {"package": package, "path": "a.py", "name": "f", "query": query, "body": "x = 1", "code": code}
    (folder / f"{package}.jsonl").write_text(json.dumps(pair) + "\n", "utf-8")


def test_the_same_code_stays_with_one_package(tmp_path: Path) -> None:
    _write(tmp_path, "first", "Adds the numbers.", 7)
    _write(tmp_path, "second", "Sums up what is given.", 7)
    _write(tmp_path, "third", "Divides the numbers.", 8)
    assert [p["package"] for p in read_pairs(tmp_path, frozenset())] == ["first", "third"]


def test_excluded_code_is_not_read(tmp_path: Path) -> None:
    _write(tmp_path, "first", "Adds the numbers.", 7)
    assert read_pairs(tmp_path, frozenset({7})) == []


def test_a_side_depends_on_the_name_alone() -> None:
    names = [f"package{i}" for i in range(3200)]
    held_out = [n for n in names if is_held_out(n)]
    assert 100 < len(held_out) < 300
    assert held_out == [n.upper().lower() for n in held_out if is_held_out(n.upper())]
