"""Questions reworded by a chat model: how a reply is read, what it adds to a search, what a failure leaves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from devmind.embed.static import built_in
from devmind.ingest import Report
from devmind.retrieve.query import understand
from devmind.retrieve.reword import MAX_REWRITE_CHARS, read_rewrites
from devmind.retrieve.rewrites import widened
from devmind.service import Service
from devmind.settings import Settings
from tests.embed.stub import Answer, Stub, serving

Add = Callable[[Path], Report]
VAGUE = "what does a customer owe"
HELPFUL = ["sum of all prices, tax included", "total_price price_of TAX_RATE"]


def query_of(text: str) -> Any:
    return understand(text, df=lambda term: 1, n_chunks=100)


@contextmanager
def rewording(kb: Path, reply: str | Callable[[int], Answer], **table: Any) -> Iterator[tuple[Service, Stub]]:
    def script(number: int, body: dict[str, Any]) -> Answer:
        if callable(reply):
            return reply(number)
        choice = {"message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}
        return 200, {"choices": [choice], "usage": {"total_tokens": 77}}, {}

    with serving(script) as server:
        base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        with Service(Settings(kb, expansion={"base_url": base_url, "model": "m", **table})) as service:
            yield service, server


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('["a b", "c"]', ("a b", "c")),
        ('```json\n["a", "b"]\n```', ("a", "b")),
        ('<think>["no"]</think>\n["a"]', ("a",)),
        ('["a", "a", " a ", "", "the question", "b"]', ("a", "b")),
        ('["a", "b", "c", "d"]', ("a", "b", "c")),
        (json.dumps(["x" * (MAX_REWRITE_CHARS + 1), "a\nb"]), ("a b",)),
        ('Here you are: ["a"]', ()),
        ('["a"] and more', ()),
        ('{"queries": ["a"]}', ()),
        ('["a", 1]', ()),
        ('["a", ["b"]]', ()),
        ("[" * 100_000, ()),
        ("", ()),
    ],
)
def test_a_reply_is_a_list_of_short_texts_or_nothing(text: str, expected: tuple[str, ...]) -> None:
    assert read_rewrites(text, question="the question", n=3) == expected


def test_other_wordings_add_terms_names_and_vectors_and_the_question_counts_most() -> None:
    query = query_of("cart price")
    wide = widened(query, [query_of("price of `total_price`"), query_of("checkout counter")], weight=0.5)
    assert wide.weights["price"] == pytest.approx(query.weights["price"] + 0.25)
    assert wide.weights["cart"] == query.weights["cart"] == 1
    assert wide.weights["checkout"] == 0.25
    assert wide.identifiers == (*query.identifiers, "total_price")
    assert [weight for _, weight in wide.also] == [0.25, 0.25]
    assert (wide.text, wide.groups, wide.english) == (query.text, query.groups, query.english)
    assert widened(query, [], weight=0.5) is query


def test_one_search_for_all_is_the_sum_of_the_searches(shop: Path, add: Add, kb: Path) -> None:
    """What the design rests on: cosine and BM25 of the joined query are the weighted sums of those of its parts."""
    add(shop)
    with Service(Settings(kb)) as service:
        one, two = query_of("cart total"), query_of("password total")
        both = widened(one, [two], weight=0.5)
        lexical = service.retriever.published
        with service.catalog.reading():
            lexical.take_up()
            scores = [dict(lexical.lexical.search(q.weights, k=100, repo_ids=())) for q in (one, two, both)]
        for key, score in scores[2].items():
            assert score == pytest.approx(scores[0].get(key, 0.0) + 0.5 * scores[1].get(key, 0.0), rel=1e-4)
        traced = service.trace("cart total")
    vectors = built_in().embed_queries([one.english, two.english])
    joined = (vectors[0] + 0.5 * vectors[1]) / 2  # what is beyond 1 would be cut
    rows = np.arange(traced.view.n)
    apart = (traced.view.cosines(vectors[0], rows) + 0.5 * traced.view.cosines(vectors[1], rows)) / 2
    np.testing.assert_allclose(traced.view.cosines(joined, rows), apart, atol=1e-4)


def test_a_reworded_question_finds_what_its_own_words_do_not(shop: Path, add: Add, kb: Path) -> None:
    add(shop)
    with rewording(kb, json.dumps(HELPFUL), n=2, weight=1.0, body={"temperature": 0}) as (service, server):
        found = service.search(VAGUE)
        plain = service.search(VAGUE, expand=False)
        assert service.search(VAGUE).hits == found.hits
        traced = service.trace(VAGUE)
    assert found.rewrites == tuple(HELPFUL) and plain.rewrites == ()
    assert found.hits[0].path == "shop/cart.py"
    assert found.hits[0].score != plain.hits[0].score
    assert found.spent == {"calls": 1, "tokens": 77} and plain.spent == {}
    assert found.timings_ms["total"] >= found.timings_ms["expand"] > 0
    assert [hit.chunk_id for hit in traced.hits] == [hit.chunk_id for hit in found.hits]
    assert len(server.requests) == 1  # a question is reworded once
    path, body, _ = server.requests[0]
    assert path == "/v1/chat/completions" and (body["model"], body["temperature"]) == ("m", 0)
    system, user = body["messages"]
    assert service.stages == {"expansion": 'm n 2 weight 1 {"temperature": 0}'}
    assert "exactly 2 strings" in system["content"] and user == {"role": "user", "content": VAGUE}
    assert "price_of" not in json.dumps(body)  # nothing of the code is sent


@pytest.mark.parametrize(
    "reply",
    [
        "I cannot do that.",
        lambda number: (500, b"busy", {}),
        lambda number: (200, {"choices": []}, {}),
    ],
)
def test_a_failure_searches_the_question_alone_and_says_so(
    reply: str | Callable[[int], Answer], shop: Path, add: Add, kb: Path
) -> None:
    add(shop)
    with rewording(kb, reply) as (service, server):
        plain = service.search(VAGUE, expand=False)
        for _ in range(2):
            found = service.search(VAGUE)
            assert [hit.chunk_id for hit in found.hits] == [hit.chunk_id for hit in plain.hits]
            assert found.rewrites == () and len(found.warnings) == 1
            assert "not reworded" in found.warnings[0]
    assert plain.warnings == () and len(server.requests) == 2
