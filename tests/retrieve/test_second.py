"""The second stage over a real index: what it reads, how scores are fused, what a failure leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from devmind.ingest import Report
from devmind.retrieve.rank import SHIPPED, Ranking
from devmind.retrieve.second import fused
from devmind.service import Service
from devmind.settings import Settings
from tests.embed.stub import Answer, Stub, serving
from tests.models.tiny import save_cross_encoder

QUESTION = "total price of the cart"
Add = Callable[[Path], Report]
Judge = Callable[[Sequence[str]], Sequence[float]]


def ranking(*scores: float) -> Ranking:
    values = np.array(scores, np.float32)
    return Ranking(np.arange(len(scores)), values, {"dense": values * 2}, SHIPPED)


@contextmanager
def reranked(kb: Path, judge: Judge, **table: Any) -> Iterator[tuple[Service, Stub]]:
    """A service whose second stage is a served script that scores documents."""

    def script(number: int, body: dict[str, Any]) -> Answer:
        scores = judge(body["documents"])
        answer = {"results": [{"index": i, "relevance_score": s} for i, s in enumerate(scores)]}
        return 200, {**answer, "usage": {"total_tokens": 10}}, {}

    with serving(script) as server:
        base_url = f"http://127.0.0.1:{server.server_address[1]}"
        settings = Settings(kb, reranker={"base_url": base_url, "model": "m", **table})
        with Service(settings) as service:
            yield service, server


def test_half_and_half_of_standardised_scores_orders_the_first_candidates() -> None:
    after = fused(ranking(4, 2, 0, -5), np.array([0, 5, 10], np.float32), weight=0.5)
    assert list(after.rows) == [0, 1, 2, 3]  # opposite opinions cancel out, and ties keep the first order
    np.testing.assert_allclose(after.scores, [2, 2, 2, -5], atol=1e-5)
    np.testing.assert_allclose(after.features["reranked"], [-2, 0, 2, 0], atol=1e-5)
    assert list(after.features["reranker"]) == [0, 5, 10, 0]
    assert list(after.features["dense"]) == [8, 4, 0, -10]


@pytest.mark.parametrize(("weight", "order"), [(0.0, [0, 1, 2, 3]), (1.0, [2, 1, 0, 3])])
def test_the_weight_decides_whose_order_it_is(weight: float, order: list[int]) -> None:
    after = fused(ranking(4, 2, 0, -5), np.array([0, 5, 10], np.float32), weight=weight)
    assert list(after.rows) == order
    assert list(after.scores) == sorted(after.scores, reverse=True)


def test_what_was_not_read_keeps_its_score_and_may_pass_what_was_found_wanting() -> None:
    after = fused(ranking(4, 2, 1), np.array([9, -9], np.float32), weight=1.0)
    np.testing.assert_allclose(after.scores, [4, 2, 1], atol=1e-5)
    after = fused(ranking(4, 4, 3.5), np.array([1, -1], np.float32), weight=1.0)
    assert list(after.rows) == [0, 2, 1]


def test_equal_scores_say_nothing() -> None:
    after = fused(ranking(4, 2, 0), np.array([3, 3, 3], np.float32), weight=0.5)
    assert list(after.rows) == [0, 1, 2]
    assert np.isfinite(after.scores).all()


def test_the_model_reads_headers_and_masked_lines_and_its_favourite_comes_first(shop: Path, add: Add, kb: Path) -> None:
    key = "sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc"
    (shop / "shop" / "pay.py").write_text(f'def total():\n    """Total price."""\n    token = "{key}"\n', "utf-8")
    add(shop)
    judge: Judge = lambda documents: [float("def verify_password" in text) for text in documents]  # noqa: E731
    with reranked(kb, judge, weight=1.0) as (service, server):
        found = service.search(QUESTION)
        assert found.hits[0].symbol == "verify_password"
        assert found.hits[0].why["reranker"] == 1 and found.hits[0].why["reranked"] > 0
        assert found.spent == {"calls": 1, "tokens": 10}
        assert found.timings_ms["rerank"] > 0
        plain = service.search(QUESTION, rerank=False)
        assert plain.hits[0].path == "shop/cart.py" and "reranker" not in plain.hits[0].why
        assert service.search(QUESTION) is found or service.search(QUESTION) == found
    assert len(server.requests) == 1  # the second time it came from the cache
    _, body, _ = server.requests[0]
    assert (body["query"], body["model"], body["top_n"]) == (QUESTION, "m", len(body["documents"]))
    [cart] = [text for text in body["documents"] if "def total_price" in text]
    assert "Sum of all prices, tax included." in cart
    sent = "\n".join(body["documents"])
    assert 'token = "' in sent and key not in sent


def test_only_the_first_candidates_are_sent_and_the_same_text_once(shop: Path, add: Add, kb: Path) -> None:
    (shop / "copy.py").write_text((shop / "shop" / "cart.py").read_text("utf-8"), "utf-8")
    add(shop)
    with reranked(kb, lambda documents: range(len(documents)), top=3) as (service, server):
        service.search(QUESTION)
    documents = server.requests[0][1]["documents"]
    assert 1 < len(documents) < 4 and len(set(documents)) == len(documents)


def test_a_failure_keeps_the_hits_and_says_so_every_time(shop: Path, add: Add, kb: Path) -> None:
    add(shop)
    with reranked(kb, lambda documents: [float("nan")] * len(documents)) as (service, server):
        plain = service.search(QUESTION, rerank=False)
        for _ in range(2):  # a failure is not kept
            found = service.search(QUESTION)
            assert [hit.chunk_id for hit in found.hits] == [hit.chunk_id for hit in plain.hits]
            [warning] = found.warnings
            assert "first stage" in warning and "score nan" in warning
        answer = service.ask(QUESTION)
        assert not answer.abstained and answer.warnings == found.warnings
    assert len(server.requests) == 3


def test_a_cross_encoder_on_this_machine_reorders(shop: Path, add: Add, kb: Path, tmp_path: Path) -> None:
    add(shop)
    folder = save_cross_encoder(tmp_path / "model")
    with Service(Settings(kb, reranker={"kind": "onnx", "path": str(folder), "weight": 1.0})) as service:
        found = service.search("password login account lock price")
        trace = service.trace("password login account lock price")
    assert found.hits[0].why["reranker"] >= max(hit.why["reranker"] for hit in found.hits)
    assert [hit.chunk_id for hit in trace.hits] == [hit.chunk_id for hit in found.hits]
    total = sum(part.astype(np.float64) for part in trace.ranking.parts().values())
    np.testing.assert_allclose(total, trace.ranking.scores, atol=1e-3)
    assert found.spent["calls"] == 1 and found.spent["tokens"] > 50
