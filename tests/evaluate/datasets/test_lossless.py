"""What is written in a lossless form is read again as it was, whatever the texts hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devmind.evaluate.datasets import LOSSLESS, Surroundings, content_hash, dataset_of, read, write
from devmind.evaluate.types import Annotation, Dataset, Span, Topic, Truth

text = st.text(max_size=12) | st.sampled_from(
    [
        "\r\n",
        '"',
        'a,"b"',
        " blank ends ",
        "a;b\tc",
        "\u2028",
        "\x85\x0c",
        "锁定账号",
        "=1+1",
        "#",
        "null",
        "0",
        "[]",
        "😀",
        "\0",
    ]
)
words = text.filter(lambda value: bool(value.strip()))
paths = words.filter(lambda value: not value.startswith("/") and ".." not in value.split("/"))
maps = st.dictionaries(text, text, max_size=3)


@st.composite
def truths(draw: st.DrawFn) -> Truth:
    grade, symbol, role, lines = draw(st.sampled_from(["strong", "weak"])), draw(text), draw(text), draw(text)
    if draw(st.booleans()):
        return Truth(Span(draw(paths)), grade, symbol, None, lines, role)
    start = draw(st.integers(1, 2000))
    end = start + draw(st.integers(0, 50))
    core = draw(st.none() | st.just((start, end)))
    return Truth(Span(draw(paths), start, end), grade, symbol, core, lines, role)


topics = st.builds(
    Topic,
    words,
    words,
    text,
    st.lists(truths(), max_size=3).map(tuple),
    text,
    text,
    text,
    text,
    maps,
    st.lists(st.builds(Annotation, text, st.lists(truths(), max_size=2).map(tuple), text), max_size=2).map(tuple),
    text,
    maps,
    st.sampled_from(["accepted", "rejected", "pending"]),
)
topic_lists = st.lists(topics, min_size=1, max_size=5, unique_by=lambda topic: topic.topic_id)


@pytest.mark.parametrize("format", LOSSLESS)
@given(written=topic_lists)
def test_every_field_comes_back(tmp_path_factory: pytest.TempPathFactory, format: str, written: list[Topic]) -> None:
    path = tmp_path_factory.mktemp("d") / f"set.{format}"
    before = dataset_of("set", written)
    write(before, path, format)
    assert read(path) == before
    assert read(path, format) == before


@given(written=topic_lists)
def test_label_studio_gives_everything_back_when_labels_are_shown(
    tmp_path_factory: pytest.TempPathFactory, written: list[Topic]
) -> None:
    path = tmp_path_factory.mktemp("d") / "tasks.json"
    before = dataset_of("tasks", written)
    write(before, path, "label-studio", around=Surroundings(blind=False))
    assert read(path) == before


def test_half_a_character_survives_in_json_and_is_refused_elsewhere(tmp_path: Path) -> None:
    before = dataset_of("set", [Topic("q", "broken \ud800 escape")])
    for name in ("set.json", "set.jsonl"):
        write(before, tmp_path / name)
        assert read(tmp_path / name) == before
    from devmind.errors import UsageError

    with pytest.raises(UsageError, match=r"set\.csv:2.*half a character"):
        write(before, tmp_path / "set.csv")
    assert not (tmp_path / "set.csv").exists()


@given(written=topic_lists)
def test_the_hash_knows_every_field_and_not_the_order(written: list[Topic]) -> None:
    from dataclasses import replace

    assert content_hash(written) == content_hash(written[::-1])
    assert len(content_hash(written)) == 32
    changed = [replace(written[0], query=written[0].query + "?"), *written[1:]]
    assert content_hash(changed) != content_hash(written)
    relabelled = [replace(written[0], labels={**written[0].labels, "new": "x"}), *written[1:]]
    assert content_hash(relabelled) != content_hash(written)


def test_the_name_is_kept_by_json_and_is_the_file_otherwise(tmp_path: Path, dataset: Dataset) -> None:
    write(dataset, tmp_path / "a.json")
    write(dataset, tmp_path / "b.jsonl")
    assert (read(tmp_path / "a.json").name, read(tmp_path / "b.jsonl").name) == ("shop", "b")


def test_a_spreadsheet_may_resave_the_csv(tmp_path: Path, dataset: Dataset) -> None:
    write(dataset, tmp_path / "set.csv")
    plain = (tmp_path / "set.csv").read_bytes()
    header, _, rows = plain.partition(b"\n")
    resaved = tmp_path / "again" / "set.csv"
    resaved.parent.mkdir()
    # a mark, CRLF after rows (not inside cells), blank cells at the end of rows: what spreadsheets do
    resaved.write_bytes(b"\xef\xbb\xbf" + header + b"\r\n" + rows.replace(b",,,\n", b",,,\r\n") + b",,,\r\n")
    assert read(resaved).topics == dataset.topics


@pytest.mark.parametrize("sign", [";", "\t"])
def test_csv_of_other_locales(tmp_path: Path, sign: str) -> None:
    path = tmp_path / "set.csv"
    path.write_text(sign.join(["topic_id", "query", "file"]) + "\n" + sign.join(["q", "Where, then?", "a.py"]) + "\n")
    assert read(path).topics == (Topic("q", "Where, then?", truths=(Truth(Span("a.py")),)),)
