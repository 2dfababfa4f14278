"""The terms of a text: the quick ways to some of them agree with the plain one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devmind.index.terms import distinct_terms, held_terms, terms

PIECES = ("getUserName", "get_user_name", "HTTP2Server", "__init__", "_", "x", "running", "flies", "0x1F", "a1b2", "v2")
ODD = ("名前", "配置文件", "・", "é", "naïve", "Straße", "ﬁle", "-", "->", "…", "\n", "\t", " ", "\u2028", "\x1c")
texts = st.lists(st.one_of(st.sampled_from(PIECES + ODD), st.text(max_size=8)), max_size=30).map("".join)


@given(texts)
def test_distinct_terms_are_the_terms(text: str) -> None:
    assert distinct_terms(text) == set(terms(text))


@given(texts, texts)
def test_held_terms_are_those_wanted_that_are_among_the_terms(text: str, other: str) -> None:
    wanted = {*terms(other), "user", "get", "use"}
    assert held_terms(text, wanted) == wanted & set(terms(text))


@pytest.mark.parametrize("text", ["", " ", "()", "、"])
def test_a_text_without_a_word_has_no_terms(text: str) -> None:
    assert distinct_terms(text) == held_terms(text, ["user"]) == frozenset()
