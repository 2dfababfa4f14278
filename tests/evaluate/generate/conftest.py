"""A small repository with a git history of every sort of commit, indexed, and read as the generators read it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from devmind.evaluate.generate.corpus import Corpus, open_catalog, read_corpus
from devmind.index.catalog import Catalog
from devmind.ingest import IngestOptions, Writer
from tests.indexed import write_files

ORDERS = '''"""Orders of the shop."""

from shop.store import read_order, write_order


def place_order(cart, customer):
    """Turn the cart of a customer into a paid order and store it."""
    total = order_total(cart)
    charge_customer(customer, total)
    return save_order(cart, total)


def order_total(cart):
    """Return what all items cost together, with the discount taken off."""
    total = 0
    for item in cart:
        total += item.price
    return total


def save_order(cart, total):
    record = {"cart": cart, "total": total}
    record["id"] = len(cart)
    return write_order(record)


def charge_customer(customer, total):
    if total <= 0:
        raise ValueError(total)
    customer.pay(total)


class OrderBook:
    """Keeps the open orders in the order in which they came."""

    def __init__(self):
        self.open = []

    # 关闭订单，并把它从未完成列表里移除
    def close_order(self, number):
        order = read_order(number)
        self.open.remove(order)
        return order

    def update(self, rows):
        self.open = rows
'''
STORE = '''"""Where orders are kept."""

# Writes go to a file of one line an order, never to a database.
def write_order(record):
    with open("orders", "a") as file:
        file.write(str(record))
    return record["id"]


def read_order(number):
    settings = {}
    settings.update(limit=number)
    with open("orders") as file:
        return file.readlines()[number]
'''
VIEWS = """from flask import Blueprint

from shop.orders import place_order

pages = Blueprint("pages", __name__)


@pages.post("/orders/<name>/checkout")
def checkout(name):
    cart = list(name)
    return place_order(cart, name)
"""
TESTS = """from shop.orders import order_total


def test_order_total():
    assert order_total([]) == 0


class Helper:
    def close_order(self):
        return 1
"""
START = {"shop/orders.py": ORDERS, "shop/store.py": STORE, "shop/views.py": VIEWS, "tests/test_orders.py": TESTS}

# Message → path, old, new. Applied in turn, each as one commit.
DISCOUNTED = "        total += item.price * (1 - item.discount)"
HISTORY: tuple[tuple[str, str, str, str], ...] = (
    ("Fix the total of an order that ignored every discount (#12)\n\nThe customer paid the full price.",
     "shop/orders.py", "        total += item.price\n", DISCOUNTED + "\n"),
    ("Fix typo in the message that a customer gets", "shop/orders.py",
     "raise ValueError(total)", "raise ValueError(-total)"),
    ("Bump version of the store to 2", "shop/store.py", "orders are kept", "all orders are kept"),
    ("Say in the notes how an order is closed again", "shop/orders.py", "# 关闭订单", "# 结束订单"),
    ("Make the store nicer to read for everybody", "shop/store.py", 'open("orders", "a")', "open('orders','a')"),
    ("Check that the total of nothing is nothing at all", "tests/test_orders.py", "== 0", "== 0.0"),
    ("Refuse an order without a cart before money moves", "shop/orders.py", "    total = order_total(cart)\n",
     "    if not cart:\n        raise ValueError(cart)\n    total = order_total(cart)\n"),
)  # fmt: skip


def run_git(folder: Path, *arguments: str) -> str:
    named = ["-c", "user.name=t", "-c", "user.email=t@t.invalid", "-C", str(folder)]
    return subprocess.run(["git", *named, *arguments], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="package")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository; tests read it and leave it as it is."""
    folder = write_files(tmp_path_factory.mktemp("generate") / "shop-git", START)
    run_git(folder, "init", "-q", "-b", "main")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "-q", "-m", "Begin the shop with orders and a store")
    for message, path, old, new in HISTORY:
        text = (folder / path).read_text(encoding="utf-8")
        assert old in text
        (folder / path).write_text(text.replace(old, new, 1), encoding="utf-8")
        run_git(folder, "commit", "-q", "-a", "-m", message)
    return folder


@pytest.fixture(scope="package")
def home(history: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    kb = tmp_path_factory.mktemp("generate-kb")
    with Writer(kb, IngestOptions(n_workers=1)) as writer:
        writer.add(str(history), name="shop")
    return kb


@pytest.fixture(scope="package")
def catalog(home: Path) -> Iterator[Catalog]:
    with open_catalog(home) as opened:
        yield opened


@pytest.fixture(scope="package")
def corpus(catalog: Catalog, home: Path) -> Corpus:
    return read_corpus(catalog, "shop", home=home)
