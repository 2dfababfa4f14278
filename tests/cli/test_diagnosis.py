"""``devmind why`` and ``devmind eval diagnose`` as a user runs them: their JSON, their text and their exit codes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devmind.cli.run import run
from devmind.evaluate.datasets import dataset_of, write
from devmind.evaluate.types import Span, Topic, Truth

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
LOGIN = "shop/login.py:verify_password"


@pytest.fixture
def kb(shop: Path, tmp_path: Path) -> Path:
    assert run(["add", str(shop), "--name", "shop", "-q", "--kb", str(tmp_path / "kb")]) == 0
    return tmp_path / "kb"


@pytest.fixture
def say(kb: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Return the exit code, and what was said on the stream that it belongs on."""

    def run_it(*argv: object) -> tuple[int, str]:
        capfd.readouterr()
        code = run(["--kb", str(kb), *map(str, argv)])
        out, err = capfd.readouterr()
        return code, err if code == 2 else out

    return run_it


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    path = tmp_path / "topics.jsonl"
    members = [
        Topic("found", "total price of the cart", truths=(Truth(Span("shop/cart.py")),), repo="shop"),
        Topic("lost", "total price of the cart", truths=(Truth(Span("shop/login.py", 4, 8)),), repo="shop"),
        Topic("gone", "total price of the cart", truths=(Truth(Span("shop/gone.py", 1, 2)),), repo="shop"),
        Topic("trap", "the checkout by fax", "trap", repo="shop"),
    ]
    write(dataset_of("topics", members), path)
    return path


def documented(command: str) -> set[str]:
    row = re.search(rf"^\| `{command}` \| (.*) \|$", README, re.MULTILINE)
    assert row is not None, command
    return set(re.findall(r'"(\w+)"', row[1]))


def keys(value: Any) -> set[str]:
    """Return the keys of the objects in a value, at any depth."""
    if isinstance(value, dict):
        return set(value) | {key for item in value.values() for key in keys(item)}
    return {key for item in value for key in keys(item)} if isinstance(value, list) else set()


def test_why_tells_the_stage(say: Callable[..., tuple[int, str]]) -> None:
    code, said = say("why", "total price of the cart", "--expect", LOGIN, "-k", 1)
    assert code == 1
    assert "shop/login.py:verify_password (4-8) is not in the first 1: " in said
    for row in ("BM25", "vectors", "symbols", "words", "instead", "try"):
        assert re.search(rf"^  {row} ", said, re.MULTILINE), row
    assert len(said.splitlines()) <= 14


def test_why_of_what_is_found(say: Callable[..., tuple[int, str]]) -> None:
    code, said = say("why", "where", "is", "the", "password", "verified", "--expect", LOGIN)
    assert (code, "is found: hit 1 of" in said) == (0, True)
    assert say("why", "password", "--expect", LOGIN, "-q") == (0, "")


def test_why_as_json(say: Callable[..., tuple[int, str]]) -> None:
    code, said = say("why", "total price of the cart", "--expect", LOGIN, "-k", 1, "--json")
    lost = json.loads(said)
    assert (code, lost["kind"], lost["expected"]["spans"]) == (1, "low_rank", [[4, 8]])
    assert [leg["leg"] for leg in lost["legs"]] == ["lexical", "dense", "symbol", "pointed"]
    assert keys(lost) - documented("why") == set()
    code, said = say("why", "password", "--expect", LOGIN, "--json")
    assert (code, json.loads(said)["kind"], json.loads(said)["rank"]) == (0, "found", 1)
    assert json.loads(said).keys() == lost.keys()


@pytest.mark.parametrize(("argv", "code", "message"), [
    (["x", "--expect", "shop/kart.py"], "unknown_path", "nearest: shop/cart.py"),
    (["x", "--expect", "shop/cart.py:Basket"], "unknown_symbol", "no definition of 'Basket'"),
    (["x", "--expect", LOGIN, "--repo", "nope"], "unknown_repository", "known: shop"),
    (["  ", "--expect", LOGIN], "empty_query", "empty"),
    (["x"], "usage", "--expect"),
])  # fmt: skip
def test_why_refuses(say: Callable[..., tuple[int, str]], argv: list[str], code: str, message: str) -> None:
    exit_code, said = say("why", *argv, "--json")
    error = json.loads(said)["error"]
    assert (exit_code, error["code"]) == (2, code)
    assert message in error["message"]


def test_why_of_a_skipped_file(say: Callable[..., tuple[int, str]]) -> None:
    code, said = say("why", "the logo", "--expect", "logo.png")
    assert (code, "not indexed" in said, "binary" in said) == (1, True, True)


def test_diagnose_counts_causes(say: Callable[..., tuple[int, str]], topics: Path) -> None:
    code, said = say("eval", "diagnose", topics, "-k", 1, "--json")
    found = json.loads(said)
    assert (code, found["n_topics"], found["n_failed"], found["n_unjudged"]) == (0, 3, 2, 1)
    by_topic = {topic["topic_id"]: topic["cause"] for topic in found["topics"]}
    assert (by_topic["found"], by_topic["gone"], bool(by_topic["lost"])) == ("", "not_indexed", True)
    assert sum(row["n_topics"] for row in found["causes"]) == 2
    assert keys(found) - documented("eval diagnose") == set()
    code, said = say("eval", "diagnose", topics, "-k", 1, "-v")
    assert code == 0
    assert "2 failed (none of their code found)" in said
    assert re.search(r"^not indexed +1 +1 +1 +indexing 1 +absent 1", said, re.MULTILINE)
    assert re.search(r"^gone  shop/gone.py:1-2  not indexed: shop holds no file shop/gone.py", said, re.MULTILINE)


def test_diagnose_compares_labels_with_their_commit(
    say: Callable[..., tuple[int, str]], topics: Path, shop: Path, tmp_path: Path
) -> None:
    labelled = tmp_path / "repos" / "shop" / "shop" / "login.py"
    labelled.parent.mkdir(parents=True)
    labelled.write_text("\n".join(f"old_line_{i} = {i}" for i in range(20)))
    code, said = say("eval", "diagnose", topics, "-k", 1, "--repo-dir", tmp_path / "repos", "--json")
    assert code == 0
    assert {topic["topic_id"]: topic["cause"] for topic in json.loads(said)["topics"]}["lost"] == "stale"
    code, said = say("eval", "diagnose", topics, "--repo-dir", tmp_path / "none")
    assert (code, "is not a folder" in said) == (2, True)


def test_diagnose_guards_the_test_half(say: Callable[..., tuple[int, str]], topics: Path) -> None:
    assert run(["dataset", "split", str(topics), "--share", "0.5", "-q"]) == 0
    code, said = say("eval", "diagnose", topics, "--split", "test")
    assert (code, "--reason" in said) == (2, True)
    assert say("eval", "diagnose", topics, "--split", "half")[0] == 2
