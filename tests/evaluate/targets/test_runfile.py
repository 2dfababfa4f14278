"""Runs of other systems are read in the forms they are written in, and written so that others can score them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devmind.errors import UsageError
from devmind.evaluate.export import hit_lines, trec_lines, write_lines
from devmind.evaluate.runner import run_target
from devmind.evaluate.targets.runfile import RunFile
from devmind.evaluate.types import Dataset, Response, Retrieved, Run, Span, Topic

DATASET = Dataset(
    "d", (Topic("a", "cart total", repo="shop"), Topic("7", "login", repo="shop"), Topic("c", "absent")), "hash"
)
BY_ID = """{"id": "a", "hits": [{"file": "./x.py", "start_line": 3, "end_line": 9, "score": 2}, {"file": "y.py"}]}

{"id": 7, "hits": [], "abstain": true, "confidence": 0.2, "answer": "Not found."}
"""
BY_QUERY = '{"repo": "shop", "query": "cart total", "hits": [{"file": "x.py", "start_line": 3, "end_line": 9}]}\n'
TREC = """a Q0 y.py#L1-L2 1 1.5 mysystem
a Q0 x%20z.py 2 7.5 mysystem
a Q0 x.py#L3-L9 3 1.5 mysystem
"""


def run_over(text: str, folder: Path, *, k: int = 10) -> Run:
    path = folder / "run.txt"
    path.write_text(text, encoding="utf-8")
    return RunFile(path).run_over(DATASET, k=k)


def test_lines_by_id(tmp_path: Path) -> None:
    run = run_over(BY_ID, tmp_path)
    assert list(run.responses) == ["a", "7"]  # topic c is missing, which measures count
    assert [hit.span for hit in run.responses["a"].hits] == [Span("x.py", 3, 9), Span("y.py")]
    refused = run.responses["7"]
    assert (refused.abstained, refused.confidence, refused.answer) == (True, 0.2, "Not found.")


def test_lines_by_repository_and_query(tmp_path: Path) -> None:
    run = run_over(BY_QUERY, tmp_path)
    assert {i: [h.span for h in r.hits] for i, r in run.responses.items()} == {"a": [Span("x.py", 3, 9)]}
    assert run.responses["a"].topic_id == "a"


def test_trec_runs_are_ordered_by_score_and_then_by_rank(tmp_path: Path) -> None:
    run = run_over(TREC, tmp_path)
    assert run.system == "mysystem"
    assert [h.span for h in run.responses["a"].hits] == [Span("x z.py"), Span("y.py", 1, 2), Span("x.py", 3, 9)]
    assert [h.score for h in run.responses["a"].hits] == [7.5, 1.5, 1.5]
    assert len(run_over(TREC, tmp_path, k=2).responses["a"].hits) == 2


def test_a_topic_that_is_not_in_the_file_is_missing_from_the_run(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(BY_ID, encoding="utf-8")
    run = run_target(DATASET, RunFile(path), k=5, out=tmp_path / "out.jsonl")
    assert list(run.responses) == ["a", "7"]
    again = RunFile(tmp_path / "out.jsonl")  # our own journal is a run file, too
    assert again.run_over(DATASET, k=5).responses == run.responses
    assert again.name == "run"


@pytest.mark.parametrize(("text", "named"), [
    ("", "no response"),
    ("{\n", ":1: not a JSON object"),
    ('{"id": "a", "hits": []}\n[1]\n', ":2: not a JSON object"),
    ('{"hits": []}', "names no topic"),
    ('{"id": "a"}', "topic 'a', field 'hits'"),
    ('{"id": "a", "hits": {"x": 1}}', "topic 'a', field 'hits'"),
    ('{"id": "a", "hits": [], "answer": 1}', "topic 'a', field 'answer'"),
    ('{"id": "a", "hits": []}\n{"id": "a", "hits": []}', ":2: .*twice"),
    ("a Q0 x 1 2", "six words"),
    ("a Q0 x one 2 t", "topic 'a', field 'rank'"),
    ("a Q0 x 1 nan t", "topic 'a', field 'score'"),
])  # fmt: skip
def test_what_is_wrong_in_a_run_is_named(text: str, named: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=named) as caught:
        run_over(text, tmp_path)
    assert "run.txt" in str(caught.value)


def test_hits_that_cannot_be_used_are_dropped_with_their_reason(tmp_path: Path) -> None:
    hits = [{"file": "x.py", "start_line": 9, "end_line": 3}, {"file": "x.py", "score": float("nan")}, {"file": "y.py"}]
    response = run_over(json.dumps({"id": "a", "hits": hits}), tmp_path).responses["a"]
    assert [hit.span for hit in response.hits] == [Span("y.py")]
    assert len(response.dropped) == 2


def test_exported_scores_fall_strictly_and_come_back_in_order(tmp_path: Path) -> None:
    hits = (
        Retrieved(Span("b.py", 1, 2), score=1.0, file="b.py"),
        Retrieved(Span("a b.py", 3, 4), score=1.0, file="a b.py"),
        Retrieved(Span("b.py", 1, 2), score=1.0, file="b.py"),  # named before
        Retrieved(None, text="no place", score=1.0),
        Retrieved(None, text="x", score=9.0, file="c.py"),
    )
    run = Run("my system", "d", {"a": Response("a", hits=hits), "7": Response("7")}, 5)
    lines = list(trec_lines(run, DATASET))
    cells = [line.split() for line in lines]
    assert all(len(row) == 6 for row in cells)
    assert [(row[3], row[4], row[5]) for row in cells] == [("1", "3", "my-system"), ("2", "2", "my-system"),
                                                           ("3", "1", "my-system")]  # fmt: skip
    write_lines(iter(lines), tmp_path / "run.trec")
    back = RunFile(tmp_path / "run.trec").run_over(DATASET, k=5)
    assert [hit.span for hit in back.responses["a"].hits] == [Span("b.py", 1, 2), Span("a b.py", 3, 4), Span("c.py")]


def test_exported_lines_hold_what_scripts_look_for(tmp_path: Path) -> None:
    run = run_over(BY_ID, tmp_path)
    rows = [json.loads(line) for line in hit_lines(run, DATASET)]
    assert rows[0]["hits"] == [
        {"file": "x.py", "start_line": 3, "end_line": 9, "score": 2.0},
        {"file": "y.py", "start_line": None, "end_line": None},
    ]
    assert (rows[0]["repo"], rows[0]["query"], rows[1]["abstain"]) == ("shop", "cart total", True)
    write_lines(hit_lines(run, DATASET), tmp_path / "again.jsonl")
    assert RunFile(tmp_path / "again.jsonl").run_over(DATASET, k=10).responses["a"].hits == run.responses["a"].hits
