"""An ablation leaves out the part that it names, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bench.runs import candidate_ranks
from bench.topics import names_file
from bench.variants import LEGS, Variant, ablations, check_legs
from devmind.embed.choose import open_embedder
from devmind.index.lexical import WEIGHTS
from devmind.ingest import Report
from devmind.retrieve import STEPS, Request, Retriever, Steps
from devmind.retrieve.query import Query
from devmind.retrieve.trace import Trace

Search = Callable[[str, str], Trace]
FEATURE_OF_LEG = {"lexical": "lexical", "dense": "dense", "symbol": "defines"}


@pytest.fixture
def search(shop: Path, add: Callable[[Path], Report], tmp_path: Path) -> Iterator[Search]:
    """Return a function that searches the shop without a part."""
    add(shop)
    by_key = {variant.key: variant for variant in ablations()}

    def searched(left_out: str, query: str) -> Trace:
        steps = by_key[left_out].steps if left_out else STEPS
        with closing(Retriever(tmp_path / "kb", open_embedder(None), steps=steps)) as retriever:
            return retriever.trace(Request(query), legs=False)

    yield searched


def test_every_leg_and_field_has_an_ablation() -> None:
    check_legs()
    keys = {variant.key for variant in ablations()}
    assert {f"leg-{leg}" for leg in LEGS} | {f"field-{field}" for field in WEIGHTS} <= keys


@pytest.mark.parametrize("leg", LEGS)
def test_a_leg_left_out_says_nothing_and_the_others_speak(search: Search, leg: str) -> None:
    whole, without = search("", "total_price"), search(f"leg-{leg}", "total_price")
    for other, feature in FEATURE_OF_LEG.items():
        assert whole.ranking.features[feature].any()
        assert without.ranking.features[feature].any() == (other != leg)


@pytest.mark.parametrize(("field", "only_there"), [("body", "permissionerror"), ("path", "login")])
def test_a_field_left_out_is_not_searched(search: Search, field: str, only_there: str) -> None:
    assert search("", only_there).ranking.features["lexical"].any()
    others = {name for name in WEIGHTS if name != field}
    found = {name: search(f"field-{name}", only_there).ranking.features["lexical"].max() for name in others}
    assert search(f"field-{field}", only_there).ranking.features["lexical"].max() < max(found.values())


def test_without_joined_names_only_written_ones_are_looked_up(search: Search) -> None:
    assert "total_price" in asked(search("", "购物车总价怎么计算，见 add_item")).identifiers
    assert asked(search("chinese-joined", "购物车总价怎么计算，见 add_item")).identifiers == ("add_item",)


def test_without_glossary_only_what_is_written_is_searched(search: Search) -> None:
    whole, without = (asked(search(key, "校验用户密码 quantity")) for key in ("", "chinese-glossary"))
    assert "password" in whole.weights and "password" not in without.weights
    assert "quantiti" in without.weights and "密码" in without.weights


def test_candidate_ranks_count_files(search: Search) -> None:
    trace = search("", "verify_password")
    assert candidate_ranks(trace, ("shop/login.py", "nowhere.py")) == [1, 0]


@pytest.mark.parametrize(
    ("query", "files", "named"),
    [
        ("how routers dispatch", ("src/router.py",), True),
        ("how requests dispatch", ("src/router.py",), False),
        ("the lazy_loading of parts", ("a/loading-lazy.js", "b.js"), True),
    ],
)
def test_names_file(query: str, files: tuple[str, ...], named: bool) -> None:
    assert names_file(query, files) is named


def test_steps_are_the_products_own_by_default() -> None:
    assert Steps() == STEPS == Variant("base", "all").steps


def asked(trace: Trace) -> Query:
    return trace.query
