"""Markdown, JUnit and JSON of a report."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devmind.evaluate.gate import Limits, judge
from devmind.evaluate.report import Report, make_report
from devmind.evaluate.report.data import extremes, with_own_names
from devmind.evaluate.report.junit import error_xml, report_xml, verdict_xml
from devmind.evaluate.report.markdown import escaped, report_markdown, verdict_markdown
from devmind.evaluate.report.record import report_record
from devmind.evaluate.report.write import write_report
from devmind.evaluate.stored import StoredScores
from tests.evaluate.report.conftest import HOSTILE, NOW

# The schema of Ant's JUnit reports: which children an element has, in order, and which attributes it must have.
CHILDREN = {
    "testsuites": ["testsuite"],
    "testsuite": ["properties", "testcase", "system-out", "system-err"],
    "properties": ["property"],
    "testcase": ["skipped", "error", "failure"],
}
REQUIRED = {
    "testsuite": {"name", "timestamp", "hostname", "tests", "failures", "errors", "time", "package", "id"},
    "testcase": {"name", "classname", "time"},
    "property": {"name", "value"},
    "error": {"type"},
    "failure": {"type"},
}


def parsed(text: str) -> ET.Element:
    root = ET.fromstring(text.encode())
    for element in root.iter():
        names = [child.tag for child in element]
        order = CHILDREN.get(element.tag, [])
        assert names == sorted(names, key=order.index), element.tag
        assert REQUIRED.get(element.tag, set()) <= set(element.attrib), element.tag
        if element.tag == "testsuite":
            assert [names.count(only) for only in ("properties", "system-out", "system-err")] == [1, 1, 1]
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", element.attrib["timestamp"])
            cases = element.findall("testcase")
            for key, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
                assert int(element.attrib[key]) == sum(case.find(kind) is not None for case in cases)
            assert int(element.attrib["tests"]) == len(cases)
        if element.tag == "testcase":
            assert len(element) <= 1
    return root


def results(suite: ET.Element) -> dict[str, str]:
    found = {}
    for case in suite.findall("testcase"):
        inner = next(iter(case), None)
        kind = "" if inner is None else f"{inner.tag} {inner.attrib.get('type', '')}".strip()
        found[case.attrib["name"].partition(": ")[0]] = kind
    return found


def test_junit_tells_misses_errors_and_what_is_not_scored_apart(build: Callable[..., Report]) -> None:
    old, new = parsed(report_xml(build(), now=NOW)).findall("testsuite")
    found = results(new)
    assert found.pop(HOSTILE[:120].partition(": ")[0]) == ""  # its first line is hit
    assert found == {
        "won": "", "lost": "failure not_found", "tied": "", "whole": "", "trap": "failure trap",
        "failed": "error http_500", "absent": "error missing", "none": "skipped", "later": "skipped",
    }  # fmt: skip
    assert (results(old)["won"], results(old)["lost"]) == ("failure not_found", "")
    assert {p.attrib["name"]: p.attrib["value"] for p in new.iter("property")}["match"] == "overlap"
    missed = next(case for case in new.iter("testcase") if case.attrib["name"].startswith("lost"))
    assert "shop/cart.py:11-12" in (missed[0].text or "")
    assert missed.attrib["classname"] == "shop.API location"


def test_junit_of_a_gate(build: Callable[..., Report]) -> None:
    old, new = build().runs
    verdict = judge(new.scores, old.scores, Limits({"Recall@5": 1}, {"hit@5": 0.99}, max_lost=1))
    gate, endpoint = parsed(verdict_xml(verdict, new.scores, now=NOW)).findall("testsuite")
    assert results(gate) == {"drop Recall@5": "", "floor hit@5": "failure floor"}
    assert results(endpoint) == {"failed": "error failed", "absent": "error missing"}
    (broken,) = parsed(error_xml("gate", "no_limits", f"say \x00 {HOSTILE}", now=NOW)).findall("testsuite")
    assert results(broken) == {"judged": "error no_limits"}


def test_markdown_says_the_verdict_first(build: Callable[..., Report]) -> None:
    lines = report_markdown(build()).splitlines()
    assert lines[0].startswith("### new against old")
    text = "\n".join(lines)
    assert "| measure | old" in text and "Lost most in nDCG@10:" in text and "<details>" in text
    assert "- -1.000 lost: What does an item cost?" in text
    assert "1 missing, 1 failed (http\\_500 1)" in text
    alone = report_markdown(build(with_baseline=False)).splitlines()[0]
    assert "nDCG@10" in alone and alone.startswith("### old")


def test_markdown_takes_no_text_as_markup(build: Callable[..., Report]) -> None:
    text = report_markdown(build())
    assert set(re.findall(r"<[^>]*>", text)) <= {"<details>", "<summary>", "</summary>", "</details>"}
    for row in text.splitlines():
        if row.startswith("|"):
            assert row.count("|") in (4, 5, 6), row  # no text adds a column
    assert escaped("see [x](http://a.b) @someone #12 `a` www.x.y a|b\n**c**") == (
        "see \\[x\\](http&#58;//a.b) &#64;someone &#35;12 \\`a\\` www&#46;x.y a&#124;b \\*\\*c\\*\\*"
    )
    assert escaped("nDCG@10, devmind:search, 中文") == "nDCG@10, devmind:search, 中文"


def test_markdown_of_a_gate(build: Callable[..., Report]) -> None:
    old, new = build().runs
    stored = StoredScores(new.scores, "shop", {})
    verdict = judge(new.scores, old.scores, Limits({"Recall@5": 1}, {"hit@5": 0.99}, max_lost=1))
    text = verdict_markdown(verdict, stored)
    assert text.startswith("### Evaluation gate missed: 1 of 2 limits")
    assert "| **missed** | hit@5 |" in text and "| ok | Recall@5 |" in text
    passed = judge(new.scores, old.scores, Limits({"Recall@5": 1}, max_lost=1))
    assert verdict_markdown(passed, stored).startswith("### Evaluation gate passed: all 1 limits hold")


def test_json_holds_all_measures_and_how_they_were_made(build: Callable[..., Report], tmp_path: Path) -> None:
    record: dict[str, Any] = json.loads(json.dumps(report_record(build()), allow_nan=False))
    assert {"devmind", "python", "numpy", "dataset_hash", "commit", "match", "intervals"} <= set(record["provenance"])
    assert record["provenance"]["made"] == "2031-05-06T07:08:09+00:00"
    old, new = record["runs"]
    assert new["provenance"]["target.mode"] == HOSTILE
    assert new["failures"] == {"http_500": 1}
    assert "nDCG(exp)@10" in new["overall"] and "nDCG(exp)@10" in record["topics"][0]["runs"][0]["measures"]
    found = record["comparisons"][0]["differences"]["Recall@5"]
    assert (found["by_topic"]["won"], found["by_topic"]["lost"]) == (1.0, -1.0)
    assert (found["n_wins"], found["n_losses"]) == (1, 1)
    assert set(old["groups"]) == {"category", "language", "repo", "leak"}
    lone = "half \ud83d"
    write_report(tmp_path / "x.json", lone)
    assert (tmp_path / "x.json").read_text() == "half \\ud83d"


def test_the_worst_and_the_best_come_first(build: Callable[..., Report]) -> None:
    worst, best = extremes(build().comparisons[0].differences["Recall@5"], 5)
    assert (worst, best) == ([("lost", -1.0)], [("won", 1.0)])


def test_runs_of_one_name_get_names_of_their_own(build: Callable[..., Report]) -> None:
    new = build().runs[1]
    named = with_own_names([new, new, new], ["a", "b", "b"])
    assert [one.run.system for one in named] == ["new (a)", "new (b)", "new (b) #2"]
    assert [one.scores.system for one in named] == [one.raw.system for one in named]


def test_an_unknown_measure_is_told(build: Callable[..., Report]) -> None:
    report = build()
    with pytest.raises(Exception, match="no measure 'Recall@7'"):
        make_report(report.asked, report.runs, provenance={}, with_baseline=True, measures=["Recall@7"])
