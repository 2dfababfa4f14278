"""Topics of every shape, as a generator and as one small dataset over the shop of ``tests/conftest.py``."""

from __future__ import annotations

import pytest

from devmind.evaluate.datasets import dataset_of
from devmind.evaluate.types import Annotation, Dataset, Span, Topic, Truth


@pytest.fixture
def dataset() -> Dataset:
    price = Truth(Span("shop/cart.py", 20, 22), "strong", "price_of", core=(22, 22), role="service")
    lock = Truth(Span("shop/login.py", 4, 8), "weak", "verify_password", text="def verify_password(user, password):")
    return dataset_of(
        "shop",
        [
            Topic(
                "q1", "Where is what an item costs looked up?", "API location", (price,), "shop", "abc", "python",
                "In the catalogue.\nBy ``price_of``.", {"query_lang": "en"},
                (Annotation("ana", (price,), "sure"), Annotation("bo", (lock,))), "ana chose: reads, not writes",
                {"made_by": "hand"}, "accepted",
            ),
            Topic("q2", "密码输错几次会锁定账号？", "code understanding", (lock,), "shop", labels={"query_lang": "zh"}),
            Topic("q3", "How does the cart pay with carrier pigeons?", "trap", repo="shop"),
            Topic("q4", 'What, "quoted"; and\ttabbed,\nis here?', "bug", (Truth(Span("README.md")),), "shop"),
        ],
    )  # fmt: skip
