"""The rows that front ends show: places, filters, freshness."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from devmind.ingest import Report
from devmind.service import Service

LEDGER = '''from shop.cart import price_of
from shop.tools.money import rounded
import shop


class Ledger:
    def book(self, item):
        return rounded(price_of(item))


class SafeLedger(Ledger):
    pass
'''
MONEY = "def rounded(amount):\n    return round(amount, 2)\n"


def write(folder: Path, path: str, text: str) -> None:
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def test_an_edge_says_where_the_use_is_and_where_the_target_is(
    shop: Path, add: Callable[[Path], Report], serve: Callable[[], Service]
) -> None:
    write(shop, "books/ledger.py", LEDGER)
    write(shop, "shop/tools/money.py", MONEY)
    add(shop)
    with serve() as service:
        callees = service.graph("callees", "Ledger.book")
        callers = service.graph("callers", "price_of")
        heirs = service.graph("inherits", "Ledger")
        chain = service.graph_path("book", "rounded")
    places = {edge["target"]: (edge["path"], edge["line"], edge["target_path"]) for edge in callees}
    assert places["price_of"] == ("books/ledger.py", 8, "shop/cart.py")
    assert places["rounded"] == ("books/ledger.py", 8, "shop/tools/money.py")
    assert ("books/ledger.py", 8, "shop/cart.py") in {(e["path"], e["line"], e["target_path"]) for e in callers}
    assert [(e["source"], e["path"], e["line"], e["target_path"]) for e in heirs] == [
        ("SafeLedger", "books/ledger.py", 11, "books/ledger.py")
    ]
    assert [(e["path"], e["line"], e["target_path"]) for e in chain] == [("books/ledger.py", 8, "shop/tools/money.py")]
    assert {edge["repo"] for edge in [*callees, *callers, *heirs, *chain]} == {"shop"}


def test_imports_of_a_package_hold_the_imports_of_its_parts(
    shop: Path, add: Callable[[Path], Report], serve: Callable[[], Service]
) -> None:
    write(shop, "books/ledger.py", LEDGER)
    write(shop, "books/other.py", "from shopping import basket\n")
    add(shop)
    with serve() as service:
        edges = service.graph("imports", "shop")
    assert [(edge["path"], edge["line"], edge["target"]) for edge in edges] == [
        ("books/ledger.py", 1, "shop.cart:price_of"),
        ("books/ledger.py", 2, "shop.tools.money:rounded"),
        ("books/ledger.py", 3, "shop"),
        ("tests/test_cart.py", 1, "shop.cart:Cart"),
    ]
