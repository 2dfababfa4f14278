"""An ingest that was killed before its first generation left "generation 0", and a repository that "is not here"."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devmind.ingest import IngestOptions, Progress, Writer

Call = Callable[..., tuple[int, list[Any], str]]


class Killed(BaseException):
    """Stands for the end of the process: no code of ours runs but what closes files."""


@pytest.fixture
def killed(shop: Path, kb: Path) -> Path:
    def stop(progress: Progress) -> None:
        if progress.phase == "publish":
            raise Killed

    with Writer(kb, IngestOptions(n_workers=1)) as writer, pytest.raises(Killed):
        writer.add(str(shop), name="shop", progress=stop)
    return kb


def test_status_says_that_it_is_not_indexed_yet(
    killed: Path, devmind: Callable[..., subprocess.CompletedProcess[str]], call: Call
) -> None:
    assert "shop  not indexed yet; 'devmind sync shop' indexes it" in devmind("status").stdout
    assert call("status")[1][0][0]["generation"] == 0


@pytest.mark.parametrize("command", [("search", "price"), ("ask", "What is the price?")])
def test_a_question_to_it_says_the_same(command: tuple[str, ...], killed: Path, call: Call) -> None:
    code, _, err = call(*command, "--repo", "shop")
    assert code == 2
    assert "'shop' is not indexed yet: run 'devmind sync shop' to finish" in err


def test_a_name_that_is_not_there_is_still_unknown(killed: Path, call: Call) -> None:
    code, _, err = call("search", "price", "--repo", "other")
    assert code == 2
    assert "no repository named 'other' here; known: none" in err


def test_sync_finishes_it(killed: Path, call: Call) -> None:
    assert call("sync")[1][0]["reports"][0]["generation"] == 1
    assert call("search", "price", "--repo", "shop")[0] == 0
