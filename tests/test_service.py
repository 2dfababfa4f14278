"""The rows that front ends show: places, filters, freshness."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from devmind.errors import UsageError
from devmind.ingest import IngestOptions, Report, Writer
from devmind.service import Service
from devmind.types import Filters

LEDGER = """from shop.cart import price_of
from shop.tools.money import rounded
import shop


class Ledger:
    def book(self, item):
        return rounded(price_of(item))


class SafeLedger(Ledger):
    pass
"""
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


@pytest.mark.parametrize(("filters", "code", "hint"), [
    (Filters(roles=("tests",)), "unknown_role", "vendored"),
    (Filters(languages=("cobol",)), "unknown_language", "python"),
    (Filters(kinds=("funktion",)), "unknown_kind", "function"),
])  # fmt: skip
def test_a_filter_that_can_match_nothing_is_an_error_that_lists_what_can(
    filters: Filters, code: str, hint: str, shop: Path, add: Callable[[Path], Report], serve: Callable[[], Service]
) -> None:
    add(shop)
    with serve() as service, pytest.raises(UsageError, match=hint) as caught:
        service.search("cart", filters=filters)
    assert caught.value.code == code


def test_filters_do_not_depend_on_case(shop: Path, add: Callable[[Path], Report], serve: Callable[[], Service]) -> None:
    add(shop)
    filters = Filters(languages=("Python",), kinds=("Function",), roles=("SOURCE",))
    with serve() as service:
        hits = service.search("verify the password", filters=filters).hits
    assert [(hit.symbol, hit.kind, hit.role) for hit in hits][:1] == [("verify_password", "function", "source")]


def test_a_function_is_found_by_its_kind_in_the_chunk_of_a_class(
    tmp_path: Path, add: Callable[[Path], Report], serve: Callable[[], Service]
) -> None:
    write(tmp_path / "src", "box.py", "class Box:\n    size = 1\n\n\ndef unpack_parcel():\n    return Box\n")
    add(tmp_path / "src")
    with serve() as service:
        for kind in ("class", "function", "field"):
            hits = service.search("unpack parcel", filters=Filters(kinds=(kind,))).hits
            assert [(hit.path, hit.start_line, hit.kind) for hit in hits] == [("box.py", 1, "class")]
        assert service.search("unpack parcel", filters=Filters(kinds=("method",))).hits == ()


def test_a_kind_that_exists_but_is_not_indexed_is_no_error(
    shop: Path, add: Callable[[Path], Report], serve: Callable[[], Service]
) -> None:
    add(shop)
    with serve() as service:
        assert service.search("cart", filters=Filters(kinds=("trait",))).hits == ()


def test_a_hit_is_fresh_until_its_lines_change_on_disk(
    shop: Path, add: Callable[[Path], Report], serve: Callable[[], Service]
) -> None:
    login = shop / "shop/login.py"
    write(
        shop,
        "shop/login.py",
        login.read_text(encoding="utf-8") + 'API_TOKEN = "ghp_9aB3dE5fG7hJ1kL2mN4pQ6rS8tU0vW2xY4z"\n',
    )
    add(shop)

    def is_fresh() -> bool:
        with serve() as service:
            return next(h.fresh for h in service.search("verify the password").hits if h.path == "shop/login.py")

    assert is_fresh()
    os.utime(login, (1, 1))  # touched, not changed: the masked secret must not make it look changed
    assert is_fresh()
    login.write_text("# new first line\n" + login.read_text(encoding="utf-8"), encoding="utf-8")
    assert not is_fresh()
    login.unlink()
    assert not is_fresh()


def test_a_commit_never_goes_stale(shop: Path, kb: Path, git: Callable[..., str], serve: Callable[[], Service]) -> None:
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        git(shop, *arguments)
    with Writer(kb, IngestOptions(n_workers=1)) as writer:
        writer.add(str(shop), name="shop", ref="HEAD")
    (shop / "shop/cart.py").unlink()
    with serve() as service:
        hits = service.search("price of the cart").hits
    assert hits
    assert all(hit.fresh for hit in hits)


def test_who_calls_a_name_is_answered_from_the_relations(
    shop: Path, add: Callable[[Path], Report], serve: Callable[[], Service]
) -> None:
    write(shop, "books/ledger.py", LEDGER)
    add(shop)
    with serve() as service:
        answer = service.ask("Who calls price_of?")
        unknown = service.ask("Who calls no_such_name?")
        uncalled = service.ask("Who calls verify_password?")
    cited = {(citation.path, citation.symbol, citation.start_line) for citation in answer.citations}
    assert cited == {("books/ledger.py", "Ledger.book", 8), ("shop/cart.py", "Cart.total_price", 15)}
    assert uncalled.answer.startswith("No call of `verify_password` is indexed.")
    assert uncalled.citations[0].symbol == "verify_password"
    assert (unknown.abstained, unknown.reason) == (True, "names_not_found")


def test_names_are_found_as_people_write_them(
    shop: Path, add: Callable[[Path], Report], serve: Callable[[], Service]
) -> None:
    write(shop, "cart.go", "package shop\n\ntype Cart struct{}\n\nfunc (c *Cart) Total() int { return 0 }\n")
    add(shop)
    with serve() as service:
        for name in ("(*Cart).Total", "(Cart).Total", "Cart.Total()", "`Cart.Total`"):
            assert [row["path"] for row in service.symbols(name)] == ["cart.go"], name
