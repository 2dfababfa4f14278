"""A cross-encoder in ONNX form, on a small real model that counts the words which question and document share."""

from __future__ import annotations

from pathlib import Path

import pytest

from devmind.errors import UsageError
from devmind.models.rerank import Reranker
from devmind.models.rerank_onnx import OnnxReranker, OnnxRerankerOptions
from tests.models.tiny import save_cross_encoder, save_embedder

DOCUMENTS = ["login and password", "the total price of the cart", "cart", ""]


def opened(folder: Path, **options: int) -> Reranker:
    return OnnxReranker(OnnxRerankerOptions(str(folder), **options))


@pytest.mark.parametrize(("n_labels", "expected"), [(1, (0, 3, 1, 0)), (2, (-1, 2, 0, -1))])
def test_each_document_is_read_together_with_the_question(
    tmp_path: Path, n_labels: int, expected: tuple[float, ...]
) -> None:
    said = opened(save_cross_encoder(tmp_path, n_labels=n_labels)).relevance("price of cart, total", DOCUMENTS)
    assert said.scores == expected
    assert said.n_tokens > 4 * len(["price", "of", "cart", ",", "total"])


def test_the_longer_of_the_two_is_cut(tmp_path: Path) -> None:
    reranker = opened(save_cross_encoder(tmp_path), max_tokens=16)
    assert reranker.relevance("cart tax", ["cart " + "filler " * 30 + "tax", "filler tax cart"]).scores == (1, 2)
    assert reranker.relevance("filler " * 40 + "cart", ["cart"]).scores == (0,)


def test_the_name_is_that_of_the_content(tmp_path: Path) -> None:
    one, two = save_cross_encoder(tmp_path / "a"), save_cross_encoder(tmp_path / "b", n_labels=2)
    assert opened(one).name == opened(one / "model.onnx").name
    assert len({opened(one).name, opened(two).name, opened(one, max_tokens=16).name}) == 3


def test_a_model_that_does_not_score_pairs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"answers \(1, 3\) to a pair.*choose a cross-encoder"):
        opened(save_cross_encoder(tmp_path / "three", n_labels=3)).relevance("q", DOCUMENTS)
    with pytest.raises(UsageError, match="choose a cross-encoder"):
        opened(save_embedder(tmp_path / "embedder")).relevance("q", DOCUMENTS)
    with pytest.raises(UsageError, match="the reranker nowhere is not there"):
        opened(Path("nowhere"))
