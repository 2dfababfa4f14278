"""The journal keeps what was appended through crashes, and mixes no two runs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devmind.errors import DevMindError, StoreError, UsageError
from devmind.evaluate.journal import Header, Journal, decode, encode, read_run
from devmind.evaluate.types import Failure, Response, Retrieved, Span

HEADER = Header("small", "abc123def456789", "devmind:search", {"mode": "search"}, 10, {"started": "now"})
ONE = Response("t1", hits=(Retrieved(Span("a.py", 1, 2), score=0.5, file="a.py"),), seconds=0.25)
TWO = Response("t2", failure=Failure("timeout", "too late", 3))

text = st.text(max_size=12)
number = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def sound_hits(draw: st.DrawFn) -> Retrieved:
    file = draw(st.text(min_size=1, max_size=8))
    span = draw(st.none() | st.builds(Span, st.just(file), st.integers(0, 9), st.integers(0, 9)))
    why = draw(st.dictionaries(text, number, max_size=2))
    return Retrieved(span, draw(text), draw(st.none() | number), draw(text), why, file)


responses = st.builds(
    Response,
    topic_id=text,
    hits=st.lists(sound_hits(), max_size=3).map(tuple),
    answer=st.none() | text,
    cited=st.lists(st.builds(Span, text, st.integers(0, 9), st.integers(0, 9)), max_size=2).map(tuple),
    abstained=st.booleans(),
    confidence=st.none() | number,
    seconds=number,
    failure=st.none() | st.builds(Failure, text, text, st.integers(1, 9)),
    dropped=st.lists(text, max_size=2).map(tuple),
    notes=st.lists(text, max_size=2).map(tuple),
)


@given(responses)
def test_a_response_comes_back_as_it_was(response: Response) -> None:
    assert decode(json.loads(json.dumps(encode(response)))) == response


def test_what_was_appended_is_there_again_and_the_last_line_of_a_topic_counts(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run.jsonl"
    with Journal(path, HEADER) as journal:
        journal.append([ONE, TWO])
    with Journal(path, replace(HEADER, provenance={"started": "later"})) as journal:
        assert journal.responses == {"t1": ONE, "t2": TWO}
        assert journal.header.provenance == {"started": "now"}
        journal.append([replace(TWO, failure=None, answer="中文 \ud800")])
    run = read_run(path)
    assert run.responses["t2"].answer == "中文 \ud800"
    assert (run.system, run.dataset, run.k) == ("devmind:search", "small", 10)
    assert run.provenance["target.mode"] == "search"


@pytest.mark.parametrize("torn", [b'{"id": "t3", "hi', b'{"id": "t3", "hi\n', b"\x00\x00\x00\n", b'{"id": "t3"}\n'])
def test_a_torn_last_line_is_ignored_and_cut_off(torn: bytes, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal(path, HEADER) as journal:
        journal.append([ONE])
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    assert list(read_run(path).responses) == ["t1"]
    with Journal(path, HEADER) as journal:
        assert list(journal.responses) == ["t1"]
        assert path.read_bytes() == whole
        journal.append([TWO])
    assert list(read_run(path).responses) == ["t1", "t2"]


@pytest.mark.parametrize("length", [0, 1, 5, 8, 40])
def test_a_torn_first_line_begins_anew(length: int, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    Journal(path, HEADER).__exit__(None, None, None)
    path.write_bytes(path.read_bytes()[:length])
    with Journal(path, HEADER) as journal:
        journal.append([ONE])
    assert list(read_run(path).responses) == ["t1"]


def test_damage_before_the_last_line_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal(path, HEADER) as journal:
        journal.append([ONE, TWO])
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], lines[1][:20], lines[2], b""]))
    with pytest.raises(StoreError, match=r"run\.jsonl:2: is damaged"):
        Journal(path, HEADER)


@pytest.mark.parametrize(("other", "said"), [
    (replace(HEADER, dataset="big", dataset_hash="fff"), r"'small' \(abc123def456\).*'big' \(fff\)"),
    (replace(HEADER, target="dify:d1"), r"'devmind:search'.*'dify:d1'"),
    (replace(HEADER, k=5), r"10 hits.*5"),
    (replace(HEADER, settings={"mode": "ask"}), r"mode = 'search'.*mode = 'ask'"),
    (replace(HEADER, settings={"mode": "search", "x": "1"}), r"x = 'not set'.*x = '1'"),
])  # fmt: skip
def test_another_run_is_refused_naming_both(other: Header, said: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal(path, HEADER) as journal:
        journal.append([ONE])
    before = path.read_bytes()
    with pytest.raises(UsageError, match=said) as caught:
        Journal(path, other)
    assert "choose another file" in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"notes\n", b"notes", b'{"id": "t1", "hits": []}\n', b"{}\n"])
def test_a_file_that_is_no_run_is_left_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(DevMindError, match=r"notes\.txt"):
        Journal(path, HEADER)
    assert path.read_bytes() == content


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    with Journal(tmp_path / "run.jsonl", HEADER), pytest.raises(UsageError, match="another process"):
        Journal(tmp_path / "run.jsonl", HEADER)
    Journal(tmp_path / "run.jsonl", HEADER).__exit__(None, None, None)


def test_a_folder_or_a_newer_format_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write the run"):
        Journal(tmp_path, HEADER)
    path = tmp_path / "run.jsonl"
    Journal(path, HEADER).__exit__(None, None, None)
    path.write_bytes(path.read_bytes().replace(b'"format": 1', b'"format": 2'))
    with pytest.raises(StoreError, match="format 2"):
        Journal(path, HEADER)
    with pytest.raises(UsageError, match="cannot read"):
        read_run(tmp_path / "none.jsonl")
