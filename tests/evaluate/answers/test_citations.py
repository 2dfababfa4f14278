from __future__ import annotations

import pytest

from devmind.evaluate.answers.citations import PRECISION, RECALL, RESOLVED, Cited, citation_measures, read_cited
from devmind.evaluate.datasets.sources import UnavailableCode
from devmind.evaluate.types import Response, Retrieved, Span, Topic, Truth

TOPIC = Topic("t", "q", truths=(Truth(Span("f.py", 10, 20)), Truth(Span("g.py", 1, 5), "weak")), repo="r", commit="c")


def measured(*spans: Span, **options: object) -> tuple[float | None, float | None]:
    found = citation_measures(TOPIC, [Cited(span) for span in spans], **options)  # type: ignore[arg-type]
    return found[PRECISION], found[RECALL]


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ((), (None, 0)),
        ((Span("f.py", 12, 12),), (1, 0.5)),
        ((Span("f.py", 12, 12), Span("f.py", 18, 30)), (1, 0.5)),
        ((Span("f.py", 12, 12), Span("h.py", 1, 9)), (0.5, 0.5)),
        ((Span("./f.py", 1, 60), Span("g.py", 5, 5)), (1, 1)),
        ((Span("f.py"),), (1, 0.5)),
        ((Span("x.py", 1, 2), Span("f.py", 21, 22)), (0, 0)),
    ],
)
def test_precision_and_recall(spans: tuple[Span, ...], expected: tuple[float | None, float]) -> None:
    assert measured(*spans) == expected


def test_the_rule_decides_what_finds_a_truth() -> None:
    assert measured(Span("f.py", 12, 12), match="contain") == (0, 0)
    assert measured(Span("f.py", 5, 30), match="contain") == (1, 0.5)


def test_a_span_that_entails_a_statement_is_right_but_finds_no_truth() -> None:
    assert measured(Span("h.py", 1, 9), Span("i.py", 1, 9), supporting={1}) == (0.5, 0)
    assert measured(Span("f.py", 12, 12), Span("h.py", 1, 9), supporting={0, 1}) == (1, 0.5)


def test_a_topic_without_truths_has_no_recall() -> None:
    bare, whole = Topic("t", "q"), Topic("t", "q", truths=(Truth(Span("f.py")),))
    for topic in (bare, whole):  # overlap is not defined for a whole file
        found = citation_measures(topic, [Cited(Span("f.py", 1, 2)), Cited(Span("f.py", 5, 6))])
        assert (found[PRECISION], found[RECALL]) == (None, None)
        assert citation_measures(topic, [Cited(Span("f.py", 1, 2))], supporting=set())[PRECISION] == 0
    assert citation_measures(whole, [Cited(Span("f.py", 1, 2))], match="path")[RECALL] == 1


def code(repo: str, commit: str, path: str) -> str | None:
    assert (repo, commit) == ("r", "c")
    return {"f.py": "a\nb\nc\n"}.get(path)


def test_cited_lines_are_read_from_the_code() -> None:
    spans = (Span("f.py", 2, 3), Span("f.py", 2, 3), Span("f.py", 3, 4), Span("f.py"), Span("no.py", 1, 1))
    found = read_cited(TOPIC, Response("t", cited=spans), code)
    assert [(item.exists, item.text) for item in found] == [
        (True, "b\nc"), (False, None), (True, "a\nb\nc\n"), (False, None),
    ]  # fmt: skip
    assert citation_measures(TOPIC, found)[RESOLVED] == 0.5


def test_without_the_code_a_hit_shows_the_lines_it_holds() -> None:
    hits = (
        Retrieved(Span("f.py", 10, 13), text="j\nk\nl\nm"),
        Retrieved(None, text="x"),
        Retrieved(Span("g.py", 1, 2)),
    )
    spans = (Span("f.py", 11, 12), Span("./f.py", 10, 13), Span("f.py", 12, 14), Span("g.py", 1, 2), Span("f.py"))
    found = read_cited(TOPIC, Response("t", hits=hits, cited=spans), None)
    assert [item.text for item in found] == ["k\nl", "j\nk\nl\nm", None, None, None]
    assert [item.exists for item in found] == [True, True, None, None, None]
    assert citation_measures(TOPIC, found)[RESOLVED] is None
    assert citation_measures(TOPIC, found[:2])[RESOLVED] == 1


def test_a_repository_whose_code_is_not_here_is_no_error() -> None:
    def elsewhere(repo: str, commit: str, path: str) -> str | None:
        raise UnavailableCode("not here")

    hits = (Retrieved(Span("f.py", 1, 1), text="a"),)
    response = Response("t", hits=hits, cited=(Span("f.py", 1, 1), Span("g.py", 1, 1)))
    assert [item.text for item in read_cited(TOPIC, response, elsewhere)] == ["a", None]
