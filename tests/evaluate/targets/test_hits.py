"""Loose values become sound hits, whatever a system calls its lines and paths."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devmind.evaluate.targets.hits import Loose, Rules, Unusable, to_hit, to_hits, usable
from devmind.evaluate.types import Response, Retrieved, Span


@given(st.integers(1, 10_000), st.integers(0, 500), st.sampled_from([0, 1]), st.booleans())
def test_lines_come_back_however_a_system_counts_them(first: int, more: int, base: int, exclusive: bool) -> None:
    last = first + more
    written = Loose(file="a.py", start=first - 1 + base, end=last - 1 + base + exclusive)
    assert to_hit(written, Rules(line_base=base, end_exclusive=exclusive)).span == Span("a.py", first, last)


@pytest.mark.parametrize(("written", "rules", "path"), [
    ("src\\win\\a.py", Rules(), "src/win/a.py"),
    ("./src/a.py", Rules(), "src/a.py"),
    ("/src/a.py", Rules(), "src/a.py"),
    ("/srv/code/src/a.py", Rules(strip_prefix="/srv/code"), "src/a.py"),
    ("src__a.py", Rules(separator="__"), "src/a.py"),
])  # fmt: skip
def test_paths_are_relative_to_the_repository(written: str, rules: Rules, path: str) -> None:
    assert to_hit(Loose(file=written), rules).file == path


def test_what_is_known_of_a_place_is_kept() -> None:
    rules = Rules()
    assert to_hit(Loose(file="a.py"), rules).span == Span("a.py")
    assert to_hit(Loose(file="a.py", text="x = 1"), rules).span is None
    assert to_hit(Loose(file="a.py", start="7"), rules).span == Span("a.py", 7, 7)
    assert to_hit(Loose(file="a.py", start=7.0, end=9.0, score="0.5"), rules) == Retrieved(
        span=Span("a.py", 7, 9), score=0.5, file="a.py"
    )


@pytest.mark.parametrize(("loose", "field"), [
    (Loose(start=1, end=2), "file"),
    (Loose(file="a.py", end=2), "start_line"),
    (Loose(file="a.py", start=1.5, end=2), "start_line"),
    (Loose(file="a.py", start=True), "start_line"),
    (Loose(file="a.py", start=0, end=0), "start_line"),
    (Loose(file=["a.py"]), "file"),
    (Loose(file="a.py", text={"no": "text"}), "text"),
    (Loose(file="a.py", score="high"), "score"),
])  # fmt: skip
def test_what_cannot_be_read_names_its_field(loose: Loose, field: str) -> None:
    with pytest.raises(Unusable, match=f"^{field}: "):
        to_hit(loose, Rules())


def test_one_bad_hit_leaves_the_others() -> None:
    hits, dropped = to_hits([Loose(file="a.py"), Loose(file=3), Loose(file="b.py")], Rules())
    assert [hit.file for hit in hits] == ["a.py", "b.py"]
    assert dropped == ("hit 2: file: 3 is no text",)


numbers = st.floats() | st.integers(-5, 20).map(float)
places = st.builds(Span, st.sampled_from(["a.py", "b/c.go", ""]), st.integers(-2, 9), st.integers(-2, 9))
hits = st.builds(
    Retrieved,
    span=st.none() | places,
    text=st.sampled_from(["", "x = 1"]),
    score=st.none() | numbers,
    why=st.dictionaries(st.sampled_from(["bm25", "dense"]), numbers),
    file=st.sampled_from(["", "a.py"]),
)


@given(st.lists(hits, max_size=8), st.integers(1, 8), st.none() | numbers)
def test_a_usable_response_is_sound_and_accounts_for_every_hit(
    found: list[Retrieved], k: int, confidence: float | None
) -> None:
    response = usable(Response("t", hits=tuple(found), confidence=confidence), k=k)
    assert len(response.hits) <= k
    assert response.confidence is None or math.isfinite(response.confidence)
    for hit in response.hits:
        assert hit.score is None or math.isfinite(hit.score)
        assert all(math.isfinite(value) for value in hit.why.values())
        assert hit.span is not None or hit.text or hit.file
        if hit.span is not None:
            assert hit.span.file == hit.file != ""
            assert hit.span.whole_file or 1 <= hit.span.start_line <= hit.span.end_line
    n_dropped = sum(reason.startswith("hit ") for reason in response.dropped)
    assert len(response.hits) == min(k, len(found) - n_dropped)
    assert ("more_than_k" in response.notes) == (len(found) - n_dropped > k)
    assert usable(response, k=k) == response
