"""What the command line refuses, and how it says so. No engine is needed to say it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from devmind.cli.run import hoist, run


@pytest.mark.parametrize(("argv", "expected"), [
    (["search", "x", "--json", "--kb", "d"], ["--json", "--kb", "d", "search", "x"]),
    (["--kb=d", "ask", "q", "-v", "-q"], ["--kb=d", "-v", "-q", "ask", "q"]),
    (["search", "--", "-v", "--json"], ["search", "--", "-v", "--json"]),
    (["search", "x", "--kb"], ["--kb", "search", "x"]),
])  # fmt: skip
def test_global_options_stand_on_either_side(argv: list[str], expected: list[str]) -> None:
    assert hoist(argv) == expected


@pytest.mark.parametrize("argv", [
    ["nosuch"],
    ["search"],
    ["search", " "],
    ["search", "x", "-k", "0"],
    ["search", "x", "-k", "many"],
    ["search", "x", "--batch", "f"],
    ["search", "--batch", "/nonexistent.jsonl"],
    ["ask"],
    ["graph", "sideways", "x"],
    ["graph", "path", "x"],
    ["graph", "callers", "x", "y"],
    ["add"],
    ["add", "a", "b", "--name", "n"],
    ["rollback", "r", "zero"],
    ["import", "/nonexistent.jsonl"],
])  # fmt: skip
def test_a_wrong_argument_is_exit_2_and_one_json_object(argv: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run([*argv, "--json"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    error = json.loads(err)["error"]
    assert error["code"] in ("usage", "bad_batch")
    assert error["message"]


@pytest.mark.parametrize("line", ["{", "[]", '{"id": 1}', '{"query": "x"}', '{"id": 1, "query": "x", "repo": 3}'])
def test_a_bad_batch_line_is_named_before_anything_runs(
    line: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    batch = tmp_path / "topics.jsonl"
    batch.write_text('{"id": 1, "query": "fine"}\n' + line + "\n", encoding="utf-8")
    assert run(["search", "--batch", str(batch), "--kb", str(tmp_path / "kb")]) == 2
    assert "topics.jsonl:2" in capfd.readouterr().err


def test_version_and_help(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capfd.readouterr().out.startswith("devmind ")
    assert run([]) == 0
    assert "search" in capfd.readouterr().out


def test_a_bad_config_is_a_usage_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.toml").write_text("colour = 1", encoding="utf-8")
    assert run(["status", "--kb", str(tmp_path), "--json"]) == 2
    assert "colour" in json.loads(capfd.readouterr().err)["error"]["message"]


def test_arguments_are_read_without_loading_engines() -> None:
    code = (
        "import sys; from devmind.cli.run import run; run(['--version']); "
        "print(sorted({'numpy', 'tantivy', 'usearch', 'tree_sitter', 'rich', 'jieba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[1] == "[]"
