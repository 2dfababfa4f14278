"""A search made an empty index in place of a lost one and found less from then on; "index again" then did nothing."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., tuple[int, list[Any], str]]


@pytest.mark.parametrize("again", [("sync",), ("sync", "shop"), ("add", "--name", "shop")], ids=" ".join)
def test_what_the_message_says_helps(
    again: tuple[str, ...], shop: Path, kb: Path, add: Callable[[Path], object], call: Call
) -> None:
    add(shop)
    _, (before,), _ = call("search", "total price")
    shutil.rmtree(kb / "lexical")
    code, _, err = call("search", "total price")
    assert code == 2
    assert f"the lexical index {kb / 'lexical'} is missing or not whole: run 'devmind sync'" in err
    assert not (kb / "lexical").exists()
    assert call(*again, *([str(shop)] if again[0] == "add" else []))[0] == 0
    _, (after,), _ = call("search", "total price")
    assert [hit["why"] for hit in after["hits"]] == [hit["why"] for hit in before["hits"]]
