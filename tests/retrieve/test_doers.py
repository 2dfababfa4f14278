"""Verbs and the nouns of what does them find each other where the index holds both."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from devmind.index.terms import terms
from devmind.retrieve.abbreviations import MAX_TERMS
from devmind.retrieve.doers import DOER, doers


def holding(*words: str) -> Callable[[str], int]:
    held = {term for word in words for term in terms(word)}
    return lambda term: int(term in held)


@pytest.mark.parametrize(
    ("verb", "doer"),
    [
        ("parsing", "parser"),
        ("parse", "parser"),
        ("routed", "router"),
        ("log", "logger"),
        ("scan", "scanner"),
        ("connect", "connector"),
        ("process", "processor"),
        ("build", "builder"),
        ("handles", "handler"),
    ],
)
def test_both_ways(verb: str, doer: str) -> None:
    [asked], [other] = terms(verb), terms(doer)
    assert doers({asked: 1.0}, holding(doer)) == {other: DOER}
    assert doers({other: 0.5}, holding(verb)) == {asked: DOER / 2}


def test_what_the_index_lacks_and_what_was_asked_anyway_do_not_join() -> None:
    assert doers({"pars": 1.0}, holding("parse")) == {}
    assert doers({"pars": 1.0, "parser": 1.0}, holding("parse", "parser")) == {}


@pytest.mark.parametrize("term", ["or", "er", "用户", "http2", "", "a"])
def test_what_is_no_word_has_no_doer(term: str) -> None:
    assert doers({term: 1.0}, lambda _: 1) == {}


def test_a_long_question_says_enough() -> None:
    asked = {f"pars{chr(97 + n)}": 1.0 for n in range(MAX_TERMS + 1)}
    assert doers(asked, lambda _: 1) == {}
    assert len(doers(dict(list(asked.items())[:-1]), lambda _: 1)) > 0
