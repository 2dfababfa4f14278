"""Terms of whole files: BM25 over arrays is BM25 by hand, over one part or several, and bears damaged arrays."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devmind.index.postings import K1, B, bm25, gathered, hashes, packed

WORDS = st.sampled_from(["parse", "token", "登录", "cart", "price", "x1", "naïve"])
FILES = st.lists(st.lists(st.lists(WORDS, max_size=12), max_size=3), min_size=1, max_size=8)


def by_hand(weights: dict[str, float], files: list[list[str]]) -> list[float]:
    mean = sum(map(len, files)) / len(files)
    scores = []
    for words in files:
        counts, norm = Counter(words), K1 * (1 - B + B * len(words) / max(mean, 1e-9))
        df = {term: sum(term in other for other in files) for term in weights}
        scores.append(
            sum(
                weight
                * log(1 + (len(files) - df[term] + 0.5) / (df[term] + 0.5))
                * counts[term]
                / (counts[term] + norm)
                for term, weight in weights.items()
                if counts[term]
            )
        )
    return scores


@given(files=FILES, weights=st.dictionaries(WORDS, st.floats(0.1, 2.0), max_size=5), cut=st.integers(0, 8))
def test_scores_are_bm25_whatever_the_parts(files: list[list[list[str]]], weights: dict[str, float], cut: int) -> None:
    contents = [packed(" ".join(chunk) for chunk in chunks) for chunks in files]
    parts = [gathered(contents[:cut]), gathered(contents[cut:])]
    expected = by_hand(weights, [[word for chunk in chunks for word in chunk] for chunks in files])
    assert bm25(weights, parts) == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert bm25(weights, [gathered(contents)]) == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_counts_stop_where_they_say_nothing_more() -> None:
    many, more = (gathered([packed(["price " * n]), packed(["cart"])]) for n in (255, 10_000))
    assert many.counts.tolist() == more.counts.tolist()


def test_nothing_asked_and_nothing_there() -> None:
    assert bm25({"price": 1.0}, []).tolist() == []
    assert bm25({"price": 1.0}, [gathered([])]).tolist() == []
    assert bm25({}, [gathered([packed(["price"])])]).tolist() == [0.0]
    assert bm25({"price": 1.0}, [gathered([b"", b""])]).tolist() == [0.0, 0.0]
    assert hashes([]).tolist() == []


def test_a_damaged_array_blurs_a_score_and_no_more() -> None:
    whole = gathered([packed(["price of a cart"]), packed(["price"])])
    holders = whole.holders.copy()
    holders[:] = [-7, 2**31 - 1, *holders[2:]]
    scores = bm25({"price": 1.0, "of": 1.0, "cart": 1.0}, [replace(whole, holders=holders)])
    assert scores.shape == (2,) and np.isfinite(scores).all()


def test_a_content_of_another_size_is_an_error() -> None:
    with pytest.raises(ValueError, match="buffer size"):
        gathered([b"123"])
