"""Uses between files by names: what counts as one, over one part or several, and odd sizes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devmind.index.uses import among, linked, names_of
from devmind.types import ParsedDocument, Reference, Symbol

NAMES = ["parse_row", "Cart", "price", "total_price", "Ledger", "fn"]
FILES = st.lists(st.tuples(st.sets(st.sampled_from(NAMES)), st.sets(st.sampled_from(NAMES))), min_size=1, max_size=7)


def content(defined: set[str], used: set[str], *, kind: str = "function") -> tuple[bytes, bytes]:
    symbols = tuple(
        Symbol(name=n, qualified_name=n, kind=kind, start_line=1, end_line=1, doc_line=1) for n in sorted(defined)
    )
    references = tuple(Reference(name=n, kind="calls", line=1) for n in sorted(used))
    return names_of(ParsedDocument(symbols=symbols, references=references))


def by_hand(files: list[tuple[set[str], set[str]]]) -> dict[tuple[int, int], float]:
    weights: dict[tuple[int, int], float] = defaultdict(float)
    for user, (own, used) in enumerate(files):
        for name in used - own:
            owners = [at for at, (defined, _) in enumerate(files) if name in defined and len(name) >= 4]
            for owner in owners if len(owners) <= 2 else ():
                weights[user, owner] += 1 / len(owners)
    return {edge: log(1 + weight) for edge, weight in weights.items()}


@given(files=FILES, data=st.data())
def test_uses_are_names_of_one_or_two_owners(files: list[tuple[set[str], set[str]]], data: st.DataObject) -> None:
    uses = linked([content(*file) for file in files])
    wanted = sorted(data.draw(st.sets(st.integers(0, len(files) - 1))))
    found = among(np.array(wanted, np.int64), [uses])
    edges = {
        (wanted[user], wanted[used]): strength
        for user, used, strength in zip(found.users, found.used, found.strengths, strict=True)
    }
    expected = {edge: w for edge, w in by_hand(files).items() if edge[0] in wanted and edge[1] in wanted}
    assert edges == pytest.approx(expected, rel=1e-5)


def test_parts_follow_one_another() -> None:
    shop = [content({"Cart"}, {"total_price"}), content({"total_price"}, set())]
    books = [content({"Ledger"}, set()), content(set(), {"Ledger", "Cart"})]
    found = among(np.arange(4), [linked(shop), linked(books)])
    assert list(zip(found.users.tolist(), found.used.tolist(), strict=True)) == [(0, 1), (3, 2)]


def test_kinds_that_name_nothing_and_short_names() -> None:
    for defined, kind in (({"Install"}, "heading"), ({"timeout"}, "field"), ({"run"}, "function")):
        uses = linked([content(defined, set(), kind=kind), content(set(), defined)])
        assert uses.used.tolist() == []


def test_nothing_there() -> None:
    assert among(np.empty(0, np.int64), []).users.tolist() == []
    assert among(np.empty(0, np.int64), [linked([])]).users.tolist() == []
    uses = linked([(b"", b"")])
    assert uses.user_ends.tolist() == [0] and among(np.array([0]), [uses]).used.tolist() == []


def test_ends_rise() -> None:
    uses = linked([content({f"name_{at}"}, {f"name_{at - 1}", f"name_{at + 1}"}) for at in range(20)])
    assert all(a <= b for a, b in pairwise(uses.user_ends.tolist())) and uses.user_ends[-1] == len(uses.used)


def test_a_content_of_another_size_is_an_error() -> None:
    with pytest.raises(ValueError, match="buffer size"):
        linked([(b"123", b"")])


@pytest.mark.parametrize("damaged", [np.nan, np.inf, -np.inf, 3e38, -5.0])
def test_a_strength_that_was_damaged_on_disk_is_some_strength(damaged: float) -> None:
    uses = linked([content({"Cart"}, set()), content(set(), {"Cart"})])
    found = among(np.arange(2), [replace(uses, strengths=np.array([damaged], np.float32))])
    assert 0 <= found.strengths.item() <= 12
