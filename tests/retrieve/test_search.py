"""Searching a small repository: the legs, the shape of the result, filters, the cache, and bad input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from devmind.errors import UsageError
from devmind.index.terms import terms
from devmind.ingest import Report
from devmind.retrieve.candidates import BEST
from devmind.retrieve.passing import MASKS_KEPT, passing
from devmind.retrieve.query import understand
from devmind.service import Service
from devmind.types import Filters

Add = Callable[[Path], Report]
Serve = Callable[[], Service]


@pytest.fixture
def service(shop: Path, add: Add, serve: Serve) -> Service:
    add(shop)
    return serve()


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("total_price", "shop/cart.py"),
        ("Cart.add_item", "shop/cart.py"),
        ("where is the password verified", "shop/login.py"),
        ("校验用户密码", "shop/login.py"),
        ("购物车的总价怎么计算", "shop/cart.py"),
        ("shop/login.py", "shop/login.py"),
    ],
)
def test_first_hit(service: Service, query: str, path: str) -> None:
    assert service.search(query).hits[0].path == path


def test_hits_hold_exactly_their_lines(service: Service, shop: Path) -> None:
    for hit in service.search("cart price password", k=10).hits:
        lines = (shop / hit.path).read_text(encoding="utf-8").split("\n")
        assert hit.content == "\n".join(lines[hit.start_line - 1 : hit.end_line])


def test_order_is_total_and_repeatable(service: Service) -> None:
    hits = service.search("cart price password", k=10).hits
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_source_comes_before_its_test(service: Service) -> None:
    found = [hit.path for hit in service.search("total price of a cart").hits]
    assert found.index("shop/cart.py") < found.index("tests/test_cart.py")


@pytest.mark.parametrize(
    "filters",
    [Filters(paths=("tests/*",)), Filters(roles=("test",)), Filters(languages=("markdown",)), Filters(repos=("shop",))],
)
def test_filters(service: Service, filters: Filters) -> None:
    hits = service.search("cart", filters=filters).hits
    assert hits
    for hit in hits:
        assert not filters.roles or hit.role in filters.roles
        assert not filters.languages or hit.language in filters.languages
        assert not filters.paths or hit.path.startswith("tests/")


def test_the_masks_of_the_last_filters_are_kept(service: Service) -> None:
    view = service.trace("cart", legs=False).view
    many = [Filters(paths=(f"tests/{n}*", "shop/*")) for n in range(MASKS_KEPT + 1)]
    masks = [passing(view, filters) for filters in many]
    assert passing(view, many[-1]) is masks[-1]
    assert all(passing(view, filters) is mask for filters, mask in zip(many[1:], masks[1:], strict=True))
    again = passing(view, many[0])  # it had to go
    assert again is not masks[0] and np.array_equal(again, masks[0])
    assert len(view.masks) <= MASKS_KEPT


@pytest.mark.parametrize("filters", [Filters(), Filters(kinds=("method",))])
def test_the_rows_nearest_in_the_files_of_candidates_are_candidates(service: Service, filters: Filters) -> None:
    trace = service.trace("total price of a cart", filters=filters, legs=False)
    view, rows = trace.view, set(trace.ranking.rows.tolist())
    near = view.scan(service.retriever.published.embedder.embed_queries(["total price of a cart"])[0])
    allowed = passing(view, filters)
    assert rows
    for file in set(view.file[list(rows)].tolist()):
        of_file = [row for row in np.flatnonzero(view.file == file).tolist() if allowed is None or allowed[row]]
        assert rows >= set(sorted(of_file, key=lambda row: (-near[row], row))[:BEST])
        assert rows & {row for row in range(view.n) if view.file[row] == file} <= set(of_file)


@pytest.mark.parametrize(
    ("query", "worse"),
    [
        ("overall architecture of the shop", False),
        ("商店的整体架构", False),
        ("where is the cart paid at checkout", True),
    ],
)
def test_documents_are_no_worse_for_questions_about_the_architecture(service: Service, query: str, worse: bool) -> None:
    trace = service.trace(query, legs=False)
    assert any(trace.view.files[file].role == "docs" for file in trace.view.file[trace.ranking.rows])
    assert bool(trace.ranking.features["docs"].any()) == worse


def test_explanation_names_the_legs(service: Service) -> None:
    why = service.search("total_price").hits[0].why
    assert {"lexical", "dense", "defines", "pointed", "stem", "file"} <= why.keys()
    assert why["defines"] > 0


@pytest.mark.parametrize(("query", "k"), [("", 5), ("   ", 5), ("x", 0), ("x", -1)])
def test_bad_input_is_named(service: Service, query: str, k: int) -> None:
    with pytest.raises(UsageError):
        service.search(query, k=k)


def test_unknown_repository_lists_the_known(service: Service) -> None:
    with pytest.raises(UsageError, match="known: shop"):
        service.search("x", filters=Filters(repos=("nope",)))


@pytest.mark.parametrize(
    "query", ["\0", "'; DROP TABLE chunk", "🙂", "a" * 100_000, "-" * 500, "中" * 3000, "( AND ) OR *"]
)
def test_odd_queries_do_not_fail(service: Service, query: str) -> None:
    service.search(query)


def test_the_cache_forgets_after_publishing(service: Service, shop: Path, add: Add) -> None:
    first = service.search("total_price")
    assert service.search("total_price") is first
    (shop / "shop" / "extra.py").write_text("EXTRA = 1\n")
    add(shop)
    assert service.search("total_price") is not first


def test_callers_and_callees(service: Service) -> None:
    callers = service.graph("callers", "price_of")
    assert [(e["source"], e["path"], e["confidence"]) for e in callers] == [
        ("Cart.total_price", "shop/cart.py", "exact")
    ]
    assert "price_of" in {e["target"] for e in service.graph("callees", "total_price")}


def test_missing_knowledge_base(serve: Serve) -> None:
    with pytest.raises(UsageError, match="devmind add"):
        serve()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserName", ["get", "user", "name", "getusername"]),
        ("get_user_name", ["get", "user", "name", "getusername"]),
        ("HTTPServer2", ["http", "server", "2", "httpserver2"]),
        ("登录", ["登录"]),
        ("用户登录", ["用户", "户登", "登录"]),
        ("running", ["run"]),
        ("___", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_long_text_is_cut_to_its_telling_terms() -> None:
    text = " ".join(f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(300))
    query = understand(text, df=lambda term: 1, n_chunks=1000)
    assert len(query.weights) <= 48
