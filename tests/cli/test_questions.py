"""``devmind eval generate`` and ``devmind eval review`` as a user runs them: files, JSON, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devmind.cli.run import run
from devmind.evaluate.datasets import read
from devmind.ingest import Report


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str], kb: Path) -> Callable[..., tuple[int, Any]]:
    def run_it(*argv: object) -> tuple[int, Any]:
        capfd.readouterr()
        code = run(["--kb", str(kb), *map(str, argv), "--json"])
        out, err = capfd.readouterr()
        return code, json.loads(out or err)

    return run_it


@pytest.fixture
def made(shop: Path, add: Callable[[Path], Report], tmp_path: Path, call: Callable[..., tuple[int, Any]]) -> Path:
    add(shop)
    out = tmp_path / "made.jsonl"
    code, said = call("eval", "generate", "shop", "-n", 5, "--seed", 3, "--out", out, "--hidden", tmp_path / "hidden")
    assert (code, said["n_topics"]) == (0, len(read(out).topics))
    assert said["n_by_kind"] == {"symbol": 5, "trap": 5, "history": 0, "docs": said["n_hidden"], "hops": 0}
    assert said["n_hidden"] == 3
    assert any("no git history" in note for note in said["notes"])
    return out


def test_generate(made: Path, tmp_path: Path, call: Callable[..., tuple[int, Any]]) -> None:
    assert (tmp_path / "hidden/shop/cart.py").is_file()
    assert call("eval", "generate", "shop", "--out", made)[1]["error"]["message"].startswith(f"{made} exists")
    code, said = call("eval", "generate", "shop", "-n", 5, "--seed", 3, "--out", tmp_path / "again.jsonl")
    assert (code, said["hash"]) == (0, read(made).content_hash)
    code, said = call("eval", "generate", "shop", "--kinds", "history", "--out", tmp_path / "none.jsonl")
    assert (code, said["file"], (tmp_path / "none.jsonl").exists()) == (1, "", False)
    for argv, part in [
        (("nope", "--out", tmp_path / "x.jsonl"), "no repository named 'nope'"),
        (("shop", "--kinds", "poem", "--out", tmp_path / "x.jsonl"), "unknown kind 'poem'"),
        (("shop", "--out", tmp_path / "x.txt"), "the suffix names no format"),
    ]:
        code, said = call("eval", "generate", *argv)
        assert (code, part in said["error"]["message"]) == (2, True)


def test_only_what_a_person_accepted_counts(made: Path, tmp_path: Path, call: Callable[..., tuple[int, Any]]) -> None:
    ids = [topic.topic_id for topic in read(made).topics]
    code, said = call("eval", "review", made)
    assert (code, said["pending"], [row["topic_id"] for row in said["open"]]) == (1, len(ids), ids)
    export = ("dataset", "export", made, tmp_path / "kept.jsonl", "--to", "jsonl", "--accepted-only")
    assert (call(*export)[0], call(*export)[1]["error"]["code"]) == (2, "none_accepted")
    code, said = call("eval", "review", made, "--accept", f"{ids[0]},{ids[1]}", "--reject", ids[2])
    assert (code, said["accepted"], said["rejected"], said["pending"]) == (0, 2, 1, len(ids) - 3)
    assert (call(*export)[0], [topic.topic_id for topic in read(tmp_path / "kept.jsonl").topics]) == (0, ids[:2])
    assert call("eval", "review", made, "--accept", "nope")[1]["error"]["message"].startswith("no topic has the id")
    code, said = call("eval", "review", made, "--accept", ids[0], "--reject", ids[0])
    assert (code, "cannot be both" in said["error"]["message"]) == (2, True)


def test_review_by_asking(made: Path) -> None:
    ids = [topic.topic_id for topic in read(made).topics]
    command = [sys.executable, "-m", "devmind", "eval", "review", str(made), "--interactive"]
    said = subprocess.run(command, input="a\nperhaps\nr\ns\nq\n", capture_output=True, text=True, check=True).stdout
    assert [topic.status for topic in read(made).topics[:4]] == ["accepted", "rejected", "pending", "pending"]
    assert ids[3] in said
    assert ids[4] not in said
    assert "1 accepted, 1 rejected" in said
