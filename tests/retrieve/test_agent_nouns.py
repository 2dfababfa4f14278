"""Verbs and their agent nouns find each other where the index holds both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from devmind.index.terms import terms
from devmind.ingest import Report
from devmind.retrieve.abbreviations import MAX_TERMS
from devmind.retrieve.agent_nouns import AGENT_NOUN, agent_nouns
from devmind.service import Service
from tests.indexed import write_files

Add = Callable[[Path], Report]
Serve = Callable[[], Service]


def holding(*words: str) -> Callable[[str], int]:
    held = {term for word in words for term in terms(word)}
    return lambda term: int(term in held)


@pytest.mark.parametrize(
    ("verb", "noun"),
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
def test_both_ways(verb: str, noun: str) -> None:
    [asked], [other] = terms(verb), terms(noun)
    assert agent_nouns({asked: 1.0}, holding(noun)) == {other: AGENT_NOUN}
    assert agent_nouns({other: 0.5}, holding(verb)) == {asked: AGENT_NOUN / 2}


def test_what_the_index_lacks_and_what_was_asked_anyway_do_not_join() -> None:
    assert agent_nouns({"pars": 1.0}, holding("parse")) == {}
    assert agent_nouns({"pars": 1.0, "parser": 1.0}, holding("parse", "parser")) == {}


@pytest.mark.parametrize("term", ["or", "er", "用户", "http2", "", "a"])
def test_what_is_no_word_has_no_agent_noun(term: str) -> None:
    assert agent_nouns({term: 1.0}, lambda _: 1) == {}


def test_who_asks_for_a_tester_asks_for_no_tests(kb: Path, add: Add, serve: Serve, tmp_path: Path) -> None:
    assert agent_nouns({"tester": 1.0}, holding("test", "tester")) == {}
    code = {
        "net/connection_tester.py": 'class ConnectionTester:\n    """Says whether a host answers."""\n',
        "tests/test_connection_tester.py": "def test_connection_tester():\n    tester = ConnectionTester()\n",
    }
    add(write_files(tmp_path / "code", code))
    paths = [hit.path for hit in serve().search("connection tester").hits]
    assert paths == ["net/connection_tester.py", "tests/test_connection_tester.py"]


def test_a_long_question_says_enough() -> None:
    asked = {f"pars{chr(97 + n)}": 1.0 for n in range(MAX_TERMS + 1)}
    assert agent_nouns(asked, lambda _: 1) == {}
    assert len(agent_nouns(dict(list(asked.items())[:-1]), lambda _: 1)) > 0
