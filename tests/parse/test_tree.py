"""Sources that hold a parser up are given up after a number of steps that depends on the source alone."""

from __future__ import annotations

import random

import pytest

from devmind.parse.tree import parse_bytes

FUNCTION = b"int f(void) { return 1; }\n"


@pytest.mark.parametrize("n", [2_000, 8_000])
def test_a_source_of_comments_that_never_end_is_given_up(n: int) -> None:
    assert parse_bytes(FUNCTION + b"/* a b c\n" * n, "tree_sitter_c") is None


def test_a_source_of_random_brackets_is_given_up() -> None:
    brackets = bytes(random.Random(7).choices(b"{}()[]", k=400_000))
    assert parse_bytes(brackets, "tree_sitter_c") is None


@pytest.mark.parametrize("tail", [b"", b"/* the only one that does not end\n", b"/* one */ /* another */\n" * 9_000])
def test_long_sources_and_open_ends_are_parsed(tail: bytes) -> None:
    tree = parse_bytes(FUNCTION * 9_000 + tail, "tree_sitter_c")
    assert tree is not None
    assert tree.root_node.child_count >= 9_000
