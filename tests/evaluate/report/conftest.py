"""A report of two runs over few topics that hold all there is: misses, failures, traps, Chinese, and hostile text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from devmind.evaluate.datasets import dataset_of
from devmind.evaluate.measured import Scoring, asked, measure
from devmind.evaluate.report import Report, make_report
from devmind.evaluate.report.provenance import report_provenance
from devmind.evaluate.types import Failure, Response, Retrieved, Run, Span, Topic, Truth

# Each would run, close its element or change the page, if any text of a topic or hit were taken as markup.
HOSTILE = (
    "</script><script>window.pwned=1</script><img src=x onerror=window.pwned=1>"
    "\"'><svg/onload=window.pwned=1>{{7*7}}<!--]]>&lt;"
)
CODE = "def price_of(item):\n    return item.price  # <b>not bold</b>\n\n\ndef total(cart):\n    return sum(cart)"
NOW = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)


def _topics() -> tuple[Topic, ...]:
    price = Truth(Span("shop/cart.py", 11, 12), symbol="price_of")
    total = Truth(Span("shop/cart.py", 14, 15), "weak")
    return (
        Topic("won", "密码输错几次会锁定账号？", "code understanding", (price,), "shop", language="python"),
        Topic("lost", "What does an item cost?", "API location", (price, total), "shop", language="python"),
        Topic("tied", "Where is it locked?", "API location", (Truth(Span("shop/login.py", 1, 4)),), "shop"),
        Topic("failed", "Who calls whom?", "multi-hop", (total,), "other", language="go"),
        Topic("absent", "Never asked", "multi-hop", (total,), "other", language="go"),
        Topic("whole", "Which file?", "API location", (Truth(Span("README.md")),), "other"),
        Topic("trap", "Where is the robot?", "trap", repo="shop"),
        Topic("none", "Not labelled", "API location", repo="shop"),
        Topic(HOSTILE, HOSTILE, HOSTILE, (Truth(Span(HOSTILE, 1, 2), symbol=HOSTILE),), HOSTILE,
              reference_answer=HOSTILE, labels={HOSTILE: HOSTILE, "leak": "none"}),
        Topic("later", "Not accepted", "API location", (price,), "shop", status="pending"),
    )  # fmt: skip


def _hits(*spans: Span) -> tuple[Retrieved, ...]:
    return tuple(Retrieved(span, CODE, score=5.0 - at, symbol="price_of") for at, span in enumerate(spans))


def _responses(*, better: bool) -> dict[str, Response]:
    right, wrong, miss = Span("shop/cart.py", 10, 15), Span("README.md", 1, 6), Span("shop/login.py", 7, 12)
    found = {
        "won": _hits(right if better else miss, wrong),
        "lost": _hits(wrong, miss) if better else _hits(right),
        "tied": _hits(Span("shop/login.py", 1, 6)),
        "whole": _hits(wrong),
        "trap": _hits(wrong),
        "none": _hits(wrong),
    }
    responses = {name: Response(name, hits, seconds=0.25, confidence=0.5) for name, hits in found.items()}
    responses["failed"] = Response("failed", failure=Failure("http_500", f"broken {HOSTILE}", 3), seconds=1.5)
    responses[HOSTILE] = Response(
        HOSTILE, (Retrieved(None, HOSTILE, symbol=HOSTILE, file=HOSTILE), Retrieved(Span(HOSTILE, 1, 1), HOSTILE)),
        answer=HOSTILE, notes=(HOSTILE,), dropped=(HOSTILE,), confidence=0.9,
    )  # fmt: skip
    return responses


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., Report]:
    def make(*, with_baseline: bool = True, long_query: str = "") -> Report:
        first, *others = _topics()
        first = replace(first, query=long_query or first.query)
        dataset = dataset_of(f"shop {HOSTILE}", [first, *others])
        chosen = asked(dataset)
        runs = [
            measure(chosen.dataset, Run(name, dataset.name, _responses(better=better), 10, {"target.mode": HOSTILE}))
            for name, better in ((f"old {HOSTILE}", False), ("new", True))
        ]
        around = report_provenance(chosen.dataset, Scoring(), split="all", folder=tmp_path, now=NOW)
        return make_report(chosen, runs, provenance=around, with_baseline=with_baseline)

    return make
