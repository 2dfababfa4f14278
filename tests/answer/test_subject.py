from __future__ import annotations

from dataclasses import replace

import pytest

from devmind.answer.question import terms_of
from devmind.answer.subject import Named, narrow
from devmind.types import Hit

FILE = '''\
def load(path):
    """Read the settings."""
    return parse(path)


def dump(path, values):
    """Write the settings."""
    emit(path, values)
'''
LOAD = Named("load", "function", 1, 3, "Read the settings.")
DUMP = Named("dump", "function", 6, 8, "Write the settings.")


class Index:
    def __init__(self, *named: Named) -> None:
        self.named = named

    def named_within(self, repo: str, path: str, generation: int, *, start_line: int, end_line: int) -> list[Named]:
        return [n for n in self.named if n.start_line <= end_line and n.end_line >= start_line]


@pytest.fixture
def packed(evict: Hit) -> Hit:
    """A chunk that holds two functions and is named after the first."""
    return replace(
        evict, path="settings.py", start_line=1, end_line=8, symbol="load", kind="function", content=FILE.rstrip("\n"),
        header="load\ndef load(path)\nRead the settings.\ncalls: parse, emit",
    )  # fmt: skip


@pytest.mark.parametrize(("question", "symbol", "span", "calls"), [
    ("Where does dump write the values?", "dump", (6, 8), "calls: emit"),
    ("How does load read a path?", "load", (1, 3), "calls: parse"),
    ("What happens to the settings?", "load", (1, 3), "calls: parse"),  # a tie leaves the chunk's own
])  # fmt: skip
def test_the_definition_that_the_question_is_about_is_named_and_its_lines_cited(
    question: str, symbol: str, span: tuple[int, int], calls: str, packed: Hit
) -> None:
    found = narrow(packed, terms_of(question), Index(LOAD, DUMP))
    assert (found.symbol, (found.start_line, found.end_line)) == (symbol, span)
    assert found.content == "\n".join(FILE.split("\n")[span[0] - 1 : span[1]])
    assert found.header.split("\n")[-1] == calls


def test_a_later_piece_of_a_function_keeps_its_lines_and_gets_the_kind_of_the_function(evict: Hit) -> None:
    piece = replace(evict, kind="part", start_line=7, end_line=10)
    found = narrow(piece, terms_of("evict"), Index(Named("Cache.evict", "method", 5, 12, "")))
    assert (found.kind, found.start_line, found.end_line) == ("method", 7, 10)


def test_a_definition_that_begins_before_the_chunk_is_not_named_instead(packed: Hit) -> None:
    tail = replace(packed, start_line=3, symbol="dump", content="\n".join(FILE.split("\n")[2:8]))
    assert narrow(tail, terms_of("How does load read?"), Index(LOAD, DUMP)).symbol == "dump"


def test_what_the_index_does_not_know_is_left_as_it_is(packed: Hit, evict: Hit) -> None:
    assert narrow(packed, terms_of("dump"), Index(DUMP)) == packed
    section = replace(evict, kind="section", symbol="Guide")
    assert narrow(section, terms_of("dump"), Index(LOAD, DUMP)) == section


def test_overloads_and_their_body_are_one_definition(packed: Hit) -> None:
    overload = replace(LOAD, end_line=2)
    body = replace(LOAD, start_line=3, docstring="")
    found = narrow(packed, terms_of("How does load work?"), Index(overload, body, DUMP))
    assert (found.symbol, found.start_line, found.end_line) == ("load", 1, 3)
