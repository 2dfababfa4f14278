"""Scores survive the file; what is no file of scores is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devmind.errors import DevMindError
from devmind.evaluate.score import score_run
from devmind.evaluate.stored import StoredScores, read_scores, write_scores
from devmind.evaluate.types import Failure, Response


@pytest.fixture
def stored(
    topic: Callable[..., Any], response: Callable[..., Any], dataset: Callable[..., Any], run: Callable[..., Any]
) -> StoredScores:
    topics = [topic(f"a.py[1,9] b{n}.py[3,8]", f"问题{n}", repo=f"r{n % 3}") for n in range(12)]
    topics += [topic("", "trap", category="trap"), topic("a.py[1,2]", "failed")]
    responses = [response(f"b{n % 4}.py[1,5] a.py[2,3]", f"问题{n}") for n in range(11)]
    responses += [response("a.py[1,2]", "trap"), Response("failed", failure=Failure("timeout", "late"))]
    return StoredScores(score_run(dataset(*topics), run(*responses)), "set", {"devmind": "1", "made": "today"})


def test_what_was_written_is_read(stored: StoredScores, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "base.jsonl"
    write_scores(path, stored)
    again = read_scores(path)
    assert (again.dataset, again.provenance) == (stored.dataset, stored.provenance)
    before, after = stored.scores, again.scores
    assert after.overall == before.overall  # means and intervals are made anew from the topics, to the last digit
    assert [(t.topic_id, t.repo, t.outcome) for t in after.topics] == [
        (t.topic_id, t.repo, t.outcome) for t in before.topics
    ]
    for old, new in zip(before.topics, after.topics, strict=True):
        assert {name: value for name, value in new.measures.items() if name in old.measures} == dict(old.measures)
    assert (after.n_missing, after.n_failed, after.match, after.dataset_hash) == (1, 1, "overlap", "abc")


def test_it_is_one_line_a_topic(stored: StoredScores, tmp_path: Path) -> None:
    path = tmp_path / "base.jsonl"
    write_scores(path, stored)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(stored.scores.topics)
    assert json.loads(lines[1])[0] == "问题0"
    assert "what?" not in path.read_text(encoding="utf-8")  # no question of any topic


@pytest.mark.parametrize(("change", "named"), [
    (lambda lines: [], "holds no scores"),
    (lambda lines: ["{}"], "holds no scores"),
    (lambda lines: lines[:1], "of no topic"),
    (lambda lines: [lines[0].replace('"format": 1', '"format": 9'), *lines[1:]], "format 9"),
    (lambda lines: [lines[0].replace('"match": "overlap"', '"match": 3'), *lines[1:]], "field 'match' is 3"),
    (lambda lines: [*lines, lines[1]], "stands twice"),
    (lambda lines: [lines[0], '["t", "r", "scored", [1]]'], "no topic's scores"),
    (lambda lines: [lines[0], lines[1].replace('"scored"', '"great"')], "no topic's scores"),
    (lambda lines: [lines[0], lines[1].replace("0.5", "NaN", 1)], "NaN is no JSON number"),
    (lambda lines: [lines[0], lines[1].replace("0.5", '"x"', 1)], "no number"),
    (lambda lines: [lines[0], lines[1].replace("0.5", "1" + "0" * 400, 1)], "no number"),
    (lambda lines: [lines[0], lines[1][:30]], "not JSON"),
])  # fmt: skip
def test_what_is_damaged_is_told(
    stored: StoredScores, tmp_path: Path, change: Callable[[list[str]], list[str]], named: str
) -> None:
    path = tmp_path / "base.jsonl"
    write_scores(path, stored)
    changed = change(path.read_text(encoding="utf-8").splitlines())
    path.write_text("\n".join(changed), encoding="utf-8")
    with pytest.raises(DevMindError) as caught:
        read_scores(path)
    assert named in str(caught.value)
    assert str(path) in str(caught.value)
