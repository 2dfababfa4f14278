"""``doctor`` called a knowledge base sound whose lexical index was gone, and ended in an error on a damaged catalog."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

Call = Callable[..., tuple[int, list[Any], str]]


def test_a_lost_lexical_index(shop: Path, kb: Path, add: Callable[[Path], object], call: Call) -> None:
    add(shop)
    assert call("doctor")[0] == 0
    shutil.rmtree(kb / "lexical")
    code, rows, _ = call("doctor")
    assert code == 1
    assert {row["check"]: row["ok"] for row in rows[0]}["lexical index"] is False


def test_a_damaged_catalog_is_a_finding(shop: Path, kb: Path, add: Callable[[Path], object], call: Call) -> None:
    add(shop)
    with (kb / "catalog.sqlite").open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * 200_000)
    code, rows, _ = call("doctor")
    assert (code, rows[0][0]["check"], rows[0][0]["ok"]) == (1, "catalog file", False)
