"""``devmind tune`` at the command line: what it prints and exits with, what it refuses, and how it is interrupted."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from devmind.cli.run import run
from devmind.retrieve.rank import SHIPPED
from devmind.retrieve.weights import FILE
from tests.evaluate.team import random_topics, team_files, team_topics, write_topics
from tests.indexed import index_files

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
PAGE = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_files(tmp_path_factory.mktemp("team"), team_files(), name="team")


@pytest.fixture
def kb(indexed: Path, tmp_path: Path) -> str:
    return str(shutil.copytree(indexed, tmp_path / "kb"))


@pytest.fixture
def topics(tmp_path: Path) -> str:
    return str(write_topics(tmp_path / "team.jsonl", team_topics()))


def said(capfd: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> str:
    capfd.readouterr()
    assert run(argv) == code
    return capfd.readouterr().out


def test_a_person_reads_the_gain_the_weights_and_the_way_back(
    kb: str, topics: str, capfd: pytest.CaptureFixture[str]
) -> None:
    told = said(capfd, "tune", topics, "--kb", kb)
    assert "fitted on 32 of 32 development topics, judged by 8 held out" in told
    assert re.search(r"^file nDCG@10 +0\.\d+ +[01]\.\d+ +\+0\.\d+ +\[0\.\d+, 0\.\d+\]", told, re.MULTILINE)
    shipped = re.escape(f"{SHIPPED.files['docs']:.2f}")
    assert re.search(rf"^docs +{shipped} +-?\d\.\d+ +\+\d\.\d+", told, re.MULTILINE)
    assert told.splitlines()[-1].startswith("Kept, held out (+0.") and "devmind tune --undo" in told
    assert "ranking weights: tuned on 32 topics of team" in said(capfd, "status", "--kb", kb)
    assert "tuned on 32 topics of team" in said(capfd, "doctor", "--kb", kb)
    explained = said(capfd, "search", "--explain", "ferry", "--kb", kb)
    assert re.search(r"weights, tuned on 32 topics of team, [\d-]+: .*second_of_file=3", explained)
    assert said(capfd, "tune", "--undo", "--kb", kb) == "Searches rank by these weights again: shipped.\n"
    assert "nothing to undo" in said(capfd, "tune", "--undo", "--kb", kb, code=1)
    assert "weights, shipped: " in said(capfd, "search", "--explain", "ferry", "--kb", kb)
    assert "ranking weights" not in said(capfd, "status", "--kb", kb)


def test_a_program_reads_the_documented_keys(kb: str, topics: str, capfd: pytest.CaptureFixture[str]) -> None:
    row = re.search(r"^\| `tune` \| (.*) \|$", README, re.MULTILINE)
    assert row is not None
    documented = set(re.findall(r'"(\w+)"', row[1]))
    dry = json.loads(said(capfd, "tune", topics, "--dry-run", "--json", "--kb", kb))
    assert (dry["verdict"], dry["dry_run"], dry["kept"]) == ("better", True, None)
    assert not Path(kb, FILE).exists()
    found = json.loads(said(capfd, "tune", topics, "--json", "--kb", kb))
    assert set(found) | {"undone", "ranking"} == documented
    assert found["kept"] == str(Path(kb, FILE))
    assert found["differences"] == dry["differences"] and found["weights"] == dry["weights"]
    assert found["differences"]["file nDCG@10"]["mean"] > 0.2
    assert found["weights"]["docs"]["after"] > found["weights"]["docs"]["before"] == SHIPPED.files["docs"]
    undone = json.loads(said(capfd, "tune", "--undo", "--json", "--kb", kb))
    assert undone == {"undone": True, "ranking": "shipped"}


def test_no_gain_is_exit_1_and_says_so(kb: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = write_topics(tmp_path / "chance.jsonl", random_topics(0))
    told = said(capfd, "tune", str(path), "--kb", kb, code=1)
    assert told.splitlines()[-1].startswith("No fit was surely better than the shipped weights")
    assert not Path(kb, FILE).exists()


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        ([], "DATASET is missing"),
        (["{topics}", "--undo"], "--undo stands alone"),
        (["{topics}", "--dry-run", "--keep-anyway"], "give one of them"),
        (["{topics}", "--split", "half"], "--split 'half'"),
        (["{topics}", "--repo", "nosuch"], "nosuch"),
        (["nosuch.jsonl"], "nosuch.jsonl"),
    ],
)  # fmt: skip
def test_what_is_asked_wrongly_is_exit_2(
    kb: str, topics: str, capfd: pytest.CaptureFixture[str], argv: list[str], told: str
) -> None:
    assert run(["tune", *(one.format(topics=topics) for one in argv), "--json", "--kb", kb]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert told in json.loads(err)["error"]["message"]


def test_no_knowledge_base_is_said(topics: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for argv in (["tune", topics], ["tune", "--undo"]):
        assert run([*argv, "--kb", str(tmp_path / "none")]) == 2
        assert "there is no knowledge base" in capfd.readouterr().err


def test_a_damaged_file_stops_searches_until_it_is_undone(
    kb: str, topics: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path(kb, FILE).write_text("{")
    for argv in (["search", "ferry"], ["ask", "when is a ferry merged?"], ["tune", topics]):
        assert run([*argv, "--kb", kb]) == 2
        assert "'devmind tune --undo'" in capfd.readouterr().err
    assert "unusable" in said(capfd, "status", "--kb", kb)
    assert "devmind tune --undo" in said(capfd, "doctor", "--kb", kb, code=1)
    assert "shipped" in said(capfd, "tune", "--undo", "--kb", kb)
    assert "ferry" in said(capfd, "search", "ferry", "--kb", kb)


def test_ctrl_c_changes_nothing(kb: str, tmp_path: Path) -> None:
    path = write_topics(tmp_path / "team.jsonl", team_topics(lines=True))
    before = listed(kb)
    command = [sys.executable, "-m", "devmind", "--kb", kb, "tune", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, rest = process.communicate(timeout=60)
    assert "search 0/32" in first
    assert (process.returncode, out) == (130, "")
    assert rest.splitlines()[-1] == "devmind: interrupted; the weights in use are unchanged"
    assert listed(kb) == before


def listed(kb: str) -> list[Any]:
    return sorted(str(path) for path in Path(kb).iterdir() if not path.name.endswith(("-wal", "-shm")))


def test_every_option_is_documented() -> None:
    from typer.main import get_command

    from devmind.cli.app import app

    options = [one for parameter in get_command(app).commands["tune"].params for one in parameter.opts]  # type: ignore[attr-defined]
    assert "--keep-anyway" in options
    assert [one for one in options if one.startswith("--") and one != "--help" and one not in PAGE] == []
