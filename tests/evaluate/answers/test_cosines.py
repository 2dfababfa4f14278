from __future__ import annotations

import math

import numpy as np
import pytest

from devmind.embed.static import built_in
from devmind.embed.tokenizer import count_tokens
from devmind.evaluate.answers.cosines import PART_TOKENS, Cosines, Texts, embed, parts, place, row_cosines
from tests.evaluate.answers.conftest import Words


def test_the_three_cosines_are_between_the_right_texts(words: Words) -> None:
    found = place([Texts(retrieved="a b", answer="a c", reference="b")], words).cosines()[0]
    assert found.recall == pytest.approx(1 / math.sqrt(2))
    assert found.correctness == 0
    assert found.groundedness == pytest.approx(0.5)


@pytest.mark.parametrize("blank", ["", " \n\t", "…—!!"])
def test_a_text_without_a_word_has_no_cosine(blank: str) -> None:
    texts = [
        Texts(blank, "the cart", "the cart"),
        Texts("the cart", blank, "the cart"),
        Texts("the cart", "cart", blank),
    ]
    assert [tuple(c is None for c in found.by_name().values()) for found in place(texts, built_in()).cosines()] == [
        (True, False, True),
        (False, True, True),
        (True, True, False),
    ]


def test_a_text_has_the_cosine_1_with_itself_and_none_is_beyond() -> None:
    text = "def total(cart):\n    return sum(item.price for item in cart)\n" * 40
    found = place([Texts(text, text, text)], built_in()).cosines()[0]
    assert found == Cosines(*[pytest.approx(1.0)] * 3)
    assert max(found.by_name().values()) <= 1.0  # type: ignore[type-var]


def test_no_part_is_over_the_budget_and_nothing_is_lost() -> None:
    prose = "The cart holds items until checkout. " * 60
    chinese = "购物车在结账之前保存商品并计算含税总价" * 40
    code = "\n".join(f"    value_{n} = compute_total(value_{n - 1})" for n in range(80))
    text = f"{prose}\n\n{chinese}\n{code}\n"
    found = list(parts(text))
    assert "".join(found).split() == text.split()
    assert max(map(count_tokens, found)) <= PART_TOKENS
    assert len(found) > 8


def test_the_end_of_a_long_text_counts_as_its_beginning_does(words: Words) -> None:
    half = ("value " * 90 + "\n") * 5
    other = ("string " * 90 + "\n") * 5
    vectors = embed([half + other, half, other], words)
    assert row_cosines(vectors[[0, 0]], vectors[[1, 2]]) == [pytest.approx(math.sqrt(0.5), abs=1e-3)] * 2


def test_twice_the_length_has_twice_the_weight(words: Words) -> None:
    text = ("value " * 90 + "\n") * 4 + ("string " * 90 + "\n") * 2
    vectors = embed([text, "value", "string"], words)
    towards_apple, towards_stone = row_cosines(vectors[[0, 0]], vectors[[1, 2]])
    assert towards_apple is not None and towards_stone is not None
    assert towards_apple / towards_stone == pytest.approx(2, rel=1e-3)


def test_many_texts_are_embedded_as_each_would_be_alone() -> None:
    texts = ["the cart total", "", "lock the account after three tries", "购物车的总价"]
    together = embed(texts, built_in())
    assert np.allclose(together, np.concatenate([embed([text], built_in()) for text in texts]))
    assert embed([], built_in()).shape == (0, built_in().dim)
