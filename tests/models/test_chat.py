"""The client of a chat endpoint against a real server on a loopback socket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from devmind.errors import UpstreamError
from devmind.models.chat import ChatClient, ChatOptions, ChatReply, n_tokens_of
from devmind.models.wire import Wire, WireOptions
from tests.embed.stub import Script, Stub, serving

MESSAGES = [{"role": "user", "content": "say something"}]


@contextmanager
def client_of(script: Script, **options: Any) -> Iterator[tuple[ChatClient, Stub, list[float]]]:
    waits: list[float] = []
    with serving(script) as server:
        base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        wire = Wire(WireOptions(timeout_s=5.0))
        client = ChatClient(ChatOptions(base_url, "m", **options), wire, sleep=waits.append, chance=lambda: 0.5)
        try:
            yield client, server, waits
        finally:
            client.close()


def said(text: Any, **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": text}, **more}]}


def test_messages_are_sent_with_the_further_keys() -> None:
    answer = {**said("hello", finish_reason="stop"), "usage": {"prompt_tokens": 2, "total_tokens": 7}}
    with client_of(lambda number, body: (200, answer, {}), extra={"temperature": 0}) as (client, server, _):
        assert client.reply(MESSAGES) == ChatReply("hello", is_cut=False, n_tokens=7)
    path, body, _ = server.requests[0]
    assert path == "/v1/chat/completions"
    assert body == {"model": "m", "messages": MESSAGES, "temperature": 0}


def test_a_reply_that_was_cut_or_is_no_text_says_so() -> None:
    answers = [said("hel", finish_reason="length"), said(None)]
    with client_of(lambda number, body: (200, answers.pop(0), {})) as (client, _, _):
        assert client.reply(MESSAGES) == ChatReply("hel", is_cut=True, n_tokens=0)
        assert client.reply(MESSAGES) == ChatReply("", is_cut=False, n_tokens=0)


@pytest.mark.parametrize("answer", [{"choices": []}, {"choices": [{"text": "x"}]}, [], {"error": "none"}])
def test_an_answer_without_a_message_is_refused(answer: Any) -> None:
    with client_of(lambda number, body: (200, answer, {})) as (client, _, _):
        with pytest.raises(UpstreamError, match=r"without choices\[0\]\.message") as caught:
            client.reply(MESSAGES)
        assert caught.value.code == "bad_shape"


def test_an_endpoint_that_is_down_for_a_moment_is_asked_again_as_often_as_allowed() -> None:
    answers = [(503, {}, {}), (200, said("back"), {})]
    with client_of(lambda number, body: answers.pop(0), n_tries=2) as (client, server, waits):
        assert client.reply(MESSAGES).text == "back"
        assert (len(server.requests), len(waits)) == (2, 1)
    with client_of(lambda number, body: (503, {}, {})) as (client, server, waits):
        with pytest.raises(UpstreamError, match="HTTP 503"):
            client.reply(MESSAGES)
        assert (len(server.requests), waits) == (1, [])


@pytest.mark.parametrize(
    ("answer", "n_tokens"),
    [
        ({"usage": {"total_tokens": 3}}, 3),
        ({"usage": {"total_tokens": True}}, 0),
        ({"usage": {"total_tokens": -3}}, 0),
        ({"usage": None}, 0),
        ([], 0),
    ],
)
def test_tokens_are_those_that_are_told(answer: Any, n_tokens: int) -> None:
    assert n_tokens_of(answer) == n_tokens
