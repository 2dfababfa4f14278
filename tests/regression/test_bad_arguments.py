"""Arguments that ended in "internal error", or were taken in silence and could not be undone."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devmind.cli.run import run

Call = Callable[..., tuple[int, list[Any], str]]


@pytest.mark.parametrize("argv", [
    ["symbol", "\udcff"], ["graph", "callers", "\udcff"], ["graph", "callees", "\udcff"],
    ["graph", "imports", "\ud800"],
    ["graph", "inherits", "\udcff"], ["graph", "path", "price_of", "\udcff"], ["search", "\udcff"],
    ["search", "price", "--path", "\udcff"],
])  # fmt: skip
def test_bytes_that_are_not_utf8(argv: list[str], shop: Path, add: Callable[[Path], object], call: Call) -> None:
    add(shop)
    code, _, err = call(*argv)
    assert (code in (0, 1), err) == (True, "")


@pytest.mark.parametrize("name", ["", " ", " a", "a\nb", "\udcff", "\x1b[31mred", "n" * 201, "a\u2028b"])
def test_names_that_could_not_be_typed_again(name: str, shop: Path, call: Call, kb: Path) -> None:
    code, _, err = call("add", str(shop), "--name", name)
    assert code == 2
    assert "bad_name" in err
    assert not kb.exists()


def test_an_empty_kb_is_not_the_default(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["--kb", "", "status"]) == 2
    assert "--kb is empty" in capfd.readouterr().err


def test_error_messages_do_not_steer_the_terminal(kb: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["--kb", str(kb), "add", "/none/\x1b]0;title\x07"]) == 2
    err = capfd.readouterr().err
    assert "\x1b" not in err
    assert "\\x1b" in err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
@pytest.mark.parametrize("argv", [["status"], ["export"], ["search", "price", "--json"]])
def test_an_output_that_is_full(
    argv: list[str], shop: Path, add: Callable[[Path], object], devmind: Callable[..., Any]
) -> None:
    add(shop)
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = devmind(*argv, stdout=full, capture_output=False, stderr=-1)
    assert done.returncode == 2
    assert "the output cannot be written: No space left" in done.stderr
