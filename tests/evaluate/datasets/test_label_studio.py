"""The way through Label Studio: what annotators see, and what their export becomes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from devmind.errors import UsageError
from devmind.evaluate.datasets import Surroundings, read, write
from devmind.evaluate.datasets.label_studio import NOTHING
from devmind.evaluate.datasets.pool import read_pool
from devmind.evaluate.types import Annotation, Dataset, Span, Truth


def text_of(repo: str, commit: str, path: str) -> str | None:
    return "".join(f"line {n} of {path}\n" for n in range(1, 301)) if path.endswith(".py") else None


def exported(path: Path, dataset: Dataset, around: Surroundings) -> list[dict[str, Any]]:
    write(dataset, path, "label-studio", around=around)
    tasks: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return tasks


def test_blind_tasks_show_code_and_nobodys_labels(tmp_path: Path, dataset: Dataset) -> None:
    pool = {"q1": (Span("shop/pay.py", 100, 101),), "q3": (Span("shop/pay.py", 1, 1),)}
    tasks = exported(tmp_path / "t.json", dataset, Surroundings(text_of, pool))
    places = [line["place"] for line in tasks[0]["data"]["lines"]]
    assert places[0] == "shop/cart.py:1"
    assert "shop/pay.py:60" in places
    assert "shop/pay.py:59" not in places
    assert "shop/pay.py:141" in places
    assert len(places) == len(set(places))
    assert tasks[2]["data"]["lines"]  # a trap shows code, too, or its emptiness would give it away
    told = json.dumps(tasks)
    for secret in ("ana", "strong", "price_of", "In the catalogue", "ana chose"):
        assert secret not in told
    assert ElementTree.parse(tmp_path / "t.xml").getroot().tag == "View"


def test_an_export_becomes_annotations(tmp_path: Path, dataset: Dataset) -> None:
    path = tmp_path / "t.json"
    tasks = exported(path, dataset, Surroundings(text_of))
    lines = [line["place"] for line in tasks[0]["data"]["lines"]]
    first = lines.index("shop/cart.py:20")
    region = {"from_name": "grade", "to_name": "code", "type": "paragraphlabels"}
    tasks[0]["annotations"] = [
        {"completed_by": 7, "result": [
            {**region, "value": {"start": str(first), "end": str(first + 3), "startOffset": 0, "endOffset": 0,
                                 "paragraphlabels": ["strong"]}},
            {"from_name": "spans", "type": "textarea",
             "value": {"text": ["my file.py:3-9 weak A.b", "README.md\nc.py:5"]}},
            {"from_name": "note", "type": "textarea", "value": {"text": ["unsure"]}},
        ]},
        {"completed_by": {"id": 8, "email": "bo@example.org"}, "result": [
            {"from_name": "nothing", "type": "choices", "value": {"choices": [NOTHING]}},
        ]},
        {"completed_by": 9, "was_cancelled": True, "result": []},
    ]  # fmt: skip
    path.write_text(json.dumps(tasks))
    assert read(path).topics[0].annotations == (
        Annotation(
            "7",
            (
                Truth(Span("shop/cart.py", 20, 22)),
                Truth(Span("my file.py", 3, 9), "weak", "A.b"),
                Truth(Span("README.md")),
                Truth(Span("c.py", 5, 5)),
            ),
            "unsure",
        ),
        Annotation("bo@example.org", ()),
    )


def test_a_region_over_a_gap_is_two_spans(tmp_path: Path, dataset: Dataset) -> None:
    path = tmp_path / "t.json"
    pool = {"q2": (Span("shop/login.py", 200, 201),)}
    tasks = exported(path, dataset, Surroundings(text_of, pool))
    n_lines = len(tasks[1]["data"]["lines"])
    value = {"start": 0, "end": n_lines - 1, "startOffset": 2, "endOffset": 4, "paragraphlabels": ["weak"]}
    tasks[1]["annotations"] = [{"completed_by": "ana", "result": [{"from_name": "grade", "value": value}]}]
    path.write_text(json.dumps(tasks))
    (annotation,) = read(path).topics[1].annotations
    assert [truth.span for truth in annotation.truths] == [
        Span("shop/login.py", 1, 48),
        Span("shop/login.py", 160, 241),
    ]


def test_labels_drawn_by_the_dataset_keep_what_it_knew_until_they_are_changed(tmp_path: Path, dataset: Dataset) -> None:
    path = tmp_path / "t.json"
    tasks = exported(path, dataset, Surroundings(text_of, blind=False))
    assert read(path).topics[0] == dataset.topics[0]
    value = tasks[0]["annotations"][0]["result"][0]["value"]
    value["end"] = str(int(value["end"]) + 1)
    path.write_text(json.dumps(tasks))
    assert read(path).topics[0].annotations[0].truths == (Truth(Span("shop/cart.py", 20, 23)),)


@pytest.mark.parametrize(("value", "named"), [
    ({"start": "0", "end": "9999", "paragraphlabels": ["strong"]}, "field 'annotations[0].result[0].value.end'"),
    ({"start": "x", "end": "1", "paragraphlabels": ["strong"]}, "field 'annotations[0].result[0].value.start'"),
    ({"start": "0", "end": "1", "paragraphlabels": ["good"]}, "must be one of strong, weak"),
    ({"start": "0", "end": "1"}, "must be one of strong, weak"),
])  # fmt: skip
def test_a_region_that_makes_no_sense_is_named(
    tmp_path: Path, dataset: Dataset, value: dict[str, Any], named: str
) -> None:
    path = tmp_path / "t.json"
    tasks = exported(path, dataset, Surroundings(text_of))
    tasks[0]["annotations"] = [{"completed_by": 1, "result": [{"from_name": "grade", "value": value}]}]
    path.write_text(json.dumps(tasks))
    with pytest.raises(UsageError) as caught:
        read(path)
    assert "topic 'q1'" in str(caught.value)
    assert named in str(caught.value)


def test_a_pool_of_runs(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    hits = [{"file": f"f{n}.py", "start_line": n, "end_line": n + 1, "score": 1.0} for n in range(1, 15)]
    one.write_text(json.dumps({"id": "q1", "hits": hits}) + "\n")
    two.write_text(json.dumps({"id": "q1", "hits": [hits[0], {"file": "./g.py"}]}) + "\n")
    spans = read_pool([one, two])["q1"]
    assert [span.file for span in spans] == [f"f{n}.py" for n in range(1, 11)] + ["g.py"]
    with pytest.raises(UsageError, match=r"two\.jsonl:1: topic 'q2', field 'hits'"):
        two.write_text('{"id": "q2"}\n')
        read_pool([two])
