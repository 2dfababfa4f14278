"""The client of a reranker against a real server on a loopback socket: forms of request and answer, refusals."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from devmind.errors import UpstreamError
from devmind.models.rerank import Relevance, Reranker
from devmind.models.rerank_remote import RemoteReranker, RemoteRerankerOptions
from devmind.models.wire import Wire, WireOptions
from tests.embed.stub import Answer, Script, Stub, serving

TEXTS = ["one", "two", "three"]


@contextmanager
def client_of(script: Script, *, timeout_s: float = 5.0, **options: Any) -> Iterator[tuple[Reranker, Stub]]:
    with serving(script) as server:
        wire = Wire(WireOptions(timeout_s=timeout_s, headers={"Authorization": "Bearer key"}, secrets=("key",)))
        base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        client = RemoteReranker(RemoteRerankerOptions(base_url, **options), wire)
        try:
            yield client, server
        finally:
            client.close()


def answering(answer: Any, status: int = 200) -> Script:
    return lambda number, body: (status, answer, {})


def results(*pairs: tuple[int, float], key: str = "relevance_score", **more: Any) -> list[dict[str, Any]]:
    return [{"index": index, key: score, **more} for index, score in pairs]


def test_documents_are_asked_in_the_form_of_vllm() -> None:
    answer = {"model": "m", "results": results((1, 0.9), (0, 0.5), (2, 0.1)), "usage": {"total_tokens": 42}}
    with client_of(answering(answer), model="m", max_chars=3, extra={"return_documents": False}) as (client, server):
        assert client.relevance("q", TEXTS) == Relevance((0.5, 0.9, 0.1), 42)
    path, body, authorization = server.requests[0]
    assert (path, authorization) == ("/v1/rerank", "Bearer key")
    expected = {"model": "m", "query": "q", "documents": ["one", "two", "thr"], "top_n": 3, "return_documents": False}
    assert body == expected


def test_texts_are_asked_in_the_other_form() -> None:
    answer = results((2, 7.5), (0, -2.0), (1, 0.0), key="score")
    with client_of(answering(answer), form="texts") as (client, server):
        assert client.relevance("q", TEXTS).scores == (-2.0, 0.0, 7.5)
    assert server.requests[0][1] == {"query": "q", "texts": TEXTS, "truncate": True}


@pytest.mark.parametrize(
    "answer",
    [
        {"data": results((0, 3), (1, 2), (2, 1)), "object": "list"},  # a list called data
        {"results": results((2, 1), (1, 2), (0, 3), document={"text": "one"}), "id": "x"},  # with the documents
        {
            "results": results((0, 3), (1, 2), (2, 1)),
            "meta": {"tokens": {"input_tokens": 9.0}},
        },  # tokens in meta
    ],
)
def test_answers_of_other_forms_are_read(answer: Any) -> None:
    with client_of(answering(answer)) as (client, _):
        assert client.relevance("q", TEXTS).scores == (3.0, 2.0, 1.0)


def test_documents_that_the_endpoint_keeps_to_itself_are_as_bad_as_the_worst() -> None:
    with client_of(answering({"results": results((1, 0.9), (0, 0.2))})) as (client, _):
        assert client.relevance("q", TEXTS).scores == (0.2, 0.9, 0.2)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"results": []}, "without a score"),
        ({"scores": [1, 2, 3]}, "without a list of results"),
        ("text", "without a list of results"),
        ({"results": [1]}, "index None"),
        ({"results": results((3, 1.0))}, "index 3 for 3 documents"),
        ({"results": [{"index": True, "score": 1}]}, "index True"),
        ({"results": [{"index": 0, "score": "high"}]}, "score 'high'"),
        ({"results": [{"index": 0}]}, "score None"),
        (b'{"results": [{"index": 0, "score": NaN}]}', "score nan"),
        ({"results": results((0, 1e300), (1, -1e300), (2, 0.0))}, r"score 1e\+300"),
        ({"results": results((0, 10**400), (1, 1.0), (2, 0.0))}, "score 1000"),
        ({"results": [{"index": "x" * 10_000, "score": 1}]}, "index 'x{60}' for"),
        (b"<html>proxy</html>", "web page"),
        (b"[", "not JSON"),
    ],
)
def test_a_wrong_answer_is_refused(answer: Any, message: str) -> None:
    with client_of(answering(answer)) as (client, server):
        with pytest.raises(UpstreamError, match=message):
            client.relevance("q", TEXTS)
        assert len(server.requests) == 1


def test_a_refusal_is_told_without_the_key_and_not_repeated() -> None:
    with client_of(answering({"error": "key is no key"}, 503)) as (client, server):
        with pytest.raises(UpstreamError, match="HTTP 503") as caught:
            client.relevance("q", TEXTS)
        assert "key" not in str(caught.value).replace("check the key", "")
        assert len(server.requests) == 1


def test_a_late_answer_is_not_waited_for() -> None:
    def slow(number: int, body: dict[str, Any]) -> Answer:
        time.sleep(1.0)
        return 200, {"results": results((0, 1.0))}, {}

    late = pytest.raises(UpstreamError, match=r"did not answer within 0\.1 s")
    with client_of(slow, timeout_s=0.1) as (client, _), late:
        client.relevance("q", TEXTS)


def test_the_name_changes_with_what_changes_the_scores() -> None:
    wire = Wire(WireOptions())
    names = {
        RemoteReranker(options, wire).name
        for options in (
            RemoteRerankerOptions("http://a", "m"),
            RemoteRerankerOptions("http://a", "n"),
            RemoteRerankerOptions("http://a", "m", max_chars=9),
            RemoteRerankerOptions("http://a", "m", extra={"truncate_prompt_tokens": 512}),
            RemoteRerankerOptions("http://a"),
            RemoteRerankerOptions("http://b"),
        )
    }
    assert len(names) == 6


def test_half_a_character_in_a_question_is_sent_as_a_question_mark() -> None:
    with client_of(answering({"results": results((0, 2.0), (1, 1.0))})) as (client, server):
        client.relevance("tax \udcff", ["a", "b"])
    assert server.requests[0][1]["query"] == "tax ?"
