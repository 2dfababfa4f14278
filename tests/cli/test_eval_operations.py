"""``devmind eval freshness``, ``load`` and ``chunkers`` as a user runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devmind.cli.run import run
from devmind.evaluate.datasets import dataset_of, write
from devmind.evaluate.types import Span, Topic, Truth
from devmind.ingest import Report
from tests.evaluate.stubs import DevMind, serving

Call = Callable[..., tuple[int, Any]]
Add = Callable[[Path], Report]


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    path = tmp_path / "topics.jsonl"
    members = [
        Topic("q1", "Where is the price of an item looked up?", truths=(Truth(Span("shop/cart.py", 18, 20)),),
              repo="shop", language="python"),
        Topic("q2", "lock the account after failures", truths=(Truth(Span("shop/login.py", 4, 8)),), repo="shop",
              language="python"),
        Topic("q3", "the blockchain ledger of refunds", "trap", repo="shop", language="python"),
    ]  # fmt: skip
    write(dataset_of("shop", members), path)
    return path


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str], kb: Path) -> Call:
    def run_it(*argv: object) -> tuple[int, Any]:
        capfd.readouterr()
        code = run(["eval", *map(str, argv), "--json", "--kb", str(kb)])
        out, err = capfd.readouterr()
        return code, json.loads(out or err.splitlines()[-1])

    return run_it


@pytest.fixture
def changes(shop: Path, tmp_path: Path, git: Callable[..., str]) -> Path:
    """A change of ``login.py`` in the history of ``shop``, as a file of cases."""
    git(shop, "init", "--quiet")
    commits = []
    for limit in ("3", "5"):
        login = shop / "shop" / "login.py"
        login.write_text(login.read_text(encoding="utf-8").replace("3:", f"{limit}:"), encoding="utf-8")
        git(shop, "add", "--all")
        git(shop, "commit", "--quiet", "--allow-empty", "-m", "limit")
        commits.append(git(shop, "rev-parse", "HEAD"))
    case = {"id": "c1", "repo": "shop", "commit_a": commits[0], "commit_b": commits[1], "file": "shop/login.py",
            "new_lines": [[6, 6]], "added": ["if user.failures >= 5:"], "removed": ["if user.failures >= 3:"],
            "query": "after how many failures is the account locked?"}  # fmt: skip
    path = tmp_path / "changes.jsonl"
    path.write_text(json.dumps(case) + "\n", encoding="utf-8")
    return path


def test_freshness(changes: Path, shop: Path, tmp_path: Path, call: Call, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "fresh.json"
    code, said = call("freshness", changes, "--source", f"shop={shop}", "--by", "both", "--rollback", "--out", out)
    assert code == 0 and said == json.loads(out.read_text(encoding="utf-8"))
    assert said["ways"].keys() == {"ref", "checkout"}
    for way in said["ways"].values():
        assert way["summary"]["n_stale_cases"] == way["summary"]["n_failed"] == 0
        assert way["summary"]["n_gone_before"] == way["summary"]["n_with_gone"] == 1
        assert way["cases"][0]["fresh"] and way["cases"][0]["proven"] and way["cases"][0]["measures"]["Recall@1"] == 1
    assert run(["eval", "freshness", str(changes), "--source", f"shop={shop}", "-q"]) == 0
    assert capfd.readouterr() == ("", "")
    assert run(["eval", "freshness", str(changes), "--source", f"shop={shop}"]) == 0
    shown = capfd.readouterr().out
    assert "by ref: fresh; 1 case, 0 unproven, 0 failed" in shown and "seconds until visible" in shown


def test_what_freshness_cannot_do_is_named(changes: Path, shop: Path, call: Call) -> None:
    for arguments, said in (
        ((), "--repos DIR or --source"),
        (("--source", "shop"), "REPO=GIT"),
        (("--source", f"shop={shop}", "--by", "magic"), "'magic'"),
        (("--source", f"shop={shop}", "--limit", "0"), "limit is 0"),
        (("--repos", changes), "is not a folder"),
        (("--source", f"other={shop}"), "no repository 'shop'"),
    ):
        code, told = call("freshness", changes, *arguments)
        assert code == 2 and said in told["error"]["message"], told


def test_load_in_process(topics: Path, shop: Path, add: Add, tmp_path: Path, call: Call) -> None:
    add(shop)
    out, plot = tmp_path / "load.json", tmp_path / "load.svg"
    code, said = call(
        "load", topics, "--target", "devmind", "--rates", "20,40", "--concurrency", "2", "--seconds", "0.5",
        "--arrivals", "constant", "--out", out, "--plot", plot,
    )  # fmt: skip
    assert code == 0 and said == json.loads(out.read_text(encoding="utf-8"))
    assert [(step["rate"], step["n_due"], step["n_answered"]) for step in said["steps"]] == [(20, 10, 10), (40, 20, 20)]
    assert all(step["same_hits"] == 1 and step["change"]["nDCG@10"]["mean"] == 0 for step in said["steps"])
    assert said["unloaded"]["quality"]["Recall@10"]["n"] == 2  # the trap has no answer to find
    assert {"target.devmind", "dataset_hash", "seed", "patience_s"} <= said["provenance"].keys()
    assert ET.parse(plot).getroot().tag.endswith("svg")
    assert run(["eval", "load", str(topics), "--target", "http://127.0.0.1:9", "--json"]) == 2


def test_load_over_http_with_failures(topics: Path, call: Call) -> None:
    with serving(DevMind(), faults=("-", "-", "-", "500", "shape")) as stub:
        code, said = call(
            "load", topics, "--target", stub.url, "--rates", "20", "--concurrency", "2", "--seconds", "0.5",
            "--arrivals", "constant",
        )  # fmt: skip
    [step] = said["steps"]
    assert code == 0 and step["n_sent"] == 10 and sum(step["failures"].values()) == 2
    assert said["unloaded"]["failures"] == {}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--rates", "0"), "rate is 0"),
        (("--rates", "fast"), "'fast' is no number"),
        (("--rates", ","), "names nothing"),
        (("--concurrency", "1.5"), "'1.5' is no whole number"),
        (("--seconds", "0"), "seconds is 0"),
        (("--arrivals", "random"), "'random'"),
        (("--match", "magic"), "'magic'"),
        (("--split", "half"), "'half'"),
    ],
)
def test_what_load_cannot_do_is_named(
    arguments: tuple[str, ...], said: str, topics: Path, shop: Path, add: Add, call: Call
) -> None:
    add(shop)
    code, told = call("load", topics, "--target", "devmind", *arguments)
    assert code == 2 and said in told["error"]["message"], told


def test_an_empty_dataset_is_refused(tmp_path: Path, shop: Path, call: Call) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", encoding="utf-8")
    for command in (("load", empty, "--target", "devmind"), ("chunkers", empty, "--source", shop)):
        code, told = call(*command)
        assert code == 2 and "empty" in told["error"]["message"], told


def test_ctrl_c_keeps_what_was_measured(topics: Path, tmp_path: Path) -> None:
    """A real process, a real signal, in the middle of a step that would last a minute."""
    out = tmp_path / "load.json"
    with serving(DevMind()) as stub:
        process = subprocess.Popen(
            [sys.executable, "-m", "devmind", "eval", "load", str(topics), "--target", stub.url, "--rates", "20",
             "--concurrency", "1", "--seconds", "60", "--out", str(out), "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while len(stub.asked) < 10 and time.monotonic() < deadline and process.poll() is None:
            threading.Event().wait(0.05)
        os.kill(process.pid, signal.SIGINT)
        said, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    [step] = json.loads(said)["steps"]
    assert step["state"] == "interrupted" and step["n_answered"] >= 5 and step["n_due"] > 500
    assert json.loads(out.read_text(encoding="utf-8"))["steps"] == [step]


def test_chunkers(topics: Path, shop: Path, tmp_path: Path, call: Call, capfd: pytest.CaptureFixture[str]) -> None:
    out, plot = tmp_path / "chunkers.json", tmp_path / "chunkers.svg"
    code, said = call("chunkers", topics, "--source", f"shop={shop}", "--out", out, "--plot", plot)
    assert code == 0 and said == json.loads(out.read_text(encoding="utf-8"))
    assert {row["variant"] for row in said["rows"]} == {"layered", "syntax", "fixed", "semantic"}
    assert said["against"].keys() == {"syntax", "fixed", "semantic"}
    assert {row["repo"] for row in said["repositories"]} == {"shop"} and said["provenance"]["n_topics"] == "3"
    assert ET.parse(plot).getroot().tag.endswith("svg")
    assert run(["eval", "chunkers", str(topics), "--root", str(shop.parent), "--strategies", "fixed"]) == 2
    assert "no source for the repository 'shop'" in capfd.readouterr().err
    assert run(["eval", "chunkers", str(topics), "--source", str(shop), "--strategies", "fixed,layered"]) == 0
    shown = capfd.readouterr().out
    assert "all languages" in shown and "fixed − layered" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--strategies", "magic"), "'magic'"),
        (("--embedders", "magic"), "'magic'"),
        (("--embedders", "missing.toml"), "missing.toml"),
        (("--repo", "other"), "no topic about 'other'"),
        (("--match", "iou0"), "'iou0'"),
    ],
)
def test_what_chunkers_cannot_do_is_named(
    arguments: tuple[str, ...], said: str, topics: Path, shop: Path, call: Call
) -> None:
    code, told = call("chunkers", topics, "--source", shop, *arguments)
    assert code == 2 and said in told["error"]["message"], told
