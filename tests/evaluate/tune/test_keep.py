"""Weights in their file: whole or not at all, and back again."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from devmind.errors import StoreError
from devmind.evaluate.tune.keep import keep, refuse_unwritable, undo
from devmind.retrieve.rank import SHIPPED
from devmind.retrieve.weights import FILE, PREVIOUS, Weights, read_weights, text_of

ONE = replace(SHIPPED, chunk_share=0.5, about={"dataset": "one", "n_topics": 30})
TWO = replace(SHIPPED, chunk_share=0.75, about={"dataset": "two", "n_topics": 40})


def in_use(kb: Path) -> Weights:
    return read_weights(kb / FILE, SHIPPED) or SHIPPED


def test_what_was_kept_is_undone_to_what_was_before_and_then_to_the_shipped_weights(tmp_path: Path) -> None:
    assert keep(tmp_path, ONE) == tmp_path / FILE
    keep(tmp_path, TWO)
    assert in_use(tmp_path) == TWO
    assert undo(tmp_path) == ONE == in_use(tmp_path)
    assert undo(tmp_path) is SHIPPED is in_use(tmp_path)
    assert undo(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_one_step_is_remembered(tmp_path: Path) -> None:
    for weights in (ONE, TWO, replace(ONE, chunk_share=0.9)):
        keep(tmp_path, weights)
    assert [undo(tmp_path), undo(tmp_path)] == [TWO, SHIPPED]


def test_weights_before_an_undo_do_not_come_back(tmp_path: Path) -> None:
    keep(tmp_path, ONE)
    keep(tmp_path, TWO)
    (tmp_path / FILE).unlink()  # by hand
    keep(tmp_path, TWO)
    assert undo(tmp_path) is SHIPPED


@pytest.mark.parametrize("text", ["", "{", '{"format": 9}'])
def test_undo_mends_damaged_files(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    assert undo(tmp_path) is SHIPPED
    keep(tmp_path, ONE)
    keep(tmp_path, TWO)
    (tmp_path / FILE).write_text(text)
    assert undo(tmp_path) == ONE
    keep(tmp_path, TWO)
    (tmp_path / PREVIOUS).write_text(text)
    assert undo(tmp_path) is SHIPPED
    assert list(tmp_path.iterdir()) == []


def test_what_was_in_use_comes_back_byte_by_byte(tmp_path: Path) -> None:
    by_hand = text_of(ONE).replace('"one"', '"one", "note": [NaN, 1e999, "\\ud800"]').encode()
    (tmp_path / FILE).write_bytes(by_hand)
    keep(tmp_path, TWO)
    undo(tmp_path)
    assert (tmp_path / FILE).read_bytes() == by_hand


def test_undo_mends_an_empty_folder_and_a_broken_link_in_the_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    assert undo(tmp_path) is SHIPPED
    (tmp_path / FILE).symlink_to(tmp_path / "nowhere")
    assert undo(tmp_path) is SHIPPED
    assert list(tmp_path.iterdir()) == []


def test_damaged_weights_in_use_are_not_written_over(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("{")
    with pytest.raises(StoreError, match="--undo"):
        keep(tmp_path, ONE)
    assert (tmp_path / FILE).read_text() == "{"


def test_what_cannot_be_written_leaves_the_weights_in_use(tmp_path: Path) -> None:
    keep(tmp_path, ONE)
    (tmp_path / PREVIOUS).mkdir()
    (tmp_path / PREVIOUS / "of somebody else").touch()
    with pytest.raises(StoreError, match=r"cannot write .*previous") as caught:
        keep(tmp_path, TWO)
    assert caught.value.code == "write_failed"
    assert in_use(tmp_path) == ONE
    assert sorted(path.name for path in tmp_path.iterdir()) == [FILE, PREVIOUS]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder_is_refused_before_any_work(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StoreError, match="read-only"):
            refuse_unwritable(tmp_path)
    finally:
        tmp_path.chmod(0o700)
