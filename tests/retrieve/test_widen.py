"""Hits and the lines around them: how far a hit grows, what is never shown twice, what `narrow` and names leave out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from devmind.ingest import Report
from devmind.retrieve.widen import WIDTHS, width_of
from devmind.service import Service
from devmind.types import Filters, Hit

Add = Callable[[Path], Report]
QUESTION = "how is an invoice settled when the ledger is locked"


def function(name: str, n_lines: int) -> str:
    body = "".join(f"    total_{at} = {at} * len(page)\n" for at in range(n_lines - 3))
    return f'def {name}(page):\n    """Print {name} of a page."""\n{body}    return page\n\n\n'


SETTLE = '''def settle_invoice(invoice):
    """Settle an invoice, unless its ledger is locked."""
    if invoice.ledger.locked:
        raise ValueError("the ledger of the invoice is locked")
    return invoice.ledger.book(invoice)


'''


@pytest.fixture
def service(tmp_path: Path, add: Add, serve: Callable[[], Service]) -> Service:
    shop = tmp_path / "shop-src"
    shop.mkdir()
    around = [function(f"print_{word}", 20) for word in ("header", "footer", "margin", "number", "border", "corner")]
    long = [*around[:3], SETTLE, *around[3:], *(function(f"draw_{at}", 20) for at in range(20))]
    (shop / "invoices.py").write_text("".join(long), encoding="utf-8")
    for at in range(8):
        (shop / f"other_{at}.py").write_text(SETTLE.replace("settle_invoice", f"settle_{at}") + "".join(around[:4]))
    add(shop)
    return serve()


def test_a_hit_is_as_wide_as_its_file_is_likely(service: Service) -> None:
    hits = service.search(QUESTION, k=10).hits
    files = list(dict.fromkeys(hit.path for hit in hits))
    for hit in hits:
        first, last = hit.focus
        assert hit.start_line <= first <= last <= hit.end_line
        assert hit.end_line - hit.start_line < max(width_of(files.index(hit.path)), last - first + 1)
    best = hits[0]
    assert best.end_line - best.start_line > best.focus[1] - best.focus[0]
    assert [width_of(nth) for nth in (0, 1, 100)] == [WIDTHS[0], WIDTHS[1], WIDTHS[-1]]


def test_hits_of_a_file_share_no_line(service: Service) -> None:
    shown: set[tuple[str, int]] = set()
    for hit in service.search(QUESTION, k=10).hits:
        lines = {(hit.path, at) for at in range(hit.start_line, hit.end_line + 1)}
        assert not lines & shown
        shown |= lines


def test_content_and_focus_are_lines_of_the_file(service: Service, tmp_path: Path) -> None:
    for hit in service.search(QUESTION, k=10).hits:
        lines = (tmp_path / "shop-src" / hit.path).read_text().split("\n")
        assert hit.content == "\n".join(lines[hit.start_line - 1 : hit.end_line])
        narrow = hit.focused()
        assert (narrow.start_line, narrow.end_line) == hit.focus
        assert narrow.content == "\n".join(lines[narrow.start_line - 1 : narrow.end_line])
        assert narrow.focused() is narrow


def test_names_and_narrow_searches_show_the_definition_alone(service: Service) -> None:
    (hit, *_) = service.search("settle_invoice").hits
    assert (hit.start_line, hit.end_line) == hit.focus
    assert "def settle_invoice" in hit.content
    for hit in service.search(QUESTION, narrow=True).hits:
        assert hit.focused() is hit


def test_what_a_hit_shows_is_no_second_hit(service: Service) -> None:
    trace = service.trace(QUESTION, k=10)
    fates = [fate.what for fate in trace.fates]
    assert "merged" in fates
    rows = trace.ranking.rows
    for row, fate in zip(rows.tolist(), trace.fates, strict=True):
        if fate.what == "merged":
            hit = trace.hits[fate.hit - 1]
            assert hit.start_line <= trace.view.start[row] and trace.view.end[row] <= hit.end_line


def test_an_answer_cites_the_focus(service: Service) -> None:
    answer = service.answer(service.search(QUESTION))
    assert all(hit.focused() is hit for hit in answer.evidence)


def test_neighbours_that_a_filter_excludes_are_not_shown(service: Service) -> None:
    wide = service.search(QUESTION, k=3).hits
    assert any(hit.end_line - hit.start_line > hit.focus[1] - hit.focus[0] for hit in wide)
    only = service.search(QUESTION, k=3, filters=Filters(kinds=("function",))).hits
    assert [(hit.path, hit.focus) for hit in only] == [(hit.path, hit.focus) for hit in wide]


def test_methods_alone_are_shown_without_the_functions_beside_them(
    tmp_path: Path, add: Add, serve: Callable[[], Service]
) -> None:
    folder = tmp_path / "shop-src"
    folder.mkdir()
    method = "".join(f"    {line}\n" if line else "\n" for line in SETTLE.rstrip().split("\n"))
    text = function("print_a", 50) + "class Invoice:\n" + method + "\n\n" + function("print_b", 50)
    (folder / "invoices.py").write_text(text, encoding="utf-8")
    add(folder)
    with serve() as service:
        (wide,) = service.search(QUESTION).hits
        (only,) = service.search(QUESTION, filters=Filters(kinds=("method",))).hits
    assert "print_b" in wide.content
    assert "settle_invoice" in only.content and "print_" not in only.content


def test_a_copy_of_a_file_is_told_once(tmp_path: Path, add: Add, serve: Callable[[], Service]) -> None:
    folder = tmp_path / "shop-src"
    for copy in ("a", "b"):
        (folder / copy).mkdir(parents=True)
        steps = "".join(
            SETTLE.replace("settle_invoice", f"settle_{at}").replace("is locked", f"is locked, {at}") for at in range(9)
        )
        (folder / copy / "invoices.py").write_text(steps, encoding="utf-8")
    add(folder)
    with serve() as service:
        trace = service.trace(QUESTION, k=10)
    assert [hit.also_at for hit in trace.hits if hit.also_at]
    for hit in trace.hits:
        others = [other for other in trace.hits if other.path != hit.path]
        assert not any(hit.content in other.content for other in others), "the text of a hit stands in another one"


def test_a_hit_grows_over_no_line_of_another_hit_though_chunks_may_share_lines(
    tmp_path: Path, add: Add, serve: Callable[[], Service]
) -> None:
    folder = tmp_path / "shop-src"
    folder.mkdir()
    for n in range(12):
        rows = "".join(f'    ("ledger {at} of an invoice", settle(invoice, {at * n})),\n' for at in range(120))
        (folder / f"rows_{n}.py").write_text(f"{function('print_a', 9)}ROWS = [\n{rows}]\n\n\n{function('print_b', 9)}")
    add(folder)
    shared = 0
    with serve() as service:
        for at in range(0, 120, 7):
            by_path: dict[str, list[Hit]] = {}
            for hit in service.search(f"ledger {at} of an invoice, settle {at}", k=30).hits:
                by_path.setdefault(hit.path, []).append(hit)
            for a, b in (hits for hits in by_path.values() if len(hits) == 2):
                lines = set(range(a.start_line, a.end_line + 1)) & set(range(b.start_line, b.end_line + 1))
                shared += len(lines)
                assert lines <= set(range(b.focus[0], b.focus[1] + 1)), "the second hit grew into the first"
    assert shared
