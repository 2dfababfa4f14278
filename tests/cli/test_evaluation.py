"""``devmind eval run``, ``compare``, ``gate`` and ``report`` as a user runs them: results, JSON, text, exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from devmind.cli.run import run
from devmind.evaluate.datasets import dataset_of, read, write
from devmind.evaluate.journal import read_run
from devmind.evaluate.types import Span, Topic, Truth
from tests.evaluate.stubs import DevMind, serving

PRICE = Truth(Span("shop/cart.py", 18, 20), symbol="price_of")
LOCK = Truth(Span("shop/login.py", 4, 8))
ADD = Truth(Span("shop/cart.py", 9, 11))
Call = Callable[..., tuple[int, Any]]


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    path = tmp_path / "topics.jsonl"
    members = [
        Topic("q1", "price of an item in the catalogue", "API location", (PRICE,), "shop", language="python"),
        Topic("q2", "lock the account of a user", "code understanding", (LOCK,), "shop", language="python"),
        Topic("q3", "密码输错几次会锁定账号？", "code understanding", (LOCK,), "shop", labels={"team": "web"}),
        Topic("q4", "put an item into the cart", "API location", (ADD,), "shop", language="python"),
        Topic("t1", "Where is the warp drive?", "trap", repo="shop"),
        Topic("p1", "Not accepted yet", "API location", (ADD,), "shop", status="pending"),
    ]
    write(dataset_of("shop", members), path)
    return path


@pytest.fixture
def indexed(add: Callable[[Path], Any], shop: Path, kb: Path) -> Path:
    add(shop)
    return kb


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Call:
    def run_it(*argv: object) -> tuple[int, Any]:
        capfd.readouterr()
        code = run(["eval", *map(str, argv), "--json"])
        out, err = capfd.readouterr()
        return code, json.loads(out or err)

    return run_it


@pytest.fixture
def responses(tmp_path: Path) -> Callable[..., Path]:
    """Write a run file: hits by topic as (file, start, end), or text without lines."""

    def make(name: str, **hits: list[Any]) -> Path:
        path = tmp_path / f"{name}.jsonl"
        rows = [
            {"id": topic_id, "hits": [
                {"text": hit} if isinstance(hit, str) else {"file": hit[0], "start_line": hit[1], "end_line": hit[2]}
                for hit in found
            ]}
            for topic_id, found in hits.items()
        ]  # fmt: skip
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return make


GOOD: dict[str, list[Any]] = {
    "q1": [("shop/cart.py", 18, 20)], "q2": [("shop/login.py", 4, 8)], "q3": [("shop/login.py", 4, 8)],
    "q4": [("shop/cart.py", 9, 11)], "t1": [],
}  # fmt: skip
BAD = {**GOOD, "q1": [("README.md", 1, 3)], "q2": [("README.md", 1, 3)], "q3": [("README.md", 1, 3)],
       "q4": [("README.md", 1, 3)]}  # fmt: skip


def test_a_run_of_devmind_is_measured_and_stored(topics: Path, indexed: Path, shop: Path, call: Call) -> None:
    out = topics.parent / "out"
    argv = ["run", topics, "--out", out, "--source", shop, "--kb", indexed, "--by", "team"]
    code, said = call(*argv)
    assert (code, said["n_topics"], said["n_excluded"], said["n_failed"]) == (0, 5, 1, 0)
    assert said["outcomes"] == {"scored": 4, "trap": 1}
    assert said["overall"]["hit@10"]["mean"] == 1.0
    assert said["groups"]["team"]["web"]["hit@10"]["n"] == 1
    assert said["lines"]["with_code"] and said["lines"]["n_outside"] == 0
    assert "p1" not in read_run(out / "run.jsonl").responses
    before = (out / "run.jsonl").read_bytes()
    assert call(*argv)[1]["overall"] == said["overall"]
    assert (out / "run.jsonl").read_bytes() == before  # nothing was asked again
    assert call(*argv, "--fresh")[0] == 0
    assert (out / "run.jsonl").read_bytes() != before  # other times


def test_without_a_folder_the_same_run_goes_to_the_same_place(
    topics: Path, indexed: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(topics.parent)
    places = [call("run", topics, "--kb", indexed, "-k", k)[1]["run"] for k in (10, 10, 5)]
    assert places[0] == places[1] != places[2]
    assert Path(places[0]).name.startswith("topics-devmind-search-")


def test_text_without_lines_is_placed_in_the_code(
    topics: Path, shop: Path, call: Call, responses: Callable[..., Path]
) -> None:
    price = (shop / "shop/cart.py").read_text(encoding="utf-8").split("\n")[17:20]
    file = responses("texts", **{**GOOD, "q1": ["never anywhere in this repository", "\n".join(price)]})
    argv = ["run", topics, "--target", f"run:{file}", "--out", topics.parent / "out"]
    code, said = call(*argv)
    assert (code, said["lines"]["by_method"], said["overall"]["hit@10"]["mean"]) == (
        0,
        {"unmapped": 2, "given": 3},
        0.75,
    )
    code, said = call(*argv, "--source", shop)
    assert said["lines"]["by_method"] == {"unmapped": 1, "exact": 1, "given": 3}
    assert (said["lines"]["unmapped_share"], said["overall"]["hit@10"]["mean"]) == (0.2, 1.0)


def test_hits_outside_their_file_find_nothing(
    topics: Path, shop: Path, call: Call, responses: Callable[..., Path]
) -> None:
    file = responses("wide", **{**GOOD, "q1": [("shop/cart.py", 1, 99999)], "q2": [("gone.py", 1, 2)]})
    code, said = call("run", topics, "--target", f"run:{file}", "--out", topics.parent / "o", "--source", shop)
    assert (code, said["lines"]["n_outside"], said["overall"]["hit@10"]["mean"]) == (0, 2, 0.5)
    assert "topic 'q1': hits[0].span ends at line 99999" in said["lines"]["outside"][0]


def test_failures_are_counted_and_asked_again(topics: Path, call: Call) -> None:
    out = topics.parent / "out"
    with serving(DevMind(), faults=("500", "html")) as stub:
        argv = ["run", topics, "--target", stub.url, "--out", out, "--tries", "1"]
        code, said = call(*argv)
        assert (code, said["n_failed"], said["failures"]) == (0, 2, {"html": 1, "http_500": 1})
        assert call(*argv, "--keep-failed")[1]["n_failed"] == 2
        assert call(*argv)[1]["n_failed"] == 0


def test_a_system_that_never_responds_is_an_error_not_a_zero(topics: Path, call: Call) -> None:
    with serving(DevMind(), faults=("500",) * 99) as stub:
        code, said = call("run", topics, "--target", stub.url, "--out", topics.parent / "out", "--tries", "1")
    assert (code, said["error"]["code"]) == (2, "nothing_measured")
    assert "http_500 5" in said["error"]["message"]


def test_ctrl_c_keeps_what_was_measured_and_says_how_to_go_on(topics: Path, kb: Path) -> None:
    many = topics.parent / "many.jsonl"
    first = read(topics).topics[0]
    write(dataset_of("many", [replace(first, topic_id=f"t{n}", query=f"{n} price") for n in range(40)]), many)
    out = topics.parent / "out"
    with serving(DevMind(), delay_s=0.05) as stub:
        command = [sys.executable, "-m", "devmind", "--kb", str(kb), "eval", "run", str(many), "--target", stub.url,
                   "--out", str(out)]  # fmt: skip
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
            assert process.stderr is not None
            process.stderr.readline()  # topics are being asked
            while not (out / "run.jsonl").exists() or len((out / "run.jsonl").read_bytes().split(b"\n")) < 6:
                assert process.poll() is None
            os.killpg(process.pid, signal.SIGINT)
            message = process.stderr.read()
        assert process.returncode == 130
        assert "of 40 topics) are in" in message and "run the same command again to go on" in message
        kept = len(read_run(out / "run.jsonl").responses)
        assert 5 <= kept < 40
        n_before = len(stub.asked)
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0
        assert len(stub.asked) - n_before == 40 - kept


def test_two_runs_are_compared(topics: Path, call: Call, responses: Callable[..., Path]) -> None:
    good, bad = responses("good", **GOOD), responses("bad", **BAD)
    code, said = call("compare", bad, good, "--dataset", topics, "--measure", "Recall@5", "--measure", "RR@10")
    found = said["differences"]["Recall@5"]
    assert (code, said["baseline"], said["candidate"], list(said["differences"])) == (
        0,
        "bad",
        "good",
        ["Recall@5", "RR@10"],
    )
    assert (found["mean"], found["n_wins"], found["n_losses"], found["n_ties"]) == (1.0, 4, 0, 0)
    assert found["p"] == 2 / 2**4 and found["p_holm"] == 2 * found["p"]
    assert [topic["id"] for topic in said["best"]] == ["q4", "q3", "q2", "q1"] and said["worst"] == []
    code, said = call("compare", good, bad, "--dataset", topics, "--topics", "2")
    assert [(topic["id"], topic["difference"]) for topic in said["worst"]] == [("q1", -1.0), ("q2", -1.0)]


@pytest.fixture
def two_runs(topics: Path, call: Call, responses: Callable[..., Path]) -> tuple[Path, Path]:
    folders = []
    for name, hits in (("good", GOOD), ("bad", BAD)):
        folder = topics.parent / f"run-{name}"
        assert call("run", topics, "--target", f"run:{responses(name, **hits)}", "--out", folder)[0] == 0
        folders.append(folder)
    return folders[0], folders[1]


def test_a_gate_passes_and_misses(topics: Path, two_runs: tuple[Path, Path], call: Call) -> None:
    good, bad = two_runs
    base, junit, md = (topics.parent / name for name in ("base.jsonl", "gate.xml", "gate.md"))
    code, said = call("gate", good, "--write-baseline", "--baseline", base)
    assert (code, said["n_topics"]) == (0, 5)
    argv = ["--baseline", base, "--allow", "Recall@5=0.1", "--junit", junit, "--md", md]
    code, said = call("gate", good, *argv)
    assert (code, said["passed"]) == (0, True)
    assert md.read_text().startswith("### Evaluation gate passed")
    code, said = call("gate", bad, *argv, "--floor", "hit@1=0.5")
    assert (code, said["passed"], [check["passed"] for check in said["checks"]]) == (1, False, [False, False])
    assert ET.parse(junit).getroot()[0].attrib["failures"] == "2"
    assert call("gate", bad, "--floor", "refusal=1", "--ceiling", "false refusal=0")[0] == 0
    code, said = call("gate", bad, "--floor", "hit@1=0.5", "--dataset", topics, "--match", "iou50")
    assert code == 1


def test_a_run_writes_its_baseline(topics: Path, call: Call, responses: Callable[..., Path]) -> None:
    base = topics.parent / "deep" / "base.jsonl"
    argv = ["run", topics, "--target", f"run:{responses('good', **GOOD)}", "--out", topics.parent / "o"]
    assert call(*argv, "--baseline-out", base)[0] == 0
    assert call("gate", topics.parent / "o", "--baseline", base, "--allow", "AP=0")[0] == 0


BAD_GATES = [
    ([], "no limits"),
    (["--baseline", "{base}"], "no measure of it"),
    (["--allow", "Recall@5=0.1"], "--baseline FILE"),
    (["--baseline", "{none}", "--allow", "Recall@5=0.1"], "there is no baseline"),
    (["--baseline", "{topics}", "--allow", "Recall@5=0.1"], "holds no scores"),
    (["--baseline", "{base}", "--allow", "Recall@55=0.1"], "did you mean"),
    (["--baseline", "{base}", "--allow", "Recall@5"], "MEASURE=NUMBER"),
    (["--baseline", "{base}", "--allow", "Recall@5=nan"], "MEASURE=NUMBER"),
    (["--baseline", "{base}", "--allow", "Recall@5=-1"], "0 or more"),
    (["--baseline", "{base}", "--allow", "Recall@5=0", "--allow", "Recall@5=1"], "twice"),
    (["--baseline", "{base}", "--write-baseline", "--allow", "Recall@5=0"], "judges nothing"),
    (["--write-baseline"], "--baseline FILE"),
    (["--baseline", "{base}", "--allow", "Recall@5=0", "--max-lost", "7"], "from 0 to 1"),
    (["--floor", "Recall@5=0.1", "--md", "{folder}"], "cannot write"),
    (["--floor", "Recall@5=0.1", "--dataset", "{other}"], "is over"),
]


@pytest.mark.parametrize(("argv", "named"), BAD_GATES, ids=[" ".join(argv) or "none" for argv, _ in BAD_GATES])
def test_a_gate_that_cannot_judge_exits_2(
    topics: Path, two_runs: tuple[Path, Path], call: Call, argv: list[str], named: str
) -> None:
    base, other = topics.parent / "base.jsonl", topics.parent / "other.jsonl"
    write(dataset_of("other", read(topics).topics[:3]), other)
    call("gate", two_runs[0], "--write-baseline", "--baseline", base)
    places = {"base": base, "none": topics.parent / "none.jsonl", "topics": topics, "folder": topics.parent,
              "other": other}  # fmt: skip
    code, said = call("gate", two_runs[0], *(part.format(**places) for part in argv))
    assert (code, named in said["error"]["message"]) == (2, True), said


def test_a_gate_refuses_another_dataset_and_stale_scores(
    topics: Path, two_runs: tuple[Path, Path], call: Call, responses: Callable[..., Path]
) -> None:
    good, bad = two_runs
    base, other = topics.parent / "base.jsonl", topics.parent / "other.jsonl"
    write(dataset_of("other", [replace(topic, query=topic.query + "?") for topic in read(topics).topics]), other)
    made = ["run", other, "--target", f"run:{responses('again', **GOOD)}", "--out", topics.parent / "o"]
    assert call(*made, "--baseline-out", base)[0] == 0
    junit = topics.parent / "gate.xml"
    code, said = call("gate", good, "--baseline", base, "--allow", "Recall@5=1", "--junit", junit)
    assert (code, said["error"]["code"]) == (2, "other_dataset")
    assert ET.parse(junit).getroot()[0].attrib["errors"] == "1"
    (good / "run.jsonl").write_bytes((bad / "run.jsonl").read_bytes())
    code, said = call("gate", good, "--floor", "Recall@5=0")
    assert (code, said["error"]["code"]) == (2, "stale_scores")
    (bad / "scores.jsonl").unlink()
    code, said = call("gate", bad, "--floor", "Recall@5=0")
    assert (code, said["error"]["code"]) == (2, "not_scores")


def test_a_report_is_written_in_every_form(
    topics: Path, two_runs: tuple[Path, Path], shop: Path, call: Call, capfd: pytest.CaptureFixture[str]
) -> None:
    good, bad = two_runs
    outs = {form: topics.parent / f"report.{form}" for form in ("html", "md", "json", "xml")}
    argv = ["report", good, "--baseline", bad, "--dataset", topics, "--source", shop, "--html", outs["html"], "--md",
            outs["md"], "--json-file", outs["json"], "--junit", outs["xml"]]  # fmt: skip
    assert run(["eval", *map(str, argv)]) == 0
    assert capfd.readouterr().out.count(" bytes\n") == 4
    record = json.loads(outs["json"].read_text(encoding="utf-8"))
    assert [one["system"] for one in record["runs"]] == ["bad", "good"]
    assert record["n_excluded"] == 1 and record["provenance"]["compared_with_code"] == "yes"
    assert outs["md"].read_text(encoding="utf-8").startswith("### good against bad")
    assert len(ET.parse(outs["xml"]).getroot()) == 2
    assert outs["html"].stat().st_size < 1_500_000
    code, said = call("report", good, good, "--dataset", topics)
    assert [one["system"] for one in said["runs"]] == ["good (run-good)", "good (run-good) #2"]
    assert code == 0


def test_a_run_is_exported_and_measures_the_same_again(
    topics: Path, call: Call, responses: Callable[..., Path], tmp_path: Path
) -> None:
    run_of = responses("good", **GOOD)
    _, measured = call("run", topics, "--target", f"run:{run_of}", "--out", tmp_path / "first")
    for form in ("trec", "jsonl"):
        out = tmp_path / f"out.{form}"
        code, said = call("export", tmp_path / "first", out, "--dataset", topics, "--to", form)
        lines = out.read_text(encoding="utf-8").splitlines()
        assert (code, said) == (0, {"run": str(tmp_path / "first"), "out": str(out), "to": form, "n_lines": len(lines)})
        _, again = call("run", topics, "--target", f"run:{out}", "--out", tmp_path / form)
        assert again["overall"]["nDCG@10"] == measured["overall"]["nDCG@10"]
    code, said = call("export", run_of, tmp_path / "x", "--dataset", topics, "--to", "csv")
    assert code == 2 and "choose one of trec, jsonl" in said["error"]["message"]


def test_the_test_half_is_read_with_a_reason_only(topics: Path, call: Call, responses: Callable[..., Path]) -> None:
    halves = [replace(t, labels={"split": "test" if t.topic_id in ("q1", "t1") else "development"})
              for t in read(topics).topics]  # fmt: skip
    write(dataset_of("shop", halves), topics)
    target, out = f"run:{responses('good', **GOOD)}", topics.parent / "o"
    argv = ["run", topics, "--target", target, "--out", out]
    code, said = call(*argv)
    assert (code, said["n_topics"]) == (0, 3)
    code, said = call("run", topics, "--target", target, "--out", topics.parent / "t", "--split", "test")
    assert (code, said["error"]["code"]) == (2, "no_reason")
    argv = ["run", topics, "--target", target, "--out", topics.parent / "t", "--split", "test", "--reason", "release"]
    code, said = call(*argv)
    assert (code, said["n_topics"]) == (0, 2)
    log = json.loads((topics.parent / "topics.jsonl.test-uses.jsonl").read_text())
    assert (log["command"], log["reason"]) == (f"eval run --target {target}", "release")
    code, said = call("compare", out, topics.parent / "t", "--dataset", topics)
    assert (code, said["error"]["code"]) == (2, "other_dataset")


def _topics(**fields: Any) -> str:
    return json.dumps({"topic_id": "q1", "query": "Where?", **fields}) + "\n"


SPAN = {"file": "shop/cart.py", "start_line": 18, "end_line": 20}
BAD_DATASETS = [
    ("", "no topics"),
    (_topics(truths=[]), "no topic of"),
    (_topics(truths=[SPAN], status="pending"), "pending or rejected"),
    (_topics(truths=[{**SPAN, "start_line": 30}]), "reversed"),
    (_topics(truths=[SPAN]) * 2, "twice"),
    (_topics(truths=[{**SPAN, "file": "shop/none.py"}]), "topic 'q1': truths[0].span.file 'shop/none.py' does not"),
    (_topics(truths=[{**SPAN, "end_line": 900}]), "topic 'q1': truths[0].span line 900"),
    (_topics(truths=[SPAN], repo="unknown") , "no source for the repository 'unknown'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "named"), BAD_DATASETS, ids=[named for _, named in BAD_DATASETS])
def test_a_bad_dataset_is_told_before_anything_is_asked(
    tmp_path: Path, shop: Path, call: Call, responses: Callable[..., Path], text: str, named: str
) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(text, encoding="utf-8")
    source = f"shop={shop}" if "unknown" in named else shop
    out = tmp_path / "out"
    code, said = call("run", file, "--target", f"run:{responses('good', **GOOD)}", "--out", out, "--source", source)
    assert (code, named in said["error"]["message"]) == (2, True), said
    assert not (out / "scores.jsonl").exists()
    assert not (out / "run.jsonl").exists()  # nobody was asked in vain


@pytest.mark.parametrize(("argv", "named"), [
    (["run", "{none}"], "No such file"),
    (["run", "{topics}", "--target", "nonsense"], "unknown target"),
    (["run", "{topics}", "--match", "near"], "match rule 'near' does not exist"),
    (["run", "{topics}", "--split", "third"], "unknown split"),
    (["run", "{topics}", "--by", "tem"], "--by 'tem': no topic has this label; known are category"),
    (["report", "{run}", "--dataset", "{topics}", "--by", "tem", "--md", "{o}"], "known are"),
    (["run", "{topics}", "--target", "run:{array}", "--out", "{o}"], "begins no run: give JSON Lines"),
    (["run", "{topics}", "--target", "run:{page}", "--out", "{o}"], "begins no run: give JSON Lines"),
    (["run", "{topics}", "--target", "run:{run}", "--out", "{o}", "--measure", "Recal"], "no such measure"),
    (["run", "{topics}", "--target", "run:{run}", "--out", "{o}", "--concurrency", "0"], "concurrency is 0"),
    (["run", "{topics}", "--target", "run:{run}", "--out", "{o}", "--timeout", "0"], "timeout_s is 0"),
    (["run", "{topics}", "--target", "run:{run}", "--out", "{topics}"], "cannot write the run"),
    (["run", "{topics}", "--target", "run:{run}", "--out", "{o}", "--baseline-out", "{folder}"], "cannot write"),
    (["run", "{topics}", "--target", "run:{run}", "-k", "0"], "-k"),
    (["run", "{topics}", "--target", "run:{foreign}", "--out", "{o}"], "none of 5 topics got a response"),
    (["compare", "{run}", "{none}", "--dataset", "{topics}"], "cannot read the run"),
    (["compare", "{run}", "{run}"], "--dataset"),
    (["compare", "{run}", "{run}", "--dataset", "{topics}", "--measure", "Recall@9"], "no measure 'Recall@9'"),
    (["compare", "{run}", "{foreign}", "--dataset", "{topics}"], "no response to any topic of"),
    (["report", "{run}", "--dataset", "{topics}", "--html", "{folder}"], "cannot write"),
    (["report", "{run}", "--dataset", "{topics}", "--source", "/nonexistent", "--md", "{o}"], "is not a folder"),
    ([], "Missing command"),
])  # fmt: skip
def test_what_is_wrong_is_said_with_exit_2(
    topics: Path, call: Call, responses: Callable[..., Path], argv: list[str], named: str
) -> None:
    places = {
        "topics": topics, "none": topics.parent / "none.jsonl", "run": responses("good", **GOOD),
        "o": topics.parent / "o", "folder": topics.parent, "foreign": responses("foreign", zz=[("a.py", 1, 2)]),
        "array": topics.parent / "array.json", "page": topics.parent / "page",
    }  # fmt: skip
    places["array"].write_text('[{"id": "q1", "hits": []}]', encoding="utf-8")
    places["page"].write_text("<html>Sign in</html>", encoding="utf-8")
    code, said = call(*(part.format(**places) for part in argv))
    assert (code, named in said["error"]["message"]) == (2, True), said


def test_a_report_without_an_output_is_refused(
    topics: Path, responses: Callable[..., Path], capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["eval", "report", str(responses("good", **GOOD)), "--dataset", str(topics)]) == 2
    assert "--html" in capfd.readouterr().err


def test_scores_that_are_no_numbers_are_left_out(topics: Path, call: Call, tmp_path: Path) -> None:
    file = tmp_path / "nan.jsonl"
    hit = {"file": "shop/cart.py", "start_line": 18, "end_line": 20}
    file.write_text(json.dumps({"id": "q1", "hits": [{**hit, "score": float("nan")}, {**hit, "start_line": 30}, hit]}))
    code, said = call("run", topics, "--target", f"run:{file}", "--out", tmp_path / "o")
    assert (code, said["n_dropped"], said["n_missing"]) == (0, 2, 4)
    assert "score" in read_run(tmp_path / "o/run.jsonl").responses["q1"].dropped[0]
    assert said["dropped"][0].startswith("topic 'q1': hit 1")


def test_what_was_dropped_is_named_with_its_topic(
    topics: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "nan.jsonl"
    file.write_text(json.dumps({"id": "q1", "hits": [{"file": "shop/cart.py", "score": float("nan")}]}))
    assert run(["eval", "run", str(topics), "--target", f"run:{file}", "--out", str(tmp_path / "o")]) == 0
    assert "1 unusable part of responses left out; the first: topic 'q1': hit 1" in capfd.readouterr().out


def test_a_hit_outside_its_file_is_told_once(
    topics: Path, shop: Path, responses: Callable[..., Path], capfd: pytest.CaptureFixture[str]
) -> None:
    file = responses("wide", **{**GOOD, "q1": [("shop/cart.py", 1, 99999)]})
    out = str(topics.parent / "o")
    assert run(["eval", "run", str(topics), "--target", f"run:{file}", "--out", out, "--source", str(shop)]) == 0
    said = capfd.readouterr().out
    assert "1 hit outside their files" in said
    assert "have no lines" not in said


def test_a_run_of_a_relabelled_dataset_says_how_to_keep_its_responses(topics: Path, call: Call, shop: Path) -> None:
    out = topics.parent / "o"
    with serving(DevMind()) as stub:
        assert call("run", topics, "--target", stub.url, "--out", out)[0] == 0
        write(dataset_of("shop", [replace(topic, truths=(LOCK,)) for topic in read(topics).topics[:4]]), topics)
        code, said = call("run", topics, "--target", stub.url, "--out", out)
    assert (code, "--target run:FILE" in said["error"]["message"]) == (2, True)
    again = call("run", topics, "--target", f"run:{out / 'run.jsonl'}", "--out", topics.parent / "again")
    assert (again[0], again[1]["n_missing"]) == (0, 0)


@pytest.mark.parametrize("name", ["acme/shop", "a=b", '历史|="x"/y'])
def test_a_source_may_be_of_a_repository_with_any_name(
    topics: Path, shop: Path, call: Call, responses: Callable[..., Path], name: str
) -> None:
    write(dataset_of("shop", [replace(topic, repo=name) for topic in read(topics).topics]), topics)
    folder = topics.parent / "with=sign"
    shop.rename(folder)
    argv = ["run", topics, "--target", f"run:{responses('good', **GOOD)}", "--source"]
    for at, source in enumerate((f"{name}={folder}", str(folder))):
        code, said = call(*argv, source, "--out", topics.parent / f"o{at}")
        assert (code, said.get("overall", said).get("hit@10", said)["mean"]) == (0, 1.0)


def test_people_get_text(
    topics: Path, two_runs: tuple[Path, Path], indexed: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    good, bad = map(str, two_runs)
    base, out = str(topics.parent / "base.jsonl"), str(topics.parent / "out")
    for argv, expected in (
        (["run", str(topics), "--kb", str(indexed), "--out", out], ("nDCG@10", "95 % interval", "by category", "trap")),
        (["compare", good, bad, "--dataset", str(topics)], ("no difference shown", "worst in nDCG@10", "密码", "won")),
        (["gate", good, "--write-baseline", "--baseline", base], ("baseline of 5 topics",)),
        (["gate", bad, "--baseline", base, "--allow", "RR@10=0.1"], ("MISSED: 5 topics", "allowed drop 0.1")),
    ):
        capfd.readouterr()
        assert run(["eval", *argv]) in (0, 1)
        said = capfd.readouterr()
        assert [text for text in expected if text not in said.out] == []
        assert run(["eval", *argv, "-q"]) in (0, 1)
        assert capfd.readouterr() == ("", "")


def test_the_commands_are_there_without_loading_what_they_need() -> None:
    code = (
        "import sys; from devmind.cli.run import run; run(['eval', '--help']); "
        "print([name for name in sys.modules if name.startswith(('devmind.evaluate', 'rich', 'numpy'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert all(f"  {name}" in done.stdout for name in ("run", "compare", "gate", "report"))
