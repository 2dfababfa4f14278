"""A small repository, and helpers to index it into a knowledge base of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from devmind.ingest import IngestOptions, Report, Writer
from devmind.service import Service
from devmind.settings import Settings
from tests.indexed import write_files

settings.register_profile("patient", deadline=None)  # a busy machine is no fault of the code
settings.load_profile("patient")

FILES = {
    "shop/cart.py": '''"""The cart of one customer."""

TAX_RATE = 0.19


class Cart:
    """Holds items until checkout."""

    def add_item(self, item, quantity=1):
        """Put an item into the cart, or raise its quantity."""
        self.items[item] = self.items.get(item, 0) + quantity

    def total_price(self):
        """Sum of all prices, tax included."""
        return sum(price_of(i) * n for i, n in self.items.items()) * (1 + TAX_RATE)


def price_of(item):
    """Look the price up in the catalogue."""
    return item.price
''',
    "shop/login.py": '''"""Sign customers in."""


def verify_password(user, password):
    # 校验用户密码，失败三次后锁定账号
    if user.failures >= 3:
        raise PermissionError("locked")
    return user.check(password)
''',
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total_price() == 0\n",
    "README.md": "# Shop\n\nA shop.\n\n## Checkout\n\nThe cart is paid at checkout.\n",
    ".gitignore": "build/\n",
    "build/out.py": "generated = 1\n",
    "logo.png": "\x89PNG\x00\x00",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_files(tmp_path / "shop-src", FILES)


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    return tmp_path / "kb"


@pytest.fixture
def add(kb: Path) -> Callable[[Path], Report]:
    def run(folder: Path) -> Report:
        with Writer(kb, IngestOptions(n_workers=1)) as writer:
            return writer.add(str(folder), name="shop")

    return run


@pytest.fixture
def serve(kb: Path) -> Callable[[], Service]:
    return lambda: Service(Settings(home=kb))


@pytest.fixture
def git() -> Callable[..., str]:
    def run(folder: Path, *arguments: str) -> str:
        said = subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t.invalid", "-C", str(folder), *arguments],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        return said.stdout.strip()

    return run
