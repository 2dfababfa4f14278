"""Two annotators: their labels side by side, settled, counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from devmind.errors import UsageError
from devmind.evaluate.agreement import cohen_kappa, krippendorff_alpha, raw_agreement
from devmind.evaluate.datasets.annotation import (
    annotated,
    conflicts,
    merged,
    progress,
    renamed,
    resolved,
    settled,
    state,
)
from devmind.evaluate.datasets.ratings import unit_ratings
from devmind.evaluate.types import Annotation, Grade, Span, Topic, Truth


def mark(start: int, end: int, grade: Grade = "strong", file: str = "a.py") -> Truth:
    return Truth(Span(file, start, end), grade)


def topic(*said: tuple[Truth, ...], topic_id: str = "t") -> Topic:
    names = ("ana", "bo", "cy")
    return Topic(topic_id, "?", annotations=tuple(Annotation(names[i], truths) for i, truths in enumerate(said)))


def differences(one: Topic) -> list[tuple[str, Truth | None, Truth | None]]:
    return [(found.kind, found.a, found.b) for found in conflicts(one)]


def test_conflicts_show_both_spans() -> None:
    a, b, c = mark(1, 9), mark(2, 9), mark(30, 40)
    assert differences(topic((a,), (a,))) == []
    assert differences(topic((a,), (b,))) == [("lines", a, b)]
    assert differences(topic((a,), (mark(1, 9, "weak"),))) == [("grade", a, mark(1, 9, "weak"))]
    assert differences(topic((a, c), (b,))) == [("lines", a, b), ("missing", c, None)]
    assert differences(topic((), (b,))) == [("missing", None, b)]
    assert differences(topic((a,), (mark(1, 9, file="b.py"),))) == [
        ("missing", a, None), ("missing", None, mark(1, 9, file="b.py")),
    ]  # fmt: skip
    assert differences(topic((), ())) == []


def test_each_span_is_paired_with_the_one_that_shares_most() -> None:
    wide, left, right = mark(1, 20), mark(1, 5), mark(6, 20)
    assert differences(topic((wide,), (left, right))) == [("lines", wide, right), ("missing", None, left)]
    same = mark(6, 8)
    assert differences(topic((wide, same), (same,))) == [("missing", wide, None)]


def test_three_annotators_are_compared_by_pairs() -> None:
    a, b = mark(1, 9), mark(2, 9)
    found = list(conflicts(topic((a,), (a,), (b,))))
    assert [(one.annotator_a, one.annotator_b) for one in found] == [("ana", "cy"), ("bo", "cy")]


def test_states_and_progress() -> None:
    a, b = mark(1, 9), mark(2, 9)
    members = [topic(), topic((a,)), topic((a,), (a,)), topic((a,), (b,))]
    assert [state(one) for one in members] == ["open", "single", "agreed", "conflict"]
    done = resolved(members[3], by="cy", reason="the decorator belongs to it", take="ana")
    assert (done.truths, done.resolution) == ((a,), "cy took the spans of ana: the decorator belongs to it")
    assert state(done) == "resolved"
    found = progress([*members, done])
    assert found.n_by_state == {"open": 1, "single": 1, "agreed": 1, "conflict": 1, "resolved": 1}
    assert found.n_by_annotator == {"ana": 4, "bo": 3}
    other = resolved(members[3], by="cy", reason="neither", truths=[mark(5, 6)])
    assert (other.truths, other.resolution) == ((mark(5, 6),), "cy chose other spans: neither")


def test_what_is_agreed_is_settled_and_the_rest_waits() -> None:
    a, b = mark(1, 9), mark(2, 9)
    members, n_settled = settled([topic((a,), (a,)), topic((a,), (b,)), topic((), ())])
    assert n_settled == 2
    assert [one.resolution for one in members] == ["agreed: ana, bo", "", "agreed: ana, bo"]
    assert [one.truths for one in members] == [(a,), (), ()]


def test_a_resolution_needs_a_name_a_reason_and_an_annotation() -> None:
    one = topic((mark(1, 2),))
    with pytest.raises(UsageError, match=r"topic 't': say who settled it and why"):
        resolved(one, by="", reason="r", take="ana")
    with pytest.raises(UsageError, match=r"topic 't': say who"):
        resolved(one, by="cy", reason=" ", take="ana")
    with pytest.raises(UsageError, match=r"no annotation by 'zed'; it has those of ana"):
        resolved(one, by="cy", reason="r", take="zed")


def test_annotations_are_merged_by_topic_and_person() -> None:
    a, b = mark(1, 9), mark(2, 9)
    base = [topic((a,)), Topic("u", "??", truths=(b,))]
    coming = [Topic("t", "changed query", annotations=(Annotation("ana", (b,)), Annotation("7", (b,))))]
    named = renamed(coming, {"7": "bo"})
    members, n_changed = merged(base, named)
    assert n_changed == 2
    assert members[0].query == "?"
    assert {item.annotator: item.truths for item in members[0].annotations} == {"ana": (b,), "bo": (b,)}
    assert members[1] == base[1]
    assert merged(members, named) == (members, 0)
    with pytest.raises(UsageError, match="'zzz', which the dataset does not have"):
        merged(base, [Topic("zzz", "?", annotations=(Annotation("ana", ()),))])
    with pytest.raises(UsageError, match=r"topic 't': an annotation without an annotator"):
        merged(base, [Topic("t", "?", annotations=(Annotation("", ()),))])


def test_a_new_annotation_opens_what_was_settled() -> None:
    done = resolved(topic((mark(1, 2),)), by="cy", reason="r", take="ana")
    assert state(annotated(done, Annotation("bo", ()))) == "conflict"


def test_agreement_counts_what_both_left_out(shop: Path) -> None:
    def texts(repo: str, commit: str, path: str) -> str | None:
        return (shop / path).read_text(encoding="utf-8")

    cart = "shop/cart.py"  # three leaf definitions: add_item 9-11, total_price 13-15, price_of 18-20
    one = topic((mark(13, 15, file=cart),), (mark(13, 15, "weak", cart), mark(18, 20, file=cart)))
    names, grades = unit_ratings([one, topic((mark(1, 2),))], texts)
    assert names == ("ana", "bo")
    assert grades == ((0, 2, 0), (0, 1, 2))
    assert raw_agreement(*grades).value == pytest.approx(1 / 3)
    assert cohen_kappa(*grades, categories=(0, 1, 2)).value == pytest.approx(0.0)
    assert krippendorff_alpha(grades, level="ordinal").value is not None
    assert unit_ratings([topic((), ())], texts) == (("ana", "bo"), ((), ()))
    constant = topic((mark(3, 3, file=cart),), ())
    assert unit_ratings([constant], texts)[1] == ((0, 0, 0, 2), (0, 0, 0, 0))
