"""The remote client against a real server on a loopback socket: what it sends, repeats and refuses to believe."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from devmind.embed.remote import RemoteEmbedder, RemoteOptions
from devmind.embed.types import ChunkText, Embedder
from devmind.errors import UpstreamError, UsageError
from tests.embed.stub import Answer, Script, Stub, serving


@contextmanager
def client_of(script: Script, **options: Any) -> Iterator[tuple[RemoteEmbedder, Stub, list[float]]]:
    """A client of a served script, with the waits it asked for instead of waiting."""
    waits: list[float] = []
    with serving(script) as server:
        base = f"http://127.0.0.1:{server.server_address[1]}/v1/"
        client = RemoteEmbedder(RemoteOptions(base_url=base, model="m", dim=3, **options), sleep=waits.append)
        try:
            yield client, server, waits
        finally:
            client.close()


def vector_of(text: str) -> list[float]:
    return [float(len(text)), 2.0, 0.0]


def good(number: int, body: dict[str, Any]) -> Answer:
    data = [{"index": i, "embedding": vector_of(t)} for i, t in enumerate(body["input"])]
    return 200, {"data": data[::-1]}, {}


def expected(*texts: str) -> np.ndarray:
    rows = np.array([vector_of(t) for t in texts], np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def test_vectors_are_put_in_order_by_index_scaled_and_batched() -> None:
    with client_of(good, batch=2, api_key="secret") as (client, server, waits):
        embedder: Embedder = client
        rows = embedder.embed_queries(["a", "bbb", "", "cc"])
        assert rows.dtype == np.float32
        np.testing.assert_allclose(rows[[0, 1, 3]], expected("a", "bbb", "cc"), rtol=1e-6)
        assert not rows[2].any()
        assert [len(body["input"]) for _, body, _ in server.requests] == [2, 1]
        path, body, authorization = server.requests[0]
        assert path == "/v1/embeddings" and body["model"] == "m" and authorization == "Bearer secret"
        assert "dimensions" not in body and waits == []


def test_chunks_are_joined_and_prefixed() -> None:
    with client_of(good, query_prefix="query: ", text_prefix="passage: ", send_dim=True) as (client, server, _):
        client.embed_chunks([ChunkText(name="f", header="", body="x = 1"), ChunkText(name="", header="", body=" ")])
        client.embed_chunks([ChunkText(name="g", header="Does b.", body="y")])
        client.embed_queries(["where"])
        assert [body["input"] for _, body, _ in server.requests] == [
            ["passage: f\nx = 1"],
            ["passage: g\nDoes b.\ny"],
            ["query: where"],
        ]
        assert server.requests[0][1]["dimensions"] == 3


def test_the_name_changes_with_what_changes_the_vectors() -> None:
    plain = RemoteOptions(base_url="http://localhost", model="m", dim=3)
    prefixed = RemoteOptions(base_url="http://localhost", model="m", dim=3, query_prefix="q: ")
    assert RemoteEmbedder(plain).name == "remote:m:3" != RemoteEmbedder(prefixed).name


def test_a_rate_limit_is_waited_out() -> None:
    def script(number: int, body: dict[str, Any]) -> Answer:
        return (429, {"error": "slow down"}, {"retry-after": "7"}) if number == 1 else good(number, body)

    with client_of(script) as (client, server, waits):
        np.testing.assert_allclose(client.embed_queries(["a"]), expected("a"), rtol=1e-6)
        assert len(server.requests) == 2 and waits == [7.0]


def test_server_errors_are_repeated_with_growing_waits_and_then_raised_as_retryable() -> None:
    with client_of(lambda number, body: (503, b"busy", {})) as (client, server, waits):
        with pytest.raises(UpstreamError, match=r"HTTP 503.*busy") as caught:
            client.embed_queries(["a"])
        assert caught.value.retryable
        assert len(server.requests) == 4 and waits == [0.5, 1.0, 2.0]


def test_a_server_that_asks_for_a_long_pause_is_not_waited_for() -> None:
    with client_of(lambda number, body: (429, b"", {"retry-after": "3600"})) as (client, server, waits):
        with pytest.raises(UpstreamError) as caught:
            client.embed_queries(["a"])
        assert caught.value.retryable and len(server.requests) == 1 and waits == []


def test_a_refusal_is_not_repeated() -> None:
    with client_of(lambda number, body: (401, b"no", {})) as (client, server, _):
        with pytest.raises(UpstreamError, match="check the key") as caught:
            client.embed_queries(["a"])
        assert not caught.value.retryable and len(server.requests) == 1


def test_a_timeout_is_repeated_and_then_raised_as_retryable() -> None:
    def script(number: int, body: dict[str, Any]) -> Answer:
        time.sleep(0.5)
        return good(number, body)

    with client_of(script, timeout_s=0.1, n_retries=1) as (client, _, waits):
        with pytest.raises(UpstreamError, match="did not answer within") as caught:
            client.embed_queries(["a"])
        assert caught.value.retryable and waits == [0.5]


def test_nobody_listening_is_retryable() -> None:
    with serving(good) as server:
        port = server.server_address[1]
    options = RemoteOptions(base_url=f"http://127.0.0.1:{port}", model="m", dim=3, n_retries=1)
    client = RemoteEmbedder(options, sleep=lambda _: None)
    with pytest.raises(UpstreamError, match="refused the connection") as caught:
        client.embed_queries(["a"])
    client.close()
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"<html>proxy</html>", "a web page"),
        (b"proxy", "not JSON"),
        (b"[" * 200_000, "not JSON"),
        ({"data": "x"}, "without a list"),
        ([1], "without a list"),
        ({"data": [{"embedding": [1, 2, 3]}]}, "1 vectors for 2 texts"),
        ({"data": [{"index": 0, "embedding": [1, 2, 3]}] * 2}, "do not number"),
        ({"data": [{"index": i, "embedding": [1, 2]} for i in (0, 1)]}, "2 dimensions, 3 are configured"),
        ({"data": [{"index": i, "embedding": [1, 2, "x"]} for i in (0, 1)]}, "no numbers"),
        ({"data": [{"index": i, "embedding": [1, 2, "3"]} for i in (0, 1)]}, "no numbers"),
        ({"data": [{"index": i, "embedding": [1, 2, None]} for i in (0, 1)]}, "no numbers"),
        ({"data": [{"index": i, "embedding": [True] * 3} for i in (0, 1)]}, "no numbers"),
        ({"data": [{"index": i, "embedding": [1, 2, [3]]} for i in (0, 1)]}, "no numbers"),
        ({"data": [{"index": i, "embedding": [1, 2, 10**400]} for i in (0, 1)]}, "no numbers"),
        ({"data": [{"index": i, "embedding": [1, 2, 1e300]} for i in (0, 1)]}, "not finite"),
        (b'{"data": [{"index": 0, "embedding": [NaN, 1, 1]}, {"index": 1, "embedding": [1, 1, 1]}]}', "not finite"),
    ],
)
def test_a_wrong_answer_is_refused(answer: Any, message: str) -> None:
    with client_of(lambda number, body: (200, answer, {})) as (client, server, _):
        with pytest.raises(UpstreamError, match=message) as caught:
            client.embed_queries(["a", "b"])
        assert not caught.value.retryable and len(server.requests) == 1


@pytest.mark.parametrize("base_url", ["http://host:port", "localhost:8080/v1", "ftp://host"])
def test_an_address_that_is_no_url_is_named(base_url: str) -> None:
    with pytest.raises(UsageError, match=r"\[embedder\] base_url .* is no"):
        RemoteEmbedder(RemoteOptions(base_url=base_url, model="m", dim=3))


KEY = "sk-0123456789abcdef"


@pytest.mark.parametrize("status", [200, 401, 429, 500])
@pytest.mark.parametrize("n_before", [0, 180, 195])  # messages are cut: what is left of a key is a part of it
def test_an_endpoint_that_repeats_the_key_does_not_get_it_shown(status: int, n_before: int) -> None:
    said = b"x" * n_before + f"Bearer {KEY}".encode()
    with client_of(lambda number, body: (status, said, {}), api_key=KEY, n_retries=0) as (client, _, _):
        with pytest.raises(UpstreamError) as caught:
            client.embed_queries(["a"])
        assert KEY[:4] not in str(caught.value)


def test_an_answer_that_cannot_be_unpacked_is_refused() -> None:
    packed = {"content-encoding": "gzip"}
    with (
        client_of(lambda number, body: (200, b"no gzip", packed), n_retries=0) as (client, _, _),
        pytest.raises(UpstreamError, match="decompressed"),
    ):
        client.embed_queries(["a"])


def test_a_closed_client_opens_again() -> None:
    with client_of(good) as (client, _, _):
        client.embed_queries(["a"])
        client.close()
        client.close()
        np.testing.assert_allclose(client.embed_queries(["a"]), expected("a"), rtol=1e-6)
