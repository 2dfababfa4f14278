"""The examples for continuous integration, run as they stand, over a small repository."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from devmind.evaluate.datasets import dataset_of, write
from devmind.evaluate.journal import read_run
from devmind.evaluate.types import Span, Topic, Truth

EXAMPLES = Path(__file__).parents[2] / "docs" / "ci"
OUTPUTS = ("gate.md", "gate.xml", "report.html", "report.json", "report.md", "topics.xml")


@pytest.fixture
def project(shop: Path, git: Callable[..., str]) -> Path:
    lock, price = Truth(Span("shop/login.py", 4, 8)), Truth(Span("shop/cart.py", 18, 20))
    topics = [
        Topic("lock", "when is the account locked", "code understanding", (lock,), "shop"),
        Topic("zh", "密码输错几次会锁定账号？", "code understanding", (lock,), "shop"),
        Topic("price", "look the price up in the catalogue", "API location", (price,), "shop"),
        Topic("item", "price of one item", "API location", (price,), "shop"),
    ]
    write(dataset_of("shop", topics), shop / "evaluation" / "topics.jsonl")
    script = (EXAMPLES / "evaluate.sh").read_text(encoding="utf-8")
    (shop / "evaluation" / "evaluate.sh").write_text(script, encoding="utf-8")
    (shop / ".gitignore").write_text(".evaluation/\n", encoding="utf-8")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        git(shop, *command)
    return shop


def evaluate(project: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "evaluation/evaluate.sh", *arguments], cwd=project, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": path, "NAME": "shop", **settings},
    )  # fmt: skip


def test_the_script_writes_a_baseline_passes_and_misses(project: Path) -> None:
    early = evaluate(project)
    assert (early.returncode, "there is no baseline" in early.stderr) == (2, True)
    first = evaluate(project, "baseline")
    assert first.returncode == 0, first.stderr
    assert "baseline of 4 topics" in first.stdout
    again = evaluate(project)
    assert again.returncode == 0, again.stderr
    assert "passed: 4 topics" in again.stdout
    assert sorted(path.name for path in (project / ".evaluation").iterdir()) == sorted([*OUTPUTS, "kb", "run"])

    hits = [hit.file for r in read_run(project / ".evaluation/run/run.jsonl").responses.values() for hit in r.hits]
    assert hits and not any(file.startswith(("evaluation/", ".evaluation/")) for file in hits)

    nothing = project / ".evaluation" / "nothing.jsonl"
    row = {"hits": [{"file": "README.md", "start_line": 1, "end_line": 2}]}
    nothing.write_text("".join(json.dumps({"id": name, **row}) + "\n" for name in ("lock", "zh", "price", "item")))
    worse = evaluate(project, TARGET=f"run:{nothing}")
    assert (worse.returncode, "MISSED" in worse.stdout) == (1, True), worse.stderr
    assert (project / ".evaluation" / "gate.md").read_text().startswith("### Evaluation gate missed: 3 of 3")
    assert "1.000" in (project / ".evaluation" / "gate.md").read_text()


def test_the_workflow_runs_that_script_and_shows_what_it_writes() -> None:
    workflow = (EXAMPLES / "github-actions.yml").read_text(encoding="utf-8")
    script = (EXAMPLES / "evaluate.sh").read_text(encoding="utf-8")
    assert "sh evaluation/evaluate.sh\n" in workflow
    shown = set(re.findall(r"\.evaluation/([\w.]+\.(?:md|html|json))", workflow))
    assert shown == {"gate.md", "report.md", "report.html", "report.json"}
    assert all(f'"$OUT/{name}"' in script for name in shown)
    assert "\t" not in workflow
