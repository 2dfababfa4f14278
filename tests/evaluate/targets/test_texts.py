"""Questions put into requests, and places read out of prose."""

from __future__ import annotations

import json
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from devmind.evaluate.targets.dify import MAX_QUERY_CHARS, cut_at_word
from devmind.evaluate.targets.hits import Rules
from devmind.evaluate.targets.prose import REFUSALS, cited_places, cited_spans, refuses
from devmind.evaluate.targets.template import fill, in_json, in_url
from devmind.evaluate.types import Span

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


@given(text)
@example('"}, {{k}} \\ \n \x00')
def test_any_question_fits_into_a_body_and_an_address(query: str) -> None:
    values = {"query": query, "k": "7"}
    body = json.loads(fill('{"q": "say {{ query }}", "n": {{k}}}', values, escape=in_json))
    assert body == {"q": f"say {query}", "n": 7}
    address = fill("http://h/?q={{query}}&n={{k}}", values, escape=in_url)
    assert unquote(address.removeprefix("http://h/?q=").removesuffix("&n=7")) == query
    assert not set(address) & set(' "\n&#{}') - {"&"}


@given(st.text(st.sampled_from("ab 中\n"), max_size=700))
def test_a_cut_question_ends_where_a_word_ends(query: str) -> None:
    cut = cut_at_word(query, MAX_QUERY_CHARS)
    assert len(cut) <= MAX_QUERY_CHARS
    assert query.startswith(cut)
    if len(query) <= MAX_QUERY_CHARS:
        assert cut == query
    elif any(mark in query[MAX_QUERY_CHARS // 2 : MAX_QUERY_CHARS] for mark in " \n"):
        assert query[len(cut)].isspace()


def test_places_are_read_in_the_form_of_our_own_answers() -> None:
    answer = (
        "`Table.width` is at rich/table.py:Table.width (L10-L20), see also `src/a.go:12-14` and 位于src/b.ts:L3-L9。"
        " It is built in Makefile:L2, and/or:not at pkg/mod.rs:parse. Again rich/table.py:Table.width (L10-L20)."
    )
    places = cited_places(answer, Rules())
    assert [(p.file, p.symbol, p.span) for p in places] == [
        ("rich/table.py", "Table.width", Span("rich/table.py", 10, 20)),
        ("src/a.go", "", Span("src/a.go", 12, 14)),
        ("src/b.ts", "", Span("src/b.ts", 3, 9)),
        ("Makefile", "", Span("Makefile", 2, 2)),
        ("pkg/mod.rs", "parse", None),
    ]
    assert cited_spans(places)[-1] == Span("pkg/mod.rs")


@pytest.mark.parametrize(("answer", "refused"), [
    ("Not found in the indexed code. Nothing matched.", True),
    ("  在已索引的代码中未找到。没有任何匹配。", True),
    ("The cart sums all prices.", False),
    ("x" * 300 + " not found in the indexed code", False),
])  # fmt: skip
def test_a_refusal_says_so_at_its_start(answer: str, refused: bool) -> None:
    assert refuses(answer, REFUSALS) is refused
