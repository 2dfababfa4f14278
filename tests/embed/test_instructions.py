"""Instructions before queries and passages, and what they add to the name of a model."""

from __future__ import annotations

import pytest

from devmind.embed.instructions import Instructions
from devmind.embed.types import ChunkText


def test_each_kind_of_text_has_its_own() -> None:
    told = Instructions("query: ", "passage: ")
    assert told.queries(["login", " ", ""]) == ["query: login", "", ""]
    chunks = [ChunkText("Cart.add", "", "return 1"), ChunkText("", " ", "")]
    assert told.passages(chunks) == ["passage: Cart.add\nreturn 1", ""]


@pytest.mark.parametrize(("query", "text", "suffix"), [("", "", ""), ("q: ", "", ":q: |"), ("", "t: ", ":|t: ")])
def test_a_model_is_another_by_them(query: str, text: str, suffix: str) -> None:
    assert Instructions(query, text).suffix == suffix
