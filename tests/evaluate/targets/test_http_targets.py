"""Every HTTP target against a server that speaks as its system does, on a loopback socket, well and badly."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from devmind.errors import UpstreamError
from devmind.evaluate.runner import Clocks, RunOptions, ask
from devmind.evaluate.targets import Target
from devmind.evaluate.types import Response, Span, Topic
from tests.evaluate.opened import HTTP_TARGETS, Opener, closing, open_config
from tests.evaluate.stubs import COMMIT, KEY, Anything, Asked, Dify, OpenAI, Reply, as_json

CART = Topic("t1", "What is the total price of the cart?")
NOTHING = Topic("t2", "zebra quagga")


def asked(target: Target, topic: Topic = CART, *, k: int = 5, n_tries: int = 1, timeout_s: float = 5.0) -> Response:
    """Ask as a run does, without waiting between attempts."""
    options = RunOptions(n_tries=n_tries, timeout_s=timeout_s)
    response = ask(target, topic, k=k, options=options, clocks=Clocks(sleep=lambda _: None))
    assert response is not None
    return response


def spans(response: Response) -> list[Span | None]:
    return [hit.span for hit in response.hits]


CART_SPANS = [Span("shop/cart.py", 6, 17), Span("shop/cart.py", 20, 22)]


@pytest.mark.parametrize("name", ["devmind", "devmind-ask", "openai-store", "generic"])
def test_hits_have_their_places(name: str, open_on: Opener) -> None:
    target, _ = open_on(name)
    response = asked(target)
    assert response.failure is None
    assert spans(response)[:2] == CART_SPANS
    assert all(hit.text and hit.file for hit in response.hits)
    assert response.seconds > 0
    assert spans(asked(target, k=1)) == CART_SPANS[:1]
    assert asked(target, NOTHING).hits == ()


@pytest.mark.parametrize("name", ["dify-retrieve", "dify-chat", "dify-stream"])
def test_text_without_lines_keeps_its_document_name(name: str, open_on: Opener) -> None:
    target, _ = open_on(name)
    hits = asked(target).hits
    assert [(hit.span, hit.file) for hit in hits[:2]] == [(None, "shop/cart.py")] * 2
    assert hits[0].text.startswith("class Cart")
    assert hits[0].score is not None


@pytest.mark.parametrize("name", ["devmind-ask", "dify-chat", "dify-stream", "openai-chat", "generic"])
def test_answers_have_their_citations_and_refusals_are_seen(name: str, open_on: Opener) -> None:
    target, _ = open_on(name)
    response = asked(target)
    assert response.answer is not None
    assert response.answer.startswith("See `Cart`")
    assert list(response.cited)[:2] == CART_SPANS
    assert not response.abstained
    refusal = asked(target, NOTHING)
    assert (refusal.abstained, refusal.cited) == (True, ())


def test_the_places_that_a_chat_model_cites_stand_for_its_hits(open_on: Opener) -> None:
    target, stub = open_on("openai-chat")
    response = asked(target)
    assert spans(response) == CART_SPANS
    assert response.hits[0].symbol == "Cart"
    body = stub.asked[0].body
    assert (body["model"], body["temperature"], [m["role"] for m in body["messages"]]) == (
        "some-model", 0, ["system", "user"],
    )  # fmt: skip


def test_a_refusal_field_and_a_cut_answer_are_seen(open_on: Opener) -> None:
    class Refusing(OpenAI):
        def reply(self, asked: Asked) -> Reply:
            if asked.body["messages"][-1]["content"] == "cut":
                return as_json({"choices": [{"message": {"content": "The cart is"}, "finish_reason": "length"}]})
            return as_json({"choices": [{"message": {"content": None, "refusal": "I cannot."}}]})

    target, _ = open_on("openai-chat", system=Refusing())
    response = asked(target)
    assert (response.abstained, response.answer) == (True, "I cannot.")
    assert asked(target, Topic("t", "cut")).notes == ("answer_cut",)


def test_devmind_is_asked_for_the_topics_repository_and_an_unknown_one_is_no_filter(open_on: Opener) -> None:
    target, stub = open_on("devmind")
    assert asked(target, Topic("t1", CART.query, repo="shop")).notes == ()
    assert stub.asked[-1].body["repos"] == ["shop"]
    for _ in range(2):
        response = asked(target, Topic("t1", CART.query, repo="elsewhere"))
        assert (response.notes, spans(response)[:2]) == (("repo_not_indexed",), CART_SPANS)
    assert len(stub.asked) == 4  # the second time it is known that the server lacks it


def test_devmind_that_searched_another_commit_is_noted(open_on: Opener) -> None:
    target, _ = open_on("devmind")
    assert asked(target, Topic("t1", CART.query, repo="shop", commit=COMMIT[:12])).notes == ()
    assert asked(target, Topic("t1", CART.query, repo="shop", commit="0" * 40)).notes == ("other_commit",)


def test_dify_takes_250_characters_and_the_cut_is_noted(open_on: Opener) -> None:
    target, stub = open_on("dify-retrieve")
    response = asked(target, Topic("t1", "cart " * 60))
    assert (response.failure, response.notes) == (None, ("query_truncated",))
    assert stub.asked[0].body["query"] == ("cart " * 50).strip()
    assert stub.asked[0].body["retrieval_model"] == {
        "search_method": "hybrid_search", "reranking_enable": False, "score_threshold_enabled": False, "top_k": 5,
    }  # fmt: skip
    assert asked(target).notes == ()


def test_dify_agents_stream_and_their_closing_message_is_no_second_answer(open_on: Opener) -> None:
    target, _ = open_on("dify-stream", system=Dify(agent=True))
    response = asked(target)
    assert response.answer is not None
    assert response.answer.count("See `Cart`") == 1
    assert len(response.hits) == 3
    blocking, _ = open_on("dify-chat", system=Dify(agent=True))
    failure = asked(blocking).failure
    assert failure is not None
    assert (failure.kind, "does not support blocking" in failure.message) == ("http_400", True)


def test_dify_answers_without_sources_have_no_hits(open_on: Opener) -> None:
    target, _ = open_on("dify-chat", system=Dify(names=False))
    response = asked(target)
    assert response.hits == ()
    assert list(response.cited) == CART_SPANS


@pytest.mark.parametrize("event", [
    {"event": "error", "status": 400, "code": "completion_request_error", "message": "model overloaded"},
    {"event": "workflow_finished", "data": {"status": "failed", "error": "model overloaded"}},
])  # fmt: skip
def test_an_error_in_the_middle_of_a_stream_is_a_failure(event: dict[str, object], open_on: Opener) -> None:
    class Failing(Dify):
        def reply(self, asked: Asked) -> Reply:
            lines = as_json({"event": "message", "answer": "The"}).body + b"\n\ndata: " + as_json(event).body
            return Reply(b"data: " + lines + b"\n\n", headers={"content-type": "text/event-stream; charset=utf-8"})

    target, _ = open_on("dify-stream", system=Failing())
    failure = asked(target).failure
    assert failure is not None
    assert failure.kind == "stream_error"
    assert "model overloaded" in failure.message


def test_a_vector_store_gives_fifty_at_most_and_the_limit_is_noted(open_on: Opener) -> None:
    target, stub = open_on("openai-store")
    assert asked(target, k=100).notes == ("k_limited",)
    assert stub.asked[0].body["max_num_results"] == 50


def test_a_get_request_carries_the_question_in_its_address(tmp_path: Path, open_on: Opener) -> None:
    _, stub = open_on("generic")
    text = f'''
url = "{stub.url}/find?q={{{{query}}}}&n={{{{k}}}}&of={{{{repo}}}}"
method = "GET"
headers.Authorization = "Bearer {{{{env:STUB_KEY}}}}"
response.list = "$.results[*]"
response.text = "$.snippet"
'''
    with closing(open_config(tmp_path, "generic-get", text)) as target:
        query = "total & price? {{k}} 价格 100%"
        response = asked(target, Topic("t", query, repo="a b"), k=2)
        assert stub.asked[-1].query == {"q": query, "n": "2", "of": "a b"}
        assert response.hits[0].text.startswith("class Cart")
        assert response.hits[0].span is None


# Faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HTTP_TARGETS)
@pytest.mark.parametrize(("fault", "kinds", "n_tries"), [
    ("500", {"http_500"}, 2),
    ("429", {"http_429"}, 2),
    ("401", {"http_401"}, 1),
    ("html", {"html"}, 1),
    ("not_json", {"not_json", "stream_error"}, 1),
    ("shape", {"bad_shape", "stream_error"}, 1),
    ("half", {"truncated"}, 2),
    ("early_end", {"not_json", "truncated"}, None),
    ("close", {"disconnected"}, 2),
])  # fmt: skip
def test_every_fault_is_a_failure_of_its_kind(
    name: str, fault: str, kinds: set[str], n_tries: int | None, open_on: Opener
) -> None:
    target, stub = open_on(name, faults=(fault, fault))
    response = asked(target, n_tries=2)
    assert response.failure is not None, response
    assert response.failure.kind in kinds
    assert (response.hits, response.answer) == ((), None)
    assert stub.url.removeprefix("http://") in response.failure.message
    assert KEY not in response.failure.message
    if n_tries is not None:
        assert (response.failure.n_tries, len(stub.asked)) == (n_tries, n_tries)
    stub.heal()
    assert asked(target).failure is None  # the next topic is not harmed


@pytest.mark.parametrize("name", HTTP_TARGETS)
@pytest.mark.parametrize("fault", ["500", "429", "half", "close"])
def test_what_passes_is_tried_again(name: str, fault: str, open_on: Opener) -> None:
    target, stub = open_on(name, faults=(fault, "-"))
    response = asked(target, n_tries=2)
    assert (response.failure, len(stub.asked)) == (None, 2)
    assert response.hits


@pytest.mark.parametrize("name", HTTP_TARGETS)
@pytest.mark.parametrize("fault", ["slow", "drip"])
def test_a_whole_answer_has_to_come_in_time(name: str, fault: str, open_on: Opener) -> None:
    target, _ = open_on(name, faults=(fault,), timeout_s=0.3)
    response = asked(target, timeout_s=0.3)
    assert response.failure is not None
    assert response.failure.kind == "timeout"
    assert response.seconds < 1.2


@pytest.mark.parametrize("name", HTTP_TARGETS)
def test_nobody_listening_is_a_refused_connection(name: str, open_on: Opener) -> None:
    target, stub = open_on(name)
    stub.shutdown()
    stub.server_close()
    failure = asked(target, n_tries=2).failure
    assert failure is not None
    assert (failure.kind, failure.n_tries) == ("refused", 2)
    assert "check that it runs" in failure.message


def test_a_host_that_has_no_address_is_named(tmp_path: Path) -> None:
    target = open_config(tmp_path, "devmind", 'base_url = "http://no-such-host.invalid"')
    with closing(target):
        failure = asked(target).failure
    assert failure is not None
    assert failure.kind == "dns"


@pytest.mark.parametrize("dated", [False, True])
def test_the_pause_that_a_server_asks_for_is_kept(dated: bool, open_on: Opener) -> None:
    class Busy(Anything):
        n_asked = 0

        def reply(self, asked: Asked) -> Reply:
            self.n_asked += 1
            if self.n_asked > 1:
                return super().reply(asked)
            pause = format_datetime(datetime.now(UTC) + timedelta(seconds=9), usegmt=True) if dated else "9"
            return Reply(b"busy", 503, {"retry-after": pause})

    waits: list[float] = []
    target, _ = open_on("generic", system=Busy())
    response = ask(target, CART, k=3, clocks=Clocks(sleep=waits.append))
    assert response is not None
    assert response.failure is None
    assert len(waits) == 1
    assert 7 <= waits[0] <= 9


def test_a_pause_of_an_hour_is_a_server_that_is_down(open_on: Opener) -> None:
    class Down(Anything):
        def reply(self, asked: Asked) -> Reply:
            return Reply(b"", 503, {"retry-after": "3600"})

    target, stub = open_on("generic", system=Down())
    assert asked(target, n_tries=5).failure is not None
    assert len(stub.asked) == 1


def test_waits_grow_and_spread(open_on: Opener) -> None:
    waits: list[float] = []
    target, _ = open_on("generic", faults=("500",) * 4)
    options = RunOptions(n_tries=4)
    ask(target, CART, k=3, options=options, clocks=Clocks(sleep=waits.append, random=iter([0.0, 0.5, 1.0]).__next__))
    assert waits == [0.25, 0.75, 2.0]


def test_a_hit_that_cannot_be_used_costs_itself_only(open_on: Opener) -> None:
    class Odd(Anything):
        def reply(self, asked: Asked) -> Reply:
            def row(score: object, lines: list[object], path: object = "/srv/code/a.py") -> dict[str, object]:
                return {"where": {"path": path, "lines": lines}, "rank": {"score": score}, "name": "n"}

            rows = [
                row(float("nan"), [0, 5]), row(1, [9, 3]), row(1, ["x", 3]), row("high", [0, 1]), row(1, [0, 1], 7),
                row(float("inf"), [0, 5]), row(1, [-4, 3]), row(0.5, [1, 4]), 17,
            ]  # fmt: skip
            return as_json({"results": rows, "summary": "", "sure": float("nan")})

    target, _ = open_on("generic", system=Odd())
    response = asked(target, k=20)
    assert spans(response) == [Span("a.py", 2, 4)]
    assert response.confidence is None
    said = " | ".join(response.dropped)
    for part in ("score: nan", "score: inf", "reversed", "'x' is no line", "'high' is no number", "file: 7", "below",
                 "neither a place nor text", "confidence: nan"):  # fmt: skip
        assert part in said


def test_errors_never_show_what_is_secret(open_on: Opener) -> None:
    target, _ = open_on("openai-chat", faults=("401",))
    with pytest.raises(UpstreamError, match=r"no such key: Bearer \*\*\*") as caught:
        target.respond(CART, k=1)
    assert KEY not in str(caught.value)
    assert not any(KEY in value for value in target.settings().values())
    assert "STUB_KEY" in target.settings().values()


def test_a_wrong_key_is_told_as_such(open_on: Opener) -> None:
    target, _ = open_on("dify-retrieve", system=_Locked())
    failure = asked(target).failure
    assert failure is not None
    assert (failure.kind, "check the key" in failure.message) == ("http_403", True)


class _Locked:
    def reply(self, asked: Asked) -> Reply:
        return as_json({"code": "forbidden"}, 403)
