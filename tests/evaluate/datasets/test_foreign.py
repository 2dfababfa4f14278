"""Other tools' formats: what each carries comes back, and files as those tools write them are understood."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devmind.evaluate.datasets import Surroundings, dataset_of, read, write
from devmind.evaluate.datasets.docid import docid, parse_docid
from devmind.evaluate.datasets.formats import detect
from devmind.evaluate.types import Dataset, Span, Topic, Truth


def spans(dataset: Dataset) -> list[list[tuple[Span, str]]]:
    return [[(truth.span, truth.grade) for truth in topic.truths] for topic in dataset.topics]


@pytest.mark.parametrize(("format", "name"), [
    ("plain", "p.json"), ("plain", "p.jsonl"), ("plain", "p.csv"), ("realrepos", "r.jsonl"), ("semble", "s"),
    ("trec", "t"), ("beir", "b"), ("ragas", "g.jsonl"), ("ragas", "g.json"),
])  # fmt: skip
def test_what_a_format_carries_comes_back_and_is_recognised(
    tmp_path: Path, dataset: Dataset, format: str, name: str
) -> None:
    topics = [topic for topic in dataset.topics if format != "semble" or topic.topic_id != "q1"]
    before = dataset_of("shop", topics)
    write(before, tmp_path / name, format)
    assert detect(tmp_path / name) == format
    after = read(tmp_path / name)
    assert spans(after) == spans(before)
    assert [topic.topic_id for topic in after.topics] == [topic.topic_id for topic in before.topics]
    blanks = format == "trec"
    assert [t.query for t in after.topics] == [" ".join(t.query.split()) if blanks else t.query for t in topics]
    if format != "trec":
        assert [topic.category for topic in after.topics] == [topic.category for topic in before.topics]
        assert [topic.repo for topic in after.topics] == [topic.repo for topic in before.topics]


def test_the_plain_form(tmp_path: Path) -> None:
    path = tmp_path / "plain.json"
    path.write_text(
        '[{"query_id": 7, "query": "Where?", "difficulty": 3, "ground_truth": '
        '[{"file": ".\\\\src\\\\a.py", "start": 10, "end": 20}, {"file": "b.py"}]}]'
    )
    expected = Topic(
        "7", "Where?", truths=(Truth(Span("src/a.py", 10, 20)), Truth(Span("b.py"))), labels={"difficulty": "3"}
    )
    assert read(path).topics == (expected,)
    table = tmp_path / "plain.csv"
    table.write_text("query_id,query,file,start,end\r\n7,Where?,src/a.py,10,20\r\n7,,b.py,,\r\n8,Nowhere?,,,\r\n")
    assert spans(read(table)) == [[(Span("src/a.py", 10, 20), "strong"), (Span("b.py"), "strong")], []]
    cells = tmp_path / "cells.csv"
    cells.write_text(
        'query_id,query,ground_truth\n7,Where?,"[{""file"": ""a.py"", ""start"": 1, ""end"": 2}]"\n8,No?,\n'
    )
    assert spans(read(cells)) == [[(Span("a.py", 1, 2), "strong")], []]


def test_realrepos_rows(tmp_path: Path) -> None:
    path = tmp_path / "real.jsonl"
    row = {
        "id": "c-1", "source": "chain", "repo": "shop-1.0", "commit_or_version": "1.0", "query": "付款走哪个接口？",
        "lang": "python", "query_lang": "zh", "category": "chain", "split": "dev", "registry_ok": True, "share": 0.5,
        "leaks": {"path": True, "symbol": False}, "reference_answer": "By the cart.",
        "ground_truth": [
            {"file": "a.py", "start_line": 3, "end_line": 9, "symbol": "A.pay", "core": [4, 5], "role": "handler"},
            {"file": "b.py", "start_line": 1, "end_line": 99, "symbol": "", "grade": "secondary", "whole_file": True},
        ],
    }  # fmt: skip
    path.write_text(json.dumps(row) + "\n")
    (topic,) = read(path).topics
    assert topic.truths == (
        Truth(Span("a.py", 3, 9), "strong", "A.pay", (4, 5), role="handler"),
        Truth(Span("b.py"), "weak"),
    )
    assert (topic.commit, topic.language, topic.reference_answer) == ("1.0", "python", "By the cart.")
    assert topic.labels == {"source": "chain", "query_lang": "zh", "leak": "file"}
    assert topic.provenance == {"split": "dev", "registry_ok": "true", "share": "0.5"}
    again = tmp_path / "again.jsonl"
    write(read(path), again, "realrepos")
    assert read(again).topics == (topic,)


def test_a_semble_folder(tmp_path: Path) -> None:
    (tmp_path / "annotations").mkdir()
    (tmp_path / "repos.json").write_text(
        '[{"name": "shop", "language": "python", "revision": "abc", "benchmark_root": "src"}]'
    )
    entry = {"query": "Cart", "relevant": ["src/cart.py", {"path": "src/a.py", "start_line": 2, "end_line": 5}],
             "secondary": ["src/b.py"], "category": "symbol"}  # fmt: skip
    (tmp_path / "annotations" / "shop.json").write_text(json.dumps([entry]))
    (topic,) = read(tmp_path).topics
    assert (topic.topic_id, topic.repo, topic.commit, topic.language) == ("shop#0", "shop", "abc", "python")
    assert [(t.span, t.grade) for t in topic.truths] == [
        (Span("src/cart.py"), "strong"), (Span("src/a.py", 2, 5), "strong"), (Span("src/b.py"), "weak"),
    ]  # fmt: skip
    assert topic.provenance == {"benchmark_root": "src"}


def test_trec_files_of_others(tmp_path: Path) -> None:
    (tmp_path / "topics.301.txt").write_text(
        "<top>\n<num> Number: 301\n<title> cart\n checkout\n<desc> Long\n</top>\n"
        "<top><num>302</num><title>b</title></top>"
    )
    (tmp_path / "qrels.trec").write_text("301 0 a.py 1\n301 0 b.py 0\n302 0 shop//c%20d.py#L3-L9 1\n")
    dataset = read(tmp_path, "trec")
    assert [topic.query for topic in dataset.topics] == ["cart\n checkout", "b"]
    assert spans(dataset) == [[(Span("a.py"), "strong")], [(Span("c d.py", 3, 9), "strong")]]  # binary: 1 is strong
    assert dataset.topics[1].repo == "shop"
    (tmp_path / "qrels.trec").write_text("301 0 a.py 1\n301 0 b.py 2\n")
    assert spans(read(tmp_path, "trec"))[0] == [(Span("a.py"), "weak"), (Span("b.py"), "strong")]


def test_a_beir_folder(tmp_path: Path, dataset: Dataset) -> None:
    halves = ["development", "test", "development", "test"]
    topics = [
        Topic(t.topic_id, t.query, t.category, t.truths, t.repo, labels={"split": half})
        for t, half in zip(dataset.topics, halves, strict=True)
    ]
    write(dataset_of("x", topics), tmp_path, "beir", around=Surroundings(lambda repo, commit, path: "one\ntwo\n"))
    assert sorted(path.name for path in (tmp_path / "qrels").iterdir()) == ["dev.tsv", "test.tsv"]
    header, first = (tmp_path / "qrels" / "dev.tsv").read_text().splitlines()[:2]
    assert header == "query-id\tcorpus-id\tscore"
    assert first == "q1\tshop//shop/cart.py#L20-L22\t2"
    documents = [json.loads(line) for line in (tmp_path / "corpus.jsonl").read_text().splitlines()]
    assert [document["text"] for document in documents][1:] == ["def verify_password(user, password):", "one\ntwo\n"]
    after = read(tmp_path)
    assert [topic.labels.get("split") for topic in after.topics] == ["development", "test", None, "test"]
    assert after.topics[1].truths[0].text == "def verify_password(user, password):"


def test_ragas_rows_of_others_get_stable_ids_and_lose_no_context(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [
        {"user_input": "Where?", "reference_contexts": ["def a(): ..."], "reference": "In a.", "query_style": "plain"},
        {"user_input": "Where?", "reference": ""},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    one, two = read(path).topics
    assert one.topic_id.startswith("q-")
    assert two.topic_id == one.topic_id + "-2"
    assert (one.truths, one.reference_answer) == ((), "In a.")
    assert one.provenance == {"query_style": "plain", "unplaced_contexts": '["def a(): ..."]'}
    path.write_text(json.dumps(rows[1]) + "\n" + json.dumps({"user_input": "Other?"}) + "\n")
    assert read(path).topics[0].topic_id == one.topic_id


@pytest.mark.parametrize("span", [Span("a.py"), Span("a b/#1%.py", 3, 9), Span("a//b.py"), Span("数据/模块.py", 1, 1)])
@pytest.mark.parametrize("repo", ["", "shop", "org/shop 2"])
def test_document_ids(repo: str, span: Span) -> None:
    word = docid(repo, span)
    assert len(word.split()) == 1
    assert parse_docid(word) == (repo, span)


def test_document_ids_of_others_are_whole_files() -> None:
    assert parse_docid("FT911-3") == ("", Span("FT911-3"))
    assert parse_docid("https://example.org/a") == ("", Span("https://example.org/a"))
