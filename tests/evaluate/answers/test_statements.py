from __future__ import annotations

import pytest

from devmind.evaluate.answers.statements import statements


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The loop stops. It then raises `Timeout`.", ["The loop stops.", "It then raises `Timeout`."]),
        ("It fails, e.g. on Windows. Python 3.11 works.", ["It fails, e.g. on Windows.", "Python 3.11 works."]),
        ("See `a.b. C` for how it is done.", ["See `a.b. C` for how it is done."]),
        ("三次后停止。然后抛出 `Timeout`!因为用完了。", ["三次后停止。", "然后抛出 `Timeout`!", "因为用完了。"]),
        ("它返回总价\uff01不含税\uff0c除非另有说明。", ["它返回总价\uff01", "不含税\uff0c除非另有说明。"]),
        ("A line that\nwas broken in two.", ["A line that was broken in two."]),
        ("这一行在这里\n断开了。", ["这一行在这里断开了。"]),
        ("- First it counts\n- then it adds\n\n1. All is summed", ["First it counts", "then it adds", "All is summed"]),
        ("**Note** that it caches. It really does!", ["Note that it caches.", "It really does!"]),
        ("It retries twice. It retries twice.", ["It retries twice."]),
        ("`A` calls `b`.", ["`A` calls `b`."]),
        ("`render()` returns an empty list ().", ["`render()` returns an empty list."]),
    ],
)  # fmt: skip
def test_sentences(answer: str, expected: list[str]) -> None:
    assert statements(answer) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "# The cart is a class\n",
        "The cart is here\n----\n"[-5:],
        "```py\ntotal = 1  # this is the total of the cart\n```",
        "    def total(self): return the sum of it",
        "    144 |     ensure_ascii = True",
        "| a table | that has cells | of text |",
        "Signature: `def total(cart) -> int`",
        "Calls: `sum`, `price_of`",
        "签名: `def total(cart)`",
        "The best evidence in the indexed code:",
        "at shop/cart.py:Cart (L6-L17)",
        "See `shop/cart.py:Cart (L6-L17)`.",
        "参见 shop/cart.py:L6-L17。",
        "Does the cart keep its items?",
        "Yes, exactly.",
        "`Cart`",
    ],
)
def test_what_claims_nothing_is_left_out(answer: str) -> None:
    assert statements(answer) == []


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The cart adds tax (see shop/cart.py:Cart (L6-L17)).", "The cart adds tax."),
        ("The cart adds tax, see shop/cart.py:6-17.", "The cart adds tax."),
        ("The cart adds tax `shop/cart.py:Cart (L6-L17)` when it is paid.", "The cart adds tax when it is paid."),
        ("购物车会计算含税总价\uff08见 shop/cart.py:Cart (L6-L17)\uff09。", "购物车会计算含税总价。"),
    ],
)
def test_citations_are_no_part_of_a_statement(answer: str, expected: str) -> None:
    assert statements(answer) == [expected]


def test_an_answer_of_ours_states_what_it_quotes() -> None:
    answer = """The best evidence in the indexed code:

`Cart` (class): Holds items until checkout.
at shop/cart.py:Cart (L6-L17)
Signature: `class Cart(Base)`
Calls: `sum`, `price_of`
      9 |     The total is with tax. It is rounded.

Also relevant:

`verify_password` (function): Locks the account after three tries.
at shop/login.py:verify_password (L4-L8)
"""
    assert statements(answer) == [
        "`Cart` (class): Holds items until checkout.",
        "`verify_password` (function): Locks the account after three tries.",
    ]
