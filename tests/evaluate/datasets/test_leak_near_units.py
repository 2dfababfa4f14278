"""What a query gives away, queries that repeat each other, spans that cut a definition."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devmind.evaluate.datasets.leak import leak_of
from devmind.evaluate.datasets.near import near_pairs, shingles
from devmind.evaluate.datasets.units import cut_unit, symbols_of
from devmind.evaluate.types import Span, Topic, Truth


@pytest.mark.parametrize(("query", "file", "symbol", "leak"), [
    ("How are totals made?", "shop/cart.py", "Cart.total_price", "none"),
    ("What does total_price do?", "shop/cart.py", "Cart.total_price", "symbol"),
    ("What does totalPrice do?", "shop/cart.py", "Cart.total_price", "symbol"),
    ("How is the total price made?", "shop/cart.py", "Cart.total_price", "symbol"),
    ("total_prices?", "shop/cart.py", "Cart.total_price", "none"),
    ("How does the cart add up?", "shop/cart.py", "Cart.total_price", "file"),
    ("How are carts summed?", "shop/cart.py", "", "none"),
    ("Where is rate limiting done?", "web/rate_limit.go", "", "none"),
    ("Where is the rate limit checked?", "web/rate_limit.go", "", "file"),
    ("Where is RateLimit checked?", "web/rate_limit.go", "", "file"),
    ("What is in __init__.py?", "shop/__init__.py", "", "file"),
    ("Where is the main loop?", "src/main.py", "", "none"),
    ("Run the tests, how?", "a.py", "Suite.run", "none"),
    ("What does `run` return?", "a.py", "Suite.run", "symbol"),
    ("What does run() return?", "a.py", "Suite.run", "symbol"),
    ("run", "a.py", "Suite.run", "symbol"),
    ("What happens to a Cart on login?", "a.py", "Cart", "symbol"),
    ("Cart contents on login?", "a.py", "Cart", "none"),
    ("the cart on login?", "a.py", "Cart", "none"),
    ("登录时为什么清空 verify_password 的计数？", "shop/login.py", "verify_password", "symbol"),
    ("登录时为什么清空计数？", "shop/login.py", "verify_password", "none"),
    ("login 时为什么清空计数？", "shop/login.py", "", "file"),
    ("购物车怎么结算？", "文档/购物车.md", "", "none"),
])  # fmt: skip
def test_leaks(query: str, file: str, symbol: str, leak: str) -> None:
    assert leak_of(Topic("t", query, truths=(Truth(Span(file), symbol=symbol),))) == leak


def test_the_worst_leak_of_all_truths_counts() -> None:
    truths = (Truth(Span("shop/cart.py")), Truth(Span("b.py"), symbol="price_of"))
    assert leak_of(Topic("t", "Does the cart call price_of?", truths=truths)) == "symbol"
    assert leak_of(Topic("t", "Where does the cart pay?", category="trap")) == "none"


@pytest.mark.parametrize(("one", "other", "low", "high"), [
    ("Where is the cart cleared?", "where is the CART cleared", 1.0, 1.0),
    ("How are retries delayed with back-off?", "How are retries delayed, with backoff?", 0.7, 1.0),
    ("登录失败几次会锁定账号？", "登录失败多少次会锁定账号?", 0.6, 1.0),
    ("登录失败几次会锁定账号？", "购物车的总价怎么计算？", 0.0, 0.1),
    ("Where is the cart cleared?", "How is a password verified?", 0.0, 0.3),
])  # fmt: skip
def test_likeness_in_any_script(one: str, other: str, low: float, high: float) -> None:
    found = list(near_pairs([one, other], threshold=0.01))
    similarity = found[0][2] if found else 0.0
    assert low <= similarity <= high


@given(texts=st.lists(st.text(alphabet="abc 锁定", max_size=8), max_size=12), threshold=st.floats(0.1, 1))
def test_no_pair_is_missed(texts: list[str], threshold: float) -> None:
    sets = [shingles(text) for text in texts]
    expected = {
        (i, j)
        for j in range(len(texts))
        for i in range(j)
        if sets[i] and len(sets[i] & sets[j]) / len(sets[i] | sets[j]) >= threshold
    }
    assert {(i, j) for i, j, _ in near_pairs(texts, threshold=threshold)} == expected


@pytest.mark.parametrize(("start", "end", "whole"), [
    (9, 11, None),  # add_item
    (10, 11, (9, 11)),
    (9, 10, (9, 11)),
    (8, 12, None),  # with blank lines around
    (9, 15, None),  # two methods
    (9, 14, (13, 15)),  # a method and half of another
    (6, 15, None),  # the class
    (6, 11, (6, 15)),  # its head and one method
    (1, 20, None),  # the file
    (3, 3, None),  # a constant
    (1, 1, None),  # the module's docstring: nothing is defined there
    (5, 12, (6, 15)),
    (19, 20, (18, 20)),
])  # fmt: skip
def test_whole_units(shop: Path, start: int, end: int, whole: tuple[int, int] | None) -> None:
    text = (shop / "shop/cart.py").read_text(encoding="utf-8")
    cut = cut_unit(Span("shop/cart.py", start, end), text, symbols_of("shop/cart.py", text))
    assert (cut and (cut.whole.start_line, cut.whole.end_line)) == whole


def test_units_with_leading_comments_and_in_documents() -> None:
    go = "package a\n\n// Pay pays.\n// Twice.\nfunc Pay() int {\n\treturn 1\n}\n"
    symbols = symbols_of("a.go", go)
    for start in (3, 4, 5):
        assert cut_unit(Span("a.go", start, 7), go, symbols) is None
    assert cut_unit(Span("a.go", 6, 7), go, symbols) is not None
    text = "# Shop\n\nIntro.\n\n## Pay\n\nBy card.\n\n## Send\n\nBy mail.\n"
    sections = symbols_of("README.md", text)
    assert cut_unit(Span("README.md", 5, 7), text, sections) is None
    cut = cut_unit(Span("README.md", 7, 7), text, sections)
    assert cut is not None
    assert (cut.name, cut.whole.start_line) == ("Shop > Pay", 5)
    assert cut_unit(Span("notes.txt", 1, 1), "x\ny\n", symbols_of("notes.txt", "x\ny\n")) is None
