"""The README tells programs the truth: what it says each command prints is what the command prints."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from devmind.cli.run import run

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
PROGRAMS = README.split("## For programs")[1]
REPORT = "report"


def documented(command: str) -> set[str]:
    row = re.search(rf"^\| (?:`\w+`, )*`?{command}`?(?:, `\w+`)* \| (.*) \|$", PROGRAMS, re.MULTILINE)
    assert row is not None, command
    return set(re.findall(r'"(\w+)"', row[1]))


@pytest.fixture
def kb(shop: Path, tmp_path: Path) -> Path:
    assert run(["add", str(shop), "--name", "shop", "-q", "--kb", str(tmp_path / "kb")]) == 0
    return tmp_path / "kb"


def output(kb: Path, capfd: pytest.CaptureFixture[str], *argv: str) -> Any:
    capfd.readouterr()
    run([*argv, "--json", "--kb", str(kb)])
    return json.loads(capfd.readouterr().out.splitlines()[0])


def keys(rows: list[dict[str, Any]]) -> set[str]:
    assert rows
    return {key for row in rows for key in row}


@pytest.mark.parametrize(("command", "argv"), [
    ("symbol", ["symbol", "Cart"]),
    ("graph", ["graph", "callers", "price_of"]),
    ("graph", ["graph", "callees", "total_price"]),
    ("graph", ["graph", "imports", "shop"]),
    ("graph", ["graph", "path", "total_price", "price_of"]),
    ("files", ["files", "shop"]),
    ("generations", ["generations", "shop"]),
    ("doctor", ["doctor"]),
])  # fmt: skip
def test_lists_have_the_documented_keys(
    command: str, argv: list[str], kb: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert keys(output(kb, capfd, *argv)) == documented(command)


def test_objects_have_the_documented_keys(kb: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = output(kb, capfd, "search", "price of the cart")
    assert set(found) == documented("search")
    assert keys(found["hits"]) == documented("hit")
    answer = output(kb, capfd, "ask", "How is the total price of the cart computed?")
    assert set(answer) == documented("ask")
    assert keys(answer["citations"]) == documented("citation")
    synced = output(kb, capfd, "sync")
    assert set(synced) | {"source", "code", "message"} == documented("sync")
    assert keys(synced["reports"]) == documented(REPORT)
    assert keys(output(kb, capfd, "status")) == documented("status") | documented(REPORT)
    assert set(output(kb, capfd, "export")) == documented("export")
    assert set(output(kb, capfd, "remove", "shop")) == documented("remove")


def test_every_command_is_in_the_readme(capfd: pytest.CaptureFixture[str]) -> None:
    run(["--help"])
    commands = re.findall(r"^  (\w+)  +[A-Z]", capfd.readouterr().out.split("Commands:")[1], re.MULTILINE)
    assert len(commands) >= 14
    for command in commands:
        assert re.search(rf"`{command}\b", README), command


def test_evaluation_has_the_documented_keys(kb: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    topics, out, baseline = str(tmp_path / "t.jsonl"), str(tmp_path / "run"), str(tmp_path / "baseline.jsonl")
    rows = [
        {"topic_id": f"t{n}", "query": f"price of the cart {n}", "repo": "shop", "truths": [{"file": "shop/cart.py"}]}
        for n in range(3)
    ]
    Path(topics).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    commands = {
        "eval run": ["eval", "run", topics, "--target", "devmind:ask", "--out", out, "--baseline-out", baseline],
        "eval compare": ["eval", "compare", out, out, "--dataset", topics],
        "eval gate": ["eval", "gate", out, "--baseline", baseline, "--allow", "file RR=0.1"],
        "eval report": ["eval", "report", out, "--dataset", topics],
        "eval answers": ["eval", "answers", out, "--dataset", topics],
        "eval diagnose": ["eval", "diagnose", topics],
    }
    for command, argv in commands.items():
        assert set(output(kb, capfd, *argv)) <= documented(command), command


def test_exit_codes_are_said_once() -> None:
    assert PROGRAMS.count("Exit codes:") == 1
