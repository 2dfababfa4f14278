"""Code of the benchmark repositories stays out of the corpus, by name and by content."""

from pathlib import Path
from typing import Any

import pytest

from training.content import digest, digests_of, without_copies
from training.exclude import EXCLUDE_FILE, is_excluded

_BODY = """
    total = 0
    for order in orders:
        # Orders that were sent back do not count.
        if not order.returned:
            total += order.amount
    return total
"""
_FUNCTION = f"def revenue(orders):\n{_BODY}"


def test_a_digest_ignores_layout_and_comment_lines() -> None:
    other = _BODY.replace("    ", "  ").replace("        # Orders that were sent back do not count.\n", "")
    assert digest(other) == digest(_BODY) is not None


def test_a_digest_tells_code_apart_and_leaves_short_code_alone() -> None:
    assert digest(_BODY.replace("amount", "weight")) != digest(_BODY)
    assert digest("return self._value") is None


def _pair(path: str, body: str) -> dict[str, Any]:
    return {"path": path, "code": digest(body) or 0}


def test_a_function_that_stands_in_a_benchmark_repository_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(_FUNCTION, "utf-8")
    excluded = frozenset(digests_of([tmp_path]))
    copied = _pair("a.py", "\n    total = 0\n" + _BODY.partition("total = 0\n")[2])
    own = [_pair("a.py", _BODY.replace("total", word)) for word in ("weight", "height", "length")]
    assert without_copies([copied, *own], excluded) == own


def test_a_file_whose_code_is_mostly_copied_is_left_out_whole(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(_FUNCTION, "utf-8")
    pairs = [_pair("a.py", _BODY), {"path": "a.py", "code": 0}, _pair("b.py", _BODY.replace("total", "weight"))]
    assert [p["path"] for p in without_copies(pairs, frozenset(digests_of([tmp_path])))] == ["b.py"]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no such folder"):
        digests_of([tmp_path / "absent"])


@pytest.mark.parametrize("project", [p for p in EXCLUDE_FILE.read_text("utf-8").split("\n") if p and p[0] != "#"])
def test_every_listed_project_is_excluded_as_package_and_as_folder(project: str) -> None:
    assert is_excluded(project)
    assert is_excluded(f"src/vendor/{project}/main.c")
    assert is_excluded(f"{project.upper()}-2.1")
    assert is_excluded(f"lib{project}-java")


def test_a_project_with_an_own_name_is_not_excluded() -> None:
    assert not is_excluded("src/printing/settings.py")
