"""Hits meet the code: text gets lines, and nobody scores with lines that do not exist."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from devmind.errors import UsageError
from devmind.evaluate.datasets.sources import Sources
from devmind.evaluate.measured import Scoring, measure
from devmind.evaluate.placement import placed
from devmind.evaluate.types import Dataset, Response, Retrieved, Run, Span, Topic, Truth

PRICE = Span("shop/cart.py", 18, 20)
PRICE_TEXT = 'def price_of(item):\n    """Look the price up in the catalogue."""\n    return item.price'


@pytest.fixture
def topics() -> Dataset:
    members = (
        Topic("q", "What does an item cost?", truths=(Truth(PRICE),), repo="shop"),
        Topic("trap", "Where is the robot?", "trap", repo="elsewhere"),
    )
    return Dataset("shop", members, "abc")


def run_of(*hits: Retrieved) -> Run:
    return Run("sys", "shop", {"q": Response("q", hits), "trap": Response("trap", hits)}, 10)


def test_text_without_lines_gets_them(topics: Dataset, shop: Path) -> None:
    run = run_of(Retrieved(None, "never written anywhere, by nobody"), Retrieved(None, PRICE_TEXT), Retrieved(PRICE))
    found = placed(topics, run, Sources({"": shop}))
    assert found.run.responses["q"].hits[1].span == PRICE
    assert found.n_by_method == {"unmapped": 1, "exact": 1, "given": 1}
    assert found.unmapped_share == pytest.approx(1 / 3)
    assert run.responses["q"].hits[1].span is None  # the run itself stays as it came
    measured = measure(topics, run, Scoring(code=Sources({"": shop})))
    assert measured.scores.overall["RR@10"].mean == 0.5
    assert measured.scores.overall["unmapped"].mean == pytest.approx(1 / 3)


def test_without_code_text_stays_without_lines(topics: Dataset) -> None:
    found = placed(topics, run_of(Retrieved(None, PRICE_TEXT), Retrieved(PRICE)), None)
    assert (found.n_by_method, found.with_code) == ({"unmapped": 1, "given": 1}, False)


@pytest.mark.parametrize("span", [
    Span("shop/cart.py", 1, 10**6), Span("shop/cart.py", 19, 21), Span("shop/gone.py", 1, 5), Span("shop/gone.py"),
])  # fmt: skip
def test_a_hit_outside_its_file_keeps_its_rank_and_finds_nothing(topics: Dataset, shop: Path, span: Span) -> None:
    hits = (Retrieved(span, PRICE_TEXT), Retrieved(PRICE, PRICE_TEXT))
    measured = measure(topics, run_of(*hits), Scoring(code=Sources({"": shop})))
    assert measured.scores.overall["RR@10"].mean == 0.5
    (outside,) = measured.placed.outside
    assert "topic 'q': hits[0].span" in outside and span.file in outside


def test_a_truth_outside_the_code_is_an_error_that_names_it(topics: Dataset, shop: Path) -> None:
    for span, named in ((Span("shop/cart.py", 18, 99), "has 20 lines"), (Span("shop/no.py", 1, 2), "does not exist")):
        wrong = replace(topics, topics=(replace(topics.topics[0], truths=(Truth(span),)),))
        with pytest.raises(UsageError, match=rf"topic 'q': truths\[0\].*{named}"):
            placed(wrong, run_of(Retrieved(PRICE)), Sources({"": shop}))


def test_a_hit_reads_nothing_outside_the_folder(topics: Dataset, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("one\ntwo\n")
    (shop / "link.txt").symlink_to(tmp_path / "secret.txt")
    for path in ("../secret.txt", str(tmp_path / "secret.txt"), "link.txt", "a\0b"):
        assert Sources({"": shop})("shop", "", path) is None
        assert Sources({"": shop}).many("shop", "", [path]) == {path: None}
    found = placed(topics, run_of(Retrieved(Span("../secret.txt", 1, 2))), Sources({"": shop}))
    assert len(found.outside) == 1


def test_many_files_of_a_commit_are_read_together(shop: Path, git: Callable[..., Any]) -> None:
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        git(shop, *command)
    commit = git(shop, "rev-parse", "HEAD")
    (shop / "shop/cart.py").write_text("changed = 1\n")
    texts = Sources({"": shop}).many("shop", commit, ["shop/cart.py", "shop/none.py", "shop/cart.py"])
    assert list(texts) == ["shop/cart.py", "shop/none.py"]
    assert texts["shop/none.py"] is None
    assert "class Cart" in (texts["shop/cart.py"] or "")


def test_a_repository_without_source_is_named(topics: Dataset, shop: Path) -> None:
    with pytest.raises(UsageError, match="no source for the repository 'shop'"):
        placed(topics, run_of(Retrieved(PRICE)), Sources({"other": shop}))
