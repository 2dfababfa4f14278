"""Bash: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = """#!/bin/bash
# Doc
foo() { bar 1; }
function baz { foo; }
function q() ( echo )
source ./a.sh
. b.sh
readonly MAX=1
X=1
export Y=2
declare -r Z=1
alias ll='ls -l'
"""

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "bash", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("function", "foo"),
        ("function", "baz"),
        ("function", "q"),
        ("constant", "MAX"),
        ("variable", "X"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("calls", "bar"),
        ("calls", "foo"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "Doc")
