"""The rows that front ends show: places, filters, freshness."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from devmind.errors import UsageError
from devmind.ingest import IngestOptions, Report, Writer
from devmind.service import Service
from devmind.settings import Settings
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


# One question, one state --------------------------------------------------------------------------------------------


class Meanwhile:
    """Does something once, while the connection of a service runs its next statement about ``table``."""

    def __init__(self, service: Service, table: str, act: Callable[[], object]) -> None:
        self.done = False
        self._table, self._act = f"FROM {table} ", act
        service.catalog.db.set_trace_callback(self._told)

    def _told(self, sql: str) -> None:
        if not self.done and self._table in sql:
            self.done = True
            self._act()


@pytest.fixture
def move_lines(shop: Path, add: Callable[[Path], Report]) -> Callable[[], None]:
    """Publish a generation in which every line of the cart stands five lines lower."""

    def run() -> None:
        text = (shop / "shop/cart.py").read_text(encoding="utf-8")
        write(shop, "shop/cart.py", "#\n" * 5 + text)
        assert add(shop).changed

    return run


@pytest.mark.parametrize(
    "ask",
    [
        lambda service: service.graph("callers", "price_of"),
        lambda service: service.graph("callees", "Cart.total_price"),
        lambda service: service.graph_path("total_price", "price_of"),
    ],
    ids=["callers", "callees", "path"],
)
def test_a_publish_between_two_statements_of_a_graph_query_is_not_seen(
    ask: Callable[[Service], list[dict[str, Any]]],
    shop: Path,
    add: Callable[[Path], Report],
    serve: Callable[[], Service],
    move_lines: Callable[[], None],
) -> None:
    add(shop)
    with serve() as service:
        before = ask(service)
        meanwhile = Meanwhile(service, "symbol s", move_lines)
        assert ask(service) == before
        assert meanwhile.done
        assert [edge["line"] for edge in ask(service)] == [edge["line"] + 5 for edge in before]


def test_an_answer_and_its_search_read_one_state(
    shop: Path, kb: Path, add: Callable[[Path], Report], move_lines: Callable[[], None]
) -> None:
    add(shop)
    with Service(Settings(home=kb), cache_seconds=0) as service:
        before = service.ask("Who calls price_of?")
        meanwhile = Meanwhile(service, "symbol s", move_lines)
        assert service.ask("Who calls price_of?").answer == before.answer
        assert meanwhile.done
        after = service.ask("Who calls price_of?")
    assert [c.start_line for c in after.citations] == [c.start_line + 5 for c in before.citations]


def test_an_answer_to_an_older_search_takes_no_line_from_newer_relations(
    shop: Path, add: Callable[[Path], Report], serve: Callable[[], Service], move_lines: Callable[[], None]
) -> None:
    add(shop)
    with serve() as service:
        found = replace(service.search("Who calls price_of?"), confidence=1.0)  # so few files leave any question open
        assert service.answer(found).generator == "callers"
        move_lines()
        answer = service.answer(found)
        assert (answer.abstained, answer.generator) == (False, "extractive")
        for citation in answer.citations:
            lines = service.sources.lines("shop", citation.path, found.generations["shop"])
            assert lines is not None
            assert re.split(r"\W", citation.symbol)[-1] in "\n".join(lines[citation.start_line - 1 : citation.end_line])


def test_an_export_is_of_the_state_that_it_began_with(
    shop: Path, kb: Path, add: Callable[[Path], Report], serve: Callable[[], Service], move_lines: Callable[[], None]
) -> None:
    add(shop)
    with Writer(kb, IngestOptions(n_workers=1)) as writer:
        writer.add(str(shop), name="twin")
    with serve() as service:
        before = list(service.export())
        documents = service.export()
        first = next(documents)
        move_lines()
        with Writer(kb, IngestOptions(n_workers=1)) as writer:
            writer.remove("twin")
        assert service.symbols("price_of")[0]["start_line"] == 23  # a question meanwhile neither waits nor sees it
        assert [first, *documents] == before


def test_questions_of_several_threads_do_not_end_each_others_state(
    shop: Path, add: Callable[[Path], Report], serve: Callable[[], Service]
) -> None:
    add(shop)
    with serve() as service:
        expected = service.graph("callers", "price_of"), service.search("total price").hits

        def ask(_: int) -> object:
            return service.graph("callers", "price_of"), service.search("total price").hits

        with ThreadPoolExecutor(8) as threads:
            assert all(answer == expected for answer in threads.map(ask, range(100)))
