"""Tuning of a real knowledge base: what is gained is gained on questions held out, and what is no gain is not kept."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from devmind.errors import StoreError, UpstreamError, UsageError
from devmind.evaluate.datasets.split import logged_uses
from devmind.evaluate.tune import Asked, Tuning, tune, undo
from devmind.retrieve.rank import SHIPPED
from devmind.retrieve.weights import FILE, PREVIOUS
from devmind.service import Service
from devmind.settings import Settings
from tests.evaluate.team import SUBJECTS, random_topics, team_files, team_topics, write_topics
from tests.indexed import index_files

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_files(tmp_path_factory.mktemp("team"), team_files(), name="team")


@pytest.fixture
def kb(indexed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(indexed, tmp_path / "kb"))


@pytest.fixture
def run(kb: Path, tmp_path: Path) -> Callable[..., Tuning]:
    def made(rows: list[dict[str, Any]], *, dry_run: bool = False, keep_anyway: bool = False, **asked: Any) -> Tuning:
        path = write_topics(tmp_path / "team.jsonl", rows)
        return tune(Settings(home=kb), Asked(path, NOW, **asked), dry_run=dry_run, keep_anyway=keep_anyway)

    return made


def first(kb: Path, query: str = "when is a ferry merged?") -> str:
    with Service(Settings(home=kb)) as service:
        return service.search(query).hits[0].path.split("/")[0]


def test_a_team_whose_answers_are_in_its_documentation_gains_on_questions_held_out(
    kb: Path, run: Callable[..., Tuning]
) -> None:
    assert first(kb) == "app"
    with Service(Settings(home=kb)) as running:
        assert running.search("when is a ferry merged?").hits[0].path == "app/ferry.py"
        found = run(team_topics(lines=True))
        assert running.search("when is a ferry merged?").hits[0].path == "docs/ferry.md"
    assert (found.verdict, found.kept) == ("better", kb / FILE)
    assert found.after.files["docs"] > SHIPPED.files["docs"] + 1
    assert found.after.files["path_named"] == SHIPPED.files["path_named"]
    assert len(found.halves.held_out.topics) == len(SUBJECTS) // 5
    ids = [{topic.topic_id for topic in part.topics} for part in (found.halves.development, found.halves.held_out)]
    assert not ids[0] & ids[1]
    assert found.comparison is not None
    gained = found.comparison.differences["file nDCG@10"]
    assert gained.estimate.low is not None and gained.estimate.low > 0.2
    assert gained.n_losses == 0


def test_kept_weights_say_what_they_were_fitted_to(kb: Path, run: Callable[..., Tuning]) -> None:
    found = run(team_topics())
    about = json.loads((kb / FILE).read_text())["about"]
    assert about["dataset"] == "team" and about["dataset_hash"] == found.halves.whole.content_hash
    assert (about["n_topics"], about["n_held_out"], about["date"]) == (32, 8, "2026-11-30T12:00:00+00:00")
    assert about["gain"] == pytest.approx(found.gain, abs=1e-6) and about["gain"] > 0.2
    assert set(about["repos"]) == {"team"}


def test_another_process_ranks_by_them(kb: Path, run: Callable[..., Tuning]) -> None:
    run(team_topics())
    command = [sys.executable, "-m", "devmind", "--kb", str(kb), "--json", "search", "when is a ferry merged?"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert json.loads(said)["hits"][0]["path"] == "docs/ferry.md"


def test_labels_at_random_are_not_kept(kb: Path, run: Callable[..., Tuning]) -> None:
    for seed in range(3):
        found = run(random_topics(seed))
        assert (found.verdict, found.kept) == ("no_fit", None)
        assert found.fitted.ndcg[0.0] < 0.2
    assert not (kb / FILE).exists()


def test_a_team_whose_ranking_is_right_keeps_it(kb: Path, run: Callable[..., Tuning]) -> None:
    found = run(team_topics(where="app"))
    assert (found.verdict, found.kept, found.comparison) == ("no_fit", None, None)
    assert not (kb / FILE).exists()


def test_weights_go_back_one_by_one(kb: Path, run: Callable[..., Tuning]) -> None:
    once = run(team_topics())
    assert run(team_topics()).verdict == "same"
    again = run(team_topics(where="tests"))
    assert (again.before, again.kept) == (once.after, kb / FILE)
    assert first(kb) != "docs"
    assert undo(kb) == once.after
    assert first(kb) == "docs"
    assert undo(kb) is SHIPPED
    assert first(kb) == "app"
    assert undo(kb) is None
    assert not (kb / FILE).exists() and not (kb / PREVIOUS).exists()


def test_a_dry_run_shows_the_gain_and_changes_nothing(kb: Path, run: Callable[..., Tuning]) -> None:
    before = sorted(path.name for path in kb.iterdir())
    found = run(team_topics(), dry_run=True)
    assert (found.verdict, found.kept) == ("better", None) and found.gain > 0.2
    assert sorted(path.name for path in kb.iterdir()) == before
    assert first(kb) == "app"


def test_worse_weights_are_kept_only_on_demand(kb: Path, run: Callable[..., Tuning]) -> None:
    """The development half wants documentation first, the test half sources."""
    rows = [row | {"labels": {"split": "development"}} for row in team_topics()]
    for row, other in zip(rows[:8], team_topics(where="app"), strict=False):
        row |= {"labels": {"split": "test"}, "truths": other["truths"]}
    found = run(rows, split="all", reason="before the release")
    assert (found.verdict, found.kept) == ("worse", None) and found.gain < -0.1
    assert not (kb / FILE).exists()
    assert run(rows, split="all", reason="before the release", keep_anyway=True).kept == kb / FILE
    assert first(kb) == "docs"


def test_the_test_half_is_read_only_when_that_is_said_and_logged(run: Callable[..., Tuning], tmp_path: Path) -> None:
    rows = team_topics()
    for at, row in enumerate(rows):
        row["labels"] = {"split": "test" if at % 5 == 0 else "development"}
    inside = run(rows, dry_run=True)
    held_out = {topic.topic_id for topic in inside.halves.held_out.topics}
    assert held_out and not held_out & {f"t{at}" for at in range(0, len(rows), 5)}
    assert logged_uses(tmp_path / "team.jsonl") == []
    with pytest.raises(UsageError, match="--reason"):
        run(rows, dry_run=True, split="all")
    outside = run(rows, dry_run=True, split="all", reason="before the release")
    assert {topic.topic_id for topic in outside.halves.held_out.topics} == {f"t{at}" for at in range(0, len(rows), 5)}
    assert [(use.command, use.reason) for use in logged_uses(tmp_path / "team.jsonl")] == [
        ("tune", "before the release")
    ]


def changed(rows: list[dict[str, Any]], n: int, **fields: Any) -> list[dict[str, Any]]:
    return [row | fields if at < n else row for at, row in enumerate(rows)]


@pytest.mark.parametrize(
    ("rows", "asked", "told"),
    [
        (team_topics()[:12], {}, "10 topics to fit on and 2 to judge by; needed are 20 and 5.*label more.*--split all"),
        (changed(team_topics(), 30, truths=[]), {}, "no ground truth 30"),
        (changed(team_topics(), 30, status="pending"), {}, "not accepted 30"),
        (team_topics(repo="web"), {}, "repository not indexed 40 .the dataset names 'web', indexed are 'team'"),
        (changed(team_topics(), 30, truths=[{"file": "gone.py"}]), {}, "only [0-9]+ have a right file"),
        (team_topics(), {"repos": ("web",)}, "web"),
        (team_topics(), {"split": "test"}, "--split 'test'"),
    ],
)  # fmt: skip
def test_what_cannot_be_fitted_is_said_with_its_numbers(
    run: Callable[..., Tuning], kb: Path, rows: list[dict[str, Any]], asked: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        run(rows, **asked)
    assert not (kb / FILE).exists()


def test_topics_without_a_repository_are_asked_of_all(run: Callable[..., Tuning]) -> None:
    found = run([{key: value for key, value in row.items() if key != "repo"} for row in team_topics()])
    assert found.verdict == "better"


def test_damaged_weights_in_use_are_an_error_that_undo_mends(kb: Path, run: Callable[..., Tuning]) -> None:
    (kb / FILE).write_text('{"format": 1')
    with pytest.raises(StoreError, match="devmind tune --undo"):
        run(team_topics())
    assert undo(kb) is SHIPPED
    assert first(kb) == "app"


def test_an_interrupted_fit_leaves_the_weights_alone(kb: Path, tmp_path: Path) -> None:
    def stop(phase: str, done: int, total: int) -> None:
        if phase == "judge":
            raise KeyboardInterrupt

    path = write_topics(tmp_path / "team.jsonl", team_topics())
    before = sorted(one.name for one in kb.iterdir())
    with pytest.raises(KeyboardInterrupt):
        tune(Settings(home=kb), Asked(path, NOW), told=stop)
    assert sorted(one.name for one in kb.iterdir()) == before


def test_a_dataset_of_any_name_can_be_written_down(kb: Path, tmp_path: Path) -> None:
    path = write_topics(tmp_path / "队\udcff.jsonl", team_topics())
    assert tune(Settings(home=kb), Asked(path, NOW)).kept == kb / FILE
    with Service(Settings(home=kb)) as service:
        assert service.weights.about["dataset"] == "队\udcff"
        assert service.status()[0]["ranking"].startswith("tuned on 32 topics of 队")
    assert undo(kb) is SHIPPED


def test_searches_that_fail_are_no_proof_that_nothing_got_worse(kb: Path, tmp_path: Path) -> None:
    def lose_the_index(phase: str, done: int, total: int) -> None:
        if phase == "fit" and done == total:
            shutil.rmtree(kb / "lexical")

    path = write_topics(tmp_path / "team.jsonl", team_topics())
    with pytest.raises(UpstreamError, match="could not be searched"):
        tune(Settings(home=kb), Asked(path, NOW), told=lose_the_index)
    assert not (kb / FILE).exists()
