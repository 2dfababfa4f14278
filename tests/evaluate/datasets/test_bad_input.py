"""Bad files: each error names the file, and line, topic and field where there are such."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devmind.errors import UsageError
from devmind.evaluate.datasets import dataset_of, read, write
from devmind.evaluate.datasets.row import MAX_CHARS
from devmind.evaluate.types import Dataset, Span, Topic, Truth

OK = '{"topic_id": "q1", "query": "Where?", "truths": [{"file": "a.py", "start_line": 1, "end_line": 2}]}\n'


def row(**changes: object) -> str:
    return json.dumps({"topic_id": "q2", "query": "How?"} | changes) + "\n"


def truth(**changes: object) -> str:
    return row(truths=[{"file": "a.py"} | changes])


@pytest.mark.parametrize(("content", "named"), [
    ("", ["holds no topics"]),
    ("\n \n", ["holds no topics"]),
    ("{\n", [":1:", "not JSON"]),
    (OK + "{'a': 1}\n", [":2:", "not JSON"]),
    (OK + OK[:-2] + "\n", [":2:", "not JSON"]),
    (OK + "[1]\n", [":2:", "must be an object"]),
    (OK + OK, [":2:", "topic 'q1'", "field 'topic_id'", "line 1"]),
    (OK + row(query=""), [":2:", "topic 'q2'", "field 'query'", "empty"]),
    (OK + row(query=None), [":2:", "topic 'q2'", "field 'query'", "missing"]),
    (OK + row(query=5), [":2:", "topic 'q2'", "field 'query'", "must be a string, not 5"]),
    (OK + row(topic_id=" "), [":2:", "field 'topic_id'", "empty"]),
    (OK + row(topic_id=7), [":2:", "field 'topic_id'", "must be a string"]),
    (OK + row(querry="x"), [":2:", "topic 'q2'", "field 'querry'", "not a known key"]),
    (OK + row(truths={}), [":2:", "topic 'q2'", "field 'truths'", "must be a list"]),
    (OK + row(truths=["a.py"]), [":2:", "topic 'q2'", "field 'truths[0]'", "must be an object"]),
    (OK + row(labels=[1]), [":2:", "topic 'q2'", "field 'labels'", "must be an object"]),
    (OK + row(labels={"x": 1}), [":2:", "topic 'q2'", "field 'labels.x'", "must be a string"]),
    (OK + row(status="done"), [":2:", "topic 'q2'", "field 'status'", "accepted, rejected, pending"]),
    (OK + row(query="x" * (MAX_CHARS + 1)), [":2:", "topic 'q2'", "field 'query'", "1,000,001 characters"]),
    (OK + truth(start_line=9, end_line=3), [":2:", "topic 'q2'", "field 'truths[0].start_line'", "reversed"]),
    (OK + truth(start_line=3), [":2:", "topic 'q2'", "field 'truths[0].end_line'", "lines begin at 1"]),
    (OK + truth(start_line=-1, end_line=3), [":2:", "topic 'q2'", "field 'truths[0].start_line'"]),
    (OK + truth(start_line=1.5, end_line=3), [":2:", "topic 'q2'", "field 'truths[0].start_line'", "whole number"]),
    (OK + truth(start_line=True, end_line=3), [":2:", "topic 'q2'", "field 'truths[0].start_line'"]),
    (OK + truth(grade="great"), [":2:", "topic 'q2'", "field 'truths[0].grade'", "strong, weak"]),
    (OK + truth(core=[1]), [":2:", "topic 'q2'", "field 'truths[0].core'"]),
    (OK + truth(file=""), [":2:", "topic 'q2'", "field 'truths[0].file'"]),
    (OK + truth(file="/etc/passwd"), [":2:", "topic 'q2'", "field 'truths[0].file'", "relative"]),
    (OK + truth(file="a/../../b.py"), [":2:", "topic 'q2'", "field 'truths[0].file'"]),
    (OK + row(annotations=[{"annotator": "ana", "truths": [{"file": "a", "start_line": 5, "end_line": 2}]}]),
     [":2:", "topic 'q2'", "field 'annotations[0].truths[0].start_line'"]),
    (OK + '{"topic_id": "q2", "query": "a", "query": "b"}\n', [":2:", "'query' stands twice"]),
    (OK + '{"topic_id": "q2", "query": NaN}\n', [":2:", "NaN"]),
    (OK + "[" * 100_000 + "\n", [":2:"]),
])  # fmt: skip
def test_json_lines(tmp_path: Path, content: str, named: list[str]) -> None:
    path = tmp_path / "topics.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read(path, "jsonl")
    for part in ["topics.jsonl", *named]:
        assert part in str(caught.value)


@pytest.mark.parametrize(("content", "named"), [
    ('{"name": "x", "topics": []}', ["holds no topics"]),
    ('{"name": "x"}', ["'topics' is missing"]),
    ('{"name": "x",\n "topics": [\n' + OK + ",\n" + row(query=""), [":6:", "not JSON"]),
    ('{"name": "x",\n "topics": [\n' + OK + ",\n" + row(query="") + "]}", [":5:", "topic 'q2'", "field 'query'"]),
    ('{"name": "x", "other": 1, "topics": [' + OK + "]}", ["field 'other'"]),
    ('{"name": "x", "topics": [' + OK + "]} more", ["text after the end"]),
    ('{"name": "x", "topics": [' + OK + "], \"topics\": []}", ["'topics' stands here twice"]),
    ("[\n" + OK + "\n," + OK + "]", [":4:", "topic 'q1'", "stands twice", "line 2"]),
    ('{"name" "x"}', ["a key and a colon"]),
    ("[1]", ["must be an object, not 1"]),
])  # fmt: skip
def test_json(tmp_path: Path, content: str, named: list[str]) -> None:
    path = tmp_path / "topics.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read(path, "json")
    for part in ["topics.json", *named]:
        assert part in str(caught.value)


@pytest.mark.parametrize(("content", "named"), [
    ("", ["'topic_id'", "is missing"]),
    ("topic_id,query\n", ["holds no topics"]),
    ("topic_id,file\nq,a.py\n", [":1:", "field 'query'", "missing", "topic_id, file"]),
    ("topic_id,query,querry\nq,a,b\n", [":1:", "field 'querry'"]),
    ("topic_id,query,query\nq,a,b\n", [":1:", "field 'query'", "twice"]),
    ("topic_id,query\nq,a,b\n", [":2:", "3 cells"]),
    ('topic_id,query\nq,"open\n', [":2:", "not closed"]),
    ('topic_id,query\nq,"a"b\n', [":2:", "not closed"]),
    ("topic_id,query,file,start_line,end_line\nq,a,a.py,9,3\n", [":2:", "topic 'q'", "reversed"]),
    ("topic_id,query,file,start_line,end_line\nq,a,a.py,one,3\n", [":2:", "topic 'q'", "field 'start_line'", "'one'"]),
    ("topic_id,query,file,start_line,end_line\nq,a,,1,3\n", [":2:", "topic 'q'", "field 'file'"]),
    ("topic_id,query,file\nq,a,a.py\nr,b,b.py\nq,a,c.py\n", [":4:", "topic 'q'", "twice", "line 2"]),
    ("topic_id,query,file\nq,a,a.py\nq,other,b.py\n", [":3:", "topic 'q'", "field 'query'", "'other'"]),
    ("topic_id,query,labels\nq,a,{\n", [":2:", "topic", "not JSON"]),
    ("topic_id,query,labels\nq,a,7\n", [":2:", "topic 'q'", "field 'labels'"]),
    ("topic_id,query,core_start\nq,a,7\n", [":2:", "topic 'q'", "field 'file'"]),
    ('topic_id,query\nq,"' + "x" * (MAX_CHARS + 1) + '"\n', [":2:", "topic 'q'", "field 'query'", "1,000,001"]),
])  # fmt: skip
def test_csv(tmp_path: Path, content: str, named: list[str]) -> None:
    path = tmp_path / "topics.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read(path)
    for part in ["topics.csv", *named]:
        assert part in str(caught.value)


@pytest.mark.parametrize(("name", "content", "named"), [
    ("p.json", '[{"query_id": 1, "query": "a"}]', ["topic '1'", "field 'ground_truth'", "missing"]),
    ("p.json", '[{"query_id": 1, "query": "a", "ground_truth": [{"file": "a.py", "start": 3, "end": 1}]}]',
     [":1:", "topic '1'", "reversed"]),
    ("p.json", '[{"query_id": 1, "query": "a", "ground_truth": [{"file": "a.py", "start": 3}]}]',
     ["field 'ground_truth[0].end'", "missing"]),
    ("p.jsonl", '{"query_id": "1", "ground_truth": []}', ["p.jsonl:1:", "field 'query'", "missing"]),
    ("p.csv", "query_id,query,file\n1,a,a.py\n", ["p.csv:1:", "field 'start'", "missing"]),
    ("p.csv", "query_id,query,file,start,end\n1,a,,3,4\n", ["p.csv:2:", "topic '1'", "field 'file'"]),
    ("r.jsonl", '{"id": "r", "query": "a", "ground_truth": [{"file": "x", "start_line": 1, "end_line": "2"}]}',
     ["r.jsonl:1:", "topic 'r'", "field 'ground_truth[0].end_line'"]),
    ("g.jsonl", '{"user_input": "a", "reference_contexts": ["x", "y"], "reference_context_ids": ["a.py"]}',
     ["g.jsonl:1:", "reference_context_ids", "1 ids for 2"]),
    ("l.json", '[{"id": 3, "data": {"text": "x"}, "annotations": []}]',
     ["l.json:1:", "topic '3'", "field 'data.topic'"]),
    ("u.json", '[{"what": 1}]', ["cannot tell the format", "what", "--format"]),
    ("u.txt", "hello", ["u.txt:1:", "not JSON"]),
])  # fmt: skip
def test_other_formats(tmp_path: Path, name: str, content: str, named: list[str]) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read(tmp_path / name)
    for part in [name, *named]:
        assert part in str(caught.value)


def test_folders(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot tell the format"):
        read(tmp_path)
    (tmp_path / "topics.tsv").write_text("q1\tWhere?\n")
    (tmp_path / "qrels.txt").write_text("q1 0 a.py\n")
    with pytest.raises(UsageError, match=r"qrels\.txt:1: topic 'q1'.*four words.*3"):
        read(tmp_path)
    (tmp_path / "qrels.txt").write_text("q1 0 a.py 1\nq9 0 a.py 1\n")
    with pytest.raises(UsageError, match=r"qrels\.txt:2: topic 'q9'.*no query"):
        read(tmp_path)
    (tmp_path / "qrels.txt").write_text("q1 0 a.py nan\n")
    with pytest.raises(UsageError, match=r"qrels\.txt:1: topic 'q1', field 'rel': is 'nan'"):
        read(tmp_path)
    (tmp_path / "qrels-2.txt").write_text("")
    with pytest.raises(UsageError, match=r"one file named like 'qrels'.*qrels-2\.txt, qrels\.txt"):
        read(tmp_path)


def test_encodings(tmp_path: Path) -> None:
    path = tmp_path / "topics.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + OK.encode().replace(b"\n", b"\r\n"))
    assert read(path).topics[0].topic_id == "q1"
    path.write_bytes(OK.encode() + "锁".encode("gb18030"))
    with pytest.raises(UsageError, match=r"topics\.jsonl:2: not UTF-8 \(byte 0xcb\)"):
        read(path)
    with pytest.raises(UsageError, match=r"cannot read .*none\.jsonl: No such file"):
        read(tmp_path / "none.jsonl")


def test_formats_and_places_to_write(tmp_path: Path, dataset: Dataset) -> None:
    with pytest.raises(UsageError, match="unknown format 'yaml'; choose one of json, jsonl, csv"):
        read(tmp_path / "x", "yaml")
    with pytest.raises(UsageError, match="unknown format 'yaml'"):
        write(dataset, tmp_path / "x", "yaml")
    with pytest.raises(UsageError, match="the suffix names no format"):
        write(dataset, tmp_path / "x.txt")
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write"):
        write(dataset, tmp_path / "file" / "x.jsonl")
    with pytest.raises(UsageError, match=r"topic 'a b'.*has a blank"):
        write(dataset_of("x", [Topic("a b", "q")]), tmp_path / "t", "trec")
    with pytest.raises(UsageError, match="topic 'a', field 'repo'"):
        write(dataset_of("x", [Topic("a", "q")]), tmp_path / "t", "semble")
    two = [Topic("a", "q", repo="r", commit="1"), Topic("b", "q", repo="r", commit="2")]
    with pytest.raises(UsageError, match="topic 'b', field 'commit'"):
        write(dataset_of("x", two), tmp_path / "t", "semble")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, dataset: Dataset) -> None:
    path = tmp_path / "set.csv"
    write(dataset, path)
    before = path.read_bytes()
    with pytest.raises(UsageError):
        write(dataset_of("x", [Topic("q", "\udfff", truths=(Truth(Span("a")),))]), path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["set.csv"]
