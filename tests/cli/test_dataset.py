"""``devmind dataset`` as a user runs it: every command, its JSON, its text and its exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from devmind.cli.run import run
from devmind.evaluate.datasets import dataset_of, read, write
from devmind.evaluate.types import Annotation, Span, Topic, Truth

PRICE = Truth(Span("shop/cart.py", 18, 20), symbol="price_of")
LOCK = Truth(Span("shop/login.py", 4, 8))


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    path = tmp_path / "shop.jsonl"
    members = [
        Topic("q1", "Where is what an item costs looked up?", "API location", (PRICE,), "shop",
              annotations=(Annotation("ana", (PRICE,)), Annotation("bo", (PRICE, LOCK)))),
        Topic("q2", "密码输错几次会锁定账号？", "code understanding", (LOCK,), "shop",
              annotations=(Annotation("ana", (LOCK,)), Annotation("bo", (LOCK,)))),
        *(Topic(f"t{n}", f"{n}: {'x' * n}?", "trap", repo="shop") for n in range(8)),
    ]  # fmt: skip
    write(dataset_of("shop", members), path)
    return path


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, Any]]:
    def run_it(*argv: object) -> tuple[int, Any]:
        capfd.readouterr()
        code = run(["dataset", *map(str, argv), "--json"])
        out, err = capfd.readouterr()
        return code, json.loads(out or err)

    return run_it


def test_import_and_export(topics: Path, tmp_path: Path, call: Callable[..., tuple[int, Any]]) -> None:
    code, said = call("export", topics, tmp_path / "plain.csv", "--to", "plain")
    assert (code, said["n_topics"], said["format"]) == (0, 10, "plain")
    code, said = call("import", tmp_path / "plain.csv", tmp_path / "again.json", "--name", "again")
    again = read(tmp_path / "again.json")
    assert (code, said["name"], said["hash"]) == (0, "again", again.content_hash)
    assert [topic.truths for topic in again.topics] == [topic.truths for topic in read(topics).topics]
    code, said = call("import", tmp_path / "plain.csv", tmp_path / "again.json")
    assert (code, "exists" in said["error"]["message"]) == (2, True)
    assert call("import", tmp_path / "plain.csv", tmp_path / "again.json", "--force")[0] == 0


def test_halves(topics: Path, tmp_path: Path, call: Callable[..., tuple[int, Any]]) -> None:
    code, said = call("split", topics)
    assert (code, said["n_new"], said["counts"]["trap"]) == (0, 10, {"development": 6, "test": 2})
    halves = {topic.topic_id: topic.labels["split"] for topic in read(topics).topics}
    assert call("split", topics)[1]["n_new"] == 0
    code, said = call("export", topics, tmp_path / "d.jsonl", "--to", "jsonl")
    n_test = sum(half == "test" for half in halves.values())
    assert (code, said["n_topics"], said["n_left_out"]) == (0, 10 - n_test, n_test)
    code, said = call("export", topics, tmp_path / "t.jsonl", "--to", "jsonl", "--split", "test")
    assert (code, said["error"]["code"], (tmp_path / "t.jsonl").exists()) == (2, "no_reason", False)
    code, said = call("export", topics, tmp_path / "t.jsonl", "--to", "jsonl", "--split", "test", "--reason", "release")
    assert (code, said["n_topics"]) == (0, n_test)
    log = json.loads((tmp_path / "shop.jsonl.test-uses.jsonl").read_text())
    assert (log["command"], log["reason"], log["dataset_hash"]) == (
        "dataset export --to jsonl", "release", read(tmp_path / "t.jsonl").content_hash,
    )  # fmt: skip
    assert len(call("split", topics)[1]["test_uses"]) == 1


def test_check_finds_and_fixes(topics: Path, shop: Path, call: Callable[..., tuple[int, Any]]) -> None:
    code, said = call("check", topics, "--source", f"shop={shop}")
    assert (code, said["problems"], said["compared_with_code"]) == (0, [], True)
    assert call("check", topics, "--record", "--source", shop)[0] == 0
    cart = shop / "shop/cart.py"
    cart.write_text("# moved\n" + cart.read_text(encoding="utf-8"), encoding="utf-8")
    code, said = call("check", topics, "--source", shop)
    assert code == 1
    assert [(one["kind"], one["topic_id"], one["line"], one["span"]["start_line"]) for one in said["problems"]] == [
        ("moved", "q1", 1, 19)
    ]
    code, said = call("check", topics, "--source", shop, "--fix")
    assert (code, said["n_fixed"], said["problems"]) == (0, 1, [])
    assert read(topics).topics[0].truths[0].span == Span("shop/cart.py", 19, 21)
    assert read(topics).topics[0].labels == {"leak": "none"}


def test_check_names_what_read_refuses(tmp_path: Path, call: Callable[..., tuple[int, Any]]) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("topic_id,query,file,start_line,end_line\nq,Where?,a.py,9,3\n\nr,,b.py,1,2\nq,Why?,a.py,1,2\n")
    code, said = call("check", path)
    assert code == 1
    assert [(one["kind"], one["topic_id"], one["line"]) for one in said["problems"]] == [
        ("reversed_span", "q", 2), ("empty_query", "r", 4), ("duplicate_id", "q", 5),
    ]  # fmt: skip
    code, said = call("check", path, "--fix")
    assert (code, said["error"]["code"]) == (2, "bad_dataset")  # what cannot be read whole is not rewritten


def test_a_dataset_follows_its_repository(
    topics: Path, shop: Path, git: Callable[..., str], call: Callable[..., tuple[int, Any]]
) -> None:
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        git(shop, *command)
    one = git(shop, "rev-parse", "HEAD")
    known = [replace(topic, commit=one) for topic in read(topics).topics]
    known[1] = replace(known[1], truths=(LOCK, replace(PRICE, span=Span("shop/cart.py", 9, 11), symbol="add_item")))
    write(dataset_of("shop", known), topics)
    cart, login = shop / "shop/cart.py", shop / "shop/login.py"
    cart.write_text("# moved\n" + cart.read_text(encoding="utf-8"), encoding="utf-8")
    login.write_text("gone = True\n", encoding="utf-8")
    git(shop, "commit", "-qam", "two")
    code, said = call("check", topics, "--source", shop, "--at", "HEAD", "--fix")
    assert (code, [(one["kind"], one["topic_id"]) for one in said["problems"]]) == (
        1, [("lost", "q2"), ("moved", "q2")],
    )  # fmt: skip
    after = read(topics).topics
    assert (after[0].commit, after[0].truths[0].span.start_line) == (git(shop, "rev-parse", "HEAD"), 19)
    assert (after[1].commit, after[1].truths) == (one, known[1].truths)  # one label is lost, so none of it moves
    assert call("check", topics, "--source", shop)[0] == 0


def test_two_annotators(topics: Path, shop: Path, call: Callable[..., tuple[int, Any]]) -> None:
    code, said = call("conflicts", topics)
    assert (code, said["progress"]["n_by_state"]) == (1, {"conflict": 1, "agreed": 1, "open": 8})
    (conflict,) = said["conflicts"]
    assert (conflict["kind"], conflict["a"], conflict["b"]["file"]) == ("missing", None, "shop/login.py")

    code, said = call("agreement", topics, "--source", shop)
    assert (code, said["n_topics"], said["units"], said["annotators"]) == (0, 2, "definitions", ["ana", "bo"])
    assert said["pairs"][0]["raw"] == {"value": 0.8, "n": 5, "degenerate": False}
    assert said["pairs"][0]["kappa"]["value"] == pytest.approx(1 - 0.2 / (1 - (0.6 * 0.4 + 0.4 * 0.6)))
    code, said = call("agreement", topics)
    assert (code, said["units"]) == (0, "labelled spans")

    code, said = call("resolve", topics, "--agreed")
    assert (code, said["n_settled"]) == (0, 1)
    assert call("resolve", topics, "--agreed")[0] == 1
    code, said = call("resolve", topics, "q1", "--take", "bo")
    assert (code, "--reason" in said["error"]["message"]) == (2, True)
    assert call("resolve", topics, "q1", "--take", "bo", "--by", "cy", "--reason", "both count")[0] == 0
    assert read(topics).topics[0].resolution == "cy took the spans of bo: both count"
    assert call("conflicts", topics)[0] == 0
    code, said = call(
        "resolve", topics, "q1", "--span", "a.py:3-9:weak", "--span", "b:c.py", "--by", "c", "--reason", "r"
    )
    assert code == 0
    assert read(topics).topics[0].truths == (Truth(Span("a.py", 3, 9), "weak"), Truth(Span("b:c.py")))
    assert call("resolve", topics, "q1", "--span", "a.py:9-3", "--by", "c", "--reason", "r")[0] == 2
    assert read(topics).topics[0].truths[0].span == Span("a.py", 3, 9)


def test_through_label_studio(topics: Path, shop: Path, tmp_path: Path, call: Callable[..., tuple[int, Any]]) -> None:
    tasks = tmp_path / "tasks.json"
    pool = tmp_path / "run.jsonl"
    pool.write_text(json.dumps({"id": "t1", "hits": [{"file": "README.md", "start_line": 1, "end_line": 2}]}) + "\n")
    assert call("export", topics, tasks, "--to", "label-studio", "--source", shop, "--pool", pool)[0] == 0
    exported = json.loads(tasks.read_text(encoding="utf-8"))
    assert exported[3]["data"]["lines"][0] == {"place": "README.md:1", "text": "# Shop"}
    start = next(n for n, line in enumerate(exported[1]["data"]["lines"]) if line["place"] == "shop/login.py:4")
    value = {"start": str(start), "end": str(start + 1), "startOffset": 0, "endOffset": 3, "paragraphlabels": ["weak"]}
    exported[1]["annotations"] = [{"completed_by": 31, "result": [{"from_name": "grade", "value": value}]}]
    tasks.write_text(json.dumps(exported), encoding="utf-8")
    code, said = call("import", tasks, topics, "--merge", "--annotator", "31=cy")
    assert (code, said["n_topics"], said["n_annotations"]) == (0, 10, 1)
    assert read(topics).topics[1].annotations[-1] == Annotation("cy", (Truth(Span("shop/login.py", 4, 5), "weak"),))
    assert read(topics).topics[1].truths == (LOCK,)


@pytest.mark.parametrize(("argv", "named"), [
    (["check", "{none}"], "No such file"),
    (["check", "{topics}", "--format", "yaml"], "unknown format 'yaml'"),
    (["check", "{topics}", "--source", "shop=/nonexistent"], "is not a folder"),
    (["check", "{topics}", "--record"], "--source"),
    (["check", "{topics}", "--changed"], "--fix"),
    (["export", "{topics}", "x", "--to", "yaml"], "unknown format 'yaml'"),
    (["export", "{topics}", "x", "--to", "trec", "--split", "third"], "unknown split 'third'"),
    (["export", "{topics}", "x"], "--to"),
    (["split", "{topics}", "--share", "1"], "between 0 and 1"),
    (["import", "{topics}", "x.txt"], "names no format"),
    (["import", "{topics}", "x.jsonl", "--annotator", "7"], "ID=NAME"),
    (["import", "{topics}", "{none}", "--merge"], "No such file"),
    (["resolve", "{topics}"], "TOPIC"),
    (["resolve", "{topics}", "q1", "--agreed"], "--agreed"),
    (["resolve", "{topics}", "q1"], "--take"),
    (["resolve", "{topics}", "zz", "--take", "ana", "--by", "c", "--reason", "r"], "no topic 'zz'"),
    (["conflicts", "{topics}", "--topic", "zz"], "no topic 'zz'"),
    ([], "Missing command"),
    (["nosuch"], "No such command"),
])  # fmt: skip
def test_what_is_wrong_is_said_with_exit_2(
    topics: Path, argv: list[str], named: str, call: Callable[..., tuple[int, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(topics.parent)
    before = topics.read_bytes()
    code, said = call(*(part.format(topics=topics, none=topics.parent / "none.jsonl") for part in argv))
    assert (code, named in said["error"]["message"]) == (2, True), said
    assert topics.read_bytes() == before


def test_only_lossless_files_are_rewritten(topics: Path, tmp_path: Path, call: Callable[..., tuple[int, Any]]) -> None:
    plain = tmp_path / "plain.json"
    call("export", topics, plain, "--to", "plain")
    for argv in (["split", plain], ["check", plain, "--fix"], ["resolve", plain, "--agreed"]):
        code, said = call(*argv)
        assert (code, "devmind dataset import" in said["error"]["message"]) == (2, True)


@pytest.mark.parametrize("argv", [
    ["split"], ["check"], ["conflicts"], ["agreement"], ["resolve", "--agreed"],
])  # fmt: skip
def test_people_get_text(topics: Path, argv: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["dataset", argv[0], str(topics), *argv[1:]]) in (0, 1)
    out, err = capfd.readouterr()
    assert out.strip()
    assert err == ""
    run(["dataset", argv[0], str(topics), *argv[1:], "-q"])
    assert capfd.readouterr().out == ""


def test_the_command_is_there_without_loading_what_it_needs() -> None:
    code = (
        "import sys; from devmind.cli.run import run; run(['dataset', '--help']); "
        "print([name for name in sys.modules if name.startswith(('devmind.evaluate', 'devmind.parse', 'rich'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "agreement" in done.stdout
    assert done.stdout.rstrip().split("\n")[-1] == "[]"


def test_agreement_of_nobody_and_of_two_who_say_the_same(
    tmp_path: Path, shop: Path, call: Callable[..., tuple[int, Any]]
) -> None:
    path = tmp_path / "x.jsonl"
    write(dataset_of("x", [Topic("q", "Where?", truths=(PRICE,))]), path)
    for source in ((), ("--source", shop)):
        code, said = call("agreement", path, *source)
        assert (code, said["n_topics"], said["pairs"], said["alpha_nominal"]["value"]) == (1, 0, [], None)
    both = tuple(Annotation(name, (Truth(Span("shop/cart.py")),)) for name in ("ana", "bo"))
    write(dataset_of("x", [Topic("q", "Where?", annotations=both)]), path)
    code, said = call("agreement", path)
    assert (code, said["pairs"][0]["raw"]["value"]) == (0, 1.0)
    assert said["pairs"][0]["kappa"] == {"value": None, "n": 1, "degenerate": True}
