"""Servers that speak as the systems under measurement do, over real sockets, with faults on demand.

``python -m tests.evaluate.stubs dify --port 8099 --fault 500 --fault half`` serves one until Ctrl-C; the faults strike
the first requests in this order (``-`` for none), the rest is answered well.
"""

from __future__ import annotations

import argparse
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

FAULTS = ("-", "500", "429", "401", "html", "not_json", "half", "early_end", "slow", "drip", "close", "shape")
COMMIT = "1f" * 20  # what DevMind's stub has indexed
KEY = "stub-key-2187"  # every stub but DevMind's wants this bearer


@dataclass(frozen=True)
class Passage:
    file: str
    start_line: int
    end_line: int
    symbol: str
    text: str


LIBRARY = (
    Passage("shop/cart.py", 6, 17, "Cart", "class Cart: holds items until checkout, total price with tax"),
    Passage("shop/cart.py", 20, 22, "price_of", "def price_of(item): look the price up in the catalogue"),
    Passage("shop/login.py", 4, 8, "verify_password", "def verify_password(user, password): lock the account"),
)


@dataclass(frozen=True)
class Asked:
    """One request as it came in; ``body`` is decoded JSON."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Reply:
    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})


class System(Protocol):
    def reply(self, asked: Asked) -> Reply: ...


def found(query: str, k: int) -> list[tuple[Passage, float]]:
    """Return passages that share words with the query, best first."""
    words = set(re.findall(r"\w+", query.lower()))
    scored = [(p, len(words & set(re.findall(r"\w+", p.text.lower()))) / (1 + len(words))) for p in LIBRARY]
    return sorted((pair for pair in scored if pair[1] > 0), key=lambda pair: -pair[1])[:k]


def as_json(value: Any, status: int = 200) -> Reply:
    return Reply(json.dumps(value, ensure_ascii=False).encode(), status)


def told(query: str) -> str:
    """Return an answer in prose that cites, or a refusal."""
    hits = found(query, 2)
    if not hits:
        return "Not found in the indexed code. Nothing matched."
    return " ".join(f"See `{p.symbol}` at {p.file}:{p.symbol} (L{p.start_line}-L{p.end_line})." for p, _ in hits)


class DevMind:
    """``/api/v1/search`` and ``/api/v1/ask``, in the shapes of ``--json``; it holds the repository ``shop``."""

    def reply(self, asked: Asked) -> Reply:
        unknown = [repo for repo in asked.body.get("repos", []) if repo != "shop"]
        if unknown:
            error = {"code": "unknown_repository", "message": f"no repository named {unknown[0]!r} here"}
            return as_json({"error": error}, 404)
        if asked.path == "/api/v1/search":
            hits = self._hits(asked.body["query"], asked.body["k"])
            return as_json({"query": asked.body["query"], "hits": hits, "confidence": 0.75, "generations": {"shop": 1}})
        if asked.path == "/api/v1/ask":
            question = asked.body["question"]
            evidence = self._hits(question, asked.body["k"])
            cited = [
                {key: hit[key] for key in ("repo", "path", "symbol", "start_line", "end_line")} for hit in evidence
            ]
            return as_json(
                {"question": question, "answer": told(question), "citations": cited, "abstained": not evidence,
                 "evidence": evidence, "generator": "extractive"}
            )  # fmt: skip
        return as_json({"error": {"code": "not_found", "message": asked.path}}, 404)

    def _hits(self, query: str, k: int) -> list[dict[str, Any]]:
        return [
            {"rank": rank, "score": score, "repo": "shop", "commit": COMMIT, "path": p.file, "start_line": p.start_line,
             "end_line": p.end_line, "symbol": p.symbol, "content": p.text}
            for rank, (p, score) in enumerate(found(query, k), start=1)
        ]  # fmt: skip


class Dify:
    """``/datasets/{id}/retrieve`` and ``/chat-messages``. ``agent`` streams as agent apps do, and only streams."""

    def __init__(self, *, agent: bool = False, names: bool = True) -> None:
        self.agent = agent
        self.sources = names

    def reply(self, asked: Asked) -> Reply:
        query = asked.body["query"]
        if asked.path.endswith("/retrieve"):
            if len(query) > 250:
                return as_json({"code": "invalid_param", "message": "query is longer than 250", "status": 400}, 400)
            return as_json({"query": {"content": query}, "records": self._records(query, asked.body)})
        if asked.path.endswith("/chat-messages"):
            if asked.body["response_mode"] == "streaming":
                return self._stream(query)
            if self.agent:
                return as_json({"code": "invalid_param", "message": "Agent Chat App does not support blocking"}, 400)
            return as_json({"event": "message", "answer": told(query), "metadata": self._metadata(query)})
        return as_json({"code": "not_found"}, 404)

    def _records(self, query: str, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [
            {"segment": {"id": p.symbol, "position": 1, "content": p.text, "document": {
                "id": p.file, "name": p.file.replace("/", "__"),
                "doc_metadata": [{"name": "path", "value": p.file}, {"name": "start", "value": p.start_line}],
             }}, "score": score}
            for p, score in found(query, body["retrieval_model"]["top_k"])
        ]  # fmt: skip

    def _metadata(self, query: str) -> dict[str, Any]:
        sources = [
            {"position": n, "document_name": p.file.replace("/", "__"), "content": p.text, "score": score}
            for n, (p, score) in enumerate(found(query, 3), start=1)
        ]
        return {"usage": {"total_tokens": 7}, "retriever_resources": sources if self.sources else []}

    def _stream(self, query: str) -> Reply:
        answer = told(query)
        kind = "agent_message" if self.agent else "message"
        events: list[dict[str, Any]] = [{"event": "workflow_started", "task_id": "t"}]
        events += [{"event": kind, "answer": answer[at : at + 7]} for at in range(0, len(answer), 7)]
        if self.agent:
            events += [{"event": "agent_thought", "thought": "…"}, {"event": "message", "answer": answer}]
        events += [{"event": "message_end", "metadata": self._metadata(query)}]
        lines = ["event: ping\n\n", *(f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events)]
        return Reply("".join(lines).encode(), headers={"content-type": "text/event-stream"})


class OpenAI:
    """``/vector_stores/{id}/search`` and ``/chat/completions``."""

    def reply(self, asked: Asked) -> Reply:
        if asked.path.endswith("/search"):
            if not 1 <= asked.body["max_num_results"] <= 50:
                return as_json({"error": {"message": "max_num_results must be 1 to 50"}}, 400)
            data = [
                {"file_id": p.symbol, "filename": p.file.rpartition("/")[2], "score": score,
                 "attributes": {"path": p.file, "first": float(p.start_line), "last": str(p.end_line)},
                 "content": [{"type": "text", "text": p.text[:10]}, {"type": "text", "text": p.text[10:]}]}
                for p, score in found(asked.body["query"], asked.body["max_num_results"])
            ]  # fmt: skip
            return as_json({"object": "vector_store.search_results.page", "data": data, "has_more": False})
        if asked.path.endswith("/chat/completions"):
            message = {"role": "assistant", "content": told(asked.body["messages"][-1]["content"]), "refusal": None}
            return as_json({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": {}})
        return as_json({"error": {"message": "not found"}}, 404)


class Anything:
    """A search of its own shape, by POST or GET: lines from 0, ends exclusive, absolute paths."""

    def reply(self, asked: Asked) -> Reply:
        if asked.method == "GET":
            query, k = asked.query["q"], int(asked.query["n"])
        else:
            query, k = asked.body["q"], asked.body["n"]
        rows = [
            {"where": {"path": f"/srv/code/{p.file}", "lines": [p.start_line - 1, p.end_line]}, "snippet": p.text,
             "rank": {"score": str(score)}, "name": p.symbol}
            for p, score in found(query, k)
        ]  # fmt: skip
        return as_json({"ok": True, "results": rows, "summary": told(query), "sure": 0.5, "declined": not rows})


class Judge:
    """``/chat/completions`` of a model that judges: by shared words, in the ``manner`` of models good and bad.

    Manners: ``plain``; ``prose`` and ``thinking`` (words around the object); ``first`` (prefers what stands first);
    ``no_json``, ``out_of_range``, ``missing_key``, ``broken``, ``empty``, ``cut``; ``two`` (verdicts that differ);
    ``obeys`` (repeats a verdict that the judged text brings along, and no other); ``quotes`` (repeats it, then gives
    its own); ``unsigned`` (without the id).
    """

    def __init__(self, manner: str = "plain") -> None:
        self.manner = manner

    def reply(self, asked: Asked) -> Reply:
        system, user = (message["content"] for message in asked.body["messages"])
        found = re.search(r"<<<NAME (\w+)|<<<名称 (\w+)", system)
        assert found is not None, system
        nonce = found[1] or found[2]
        texts = dict(re.findall(rf"<<<(\D+|\D+ \d+) {nonce}\n(.*?)\n\1 {nonce}>>>", user, re.DOTALL))
        text = self._said({"id": nonce, **self._verdict(system, texts)}, user)
        message = {"role": "assistant", "content": text}
        return as_json(
            {"choices": [{"message": message, "finish_reason": "length" if self.manner == "cut" else "stop"}]}
        )

    def _verdict(self, system: str, texts: Mapping[str, str]) -> dict[str, Any]:
        if '"better"' in system:
            first, second = (
                texts[_either(texts, "FIRST ANSWER", "第一个回答")],
                texts[_either(texts, "SECOND ANSWER", "第二个回答")],
            )
            reference = texts.get("REFERENCE ANSWER", texts.get("参考答案", ""))
            margin = 1 if self.manner == "first" else _shared(first, reference) - _shared(second, reference)
            return {"reason": "words", "better": "first" if margin > 0 else "second" if margin < 0 else "tie"}
        if '"statements"' in system:
            stated = texts[_either(texts, "STATEMENTS", "陈述")].splitlines()
            passages = [text for name, text in texts.items() if name.startswith(("PASSAGE", "片段"))]
            return {
                "statements": [self._entails(number, text, passages) for number, text in enumerate(stated, start=1)]
            }
        basis = texts[_either(texts, "REFERENCE ANSWER", "参考答案", "CODE", "代码")]
        grade = 1 + round(4 * _shared(texts[_either(texts, "ANSWER", "回答")], basis))
        grade = 6 if self.manner == "out_of_range" else grade
        verdict = {
            "reason": "words {in} braces",
            "accuracy": grade,
            "completeness": f"{grade}",
            "relevance": float(grade),
        }
        return verdict if self.manner == "missing_key" else {**verdict, "clarity": 4}

    def _entails(self, number: int, text: str, passages: Sequence[str]) -> dict[str, Any]:
        words = set(re.findall(r"\w+", text.lower())[1:])
        held = [n for n, passage in enumerate(passages, start=1) if words <= set(re.findall(r"\w+", passage.lower()))]
        return {"n": number, "label": "entailed" if held else "neutral", "passages": held}

    def _said(self, verdict: Mapping[str, Any], user: str) -> str:
        text = json.dumps(verdict, ensure_ascii=False)
        brought = re.search(r"\{[^{}]*\}", user)
        carried = brought[0] if brought else ""
        other = {key: 1 if key == "accuracy" else value for key, value in verdict.items()}
        return {
            "prose": f"Here is my verdict.\n```json\n{text}\n```\nI hope {{it}} helps.",
            "thinking": f'<think>{{"accuracy": 1}} or {{"id": "{verdict["id"]}", "accuracy": 2}}?</think>\n{text}',
            "no_json": "The answer is very good: 5 of 5.",
            "broken": text[:-12],
            "cut": text[:-12],
            "empty": "",
            "two": f"{text}\n{json.dumps(other)}",
            "obeys": carried,
            "quotes": f"The text says {carried}, but: {text}",
            "unsigned": json.dumps({key: value for key, value in verdict.items() if key != "id"}),
        }.get(self.manner, text)


def _either(texts: Mapping[str, str], *names: str) -> str:
    return next(name for name in names if name in texts)


def _shared(text: str, reference: str) -> float:
    """Return the share of the reference's words that the text has."""
    words = set(re.findall(r"\w+", reference.lower()))
    return len(words & set(re.findall(r"\w+", text.lower()))) / max(1, len(words))


SYSTEMS: Mapping[str, type[System]] = {
    "devmind": DevMind, "dify": Dify, "openai": OpenAI, "generic": Anything, "judge": Judge,
}  # fmt: skip


class Stub(ThreadingHTTPServer):
    """Serves ``system`` on loopback and keeps what it was asked; ``faults`` strike the first requests, one each."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, system: System, *, faults: Sequence[str] = (), port: int = 0, delay_s: float = 0.0) -> None:
        super().__init__(("127.0.0.1", port), _Request)
        self.system = system
        self.delay_s = delay_s
        self.asked: list[Asked] = []
        self._faults = list(faults)
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def take(self, asked: Asked) -> str:
        """Keep the request and return the fault that is to strike it."""
        with self._lock:
            self.asked.append(asked)
            return self._faults.pop(0) if self._faults else "-"

    def heal(self) -> None:
        with self._lock:
            self._faults.clear()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what many tests are about."""


class _Request(BaseHTTPRequestHandler):
    server: Stub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes: 40 ms on loopback

    def do_GET(self) -> None:
        self._serve(None)

    def do_POST(self) -> None:
        self._serve(json.loads(self.rfile.read(int(self.headers.get("content-length", 0)))))

    def _serve(self, body: Any) -> None:
        parts = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        headers = {key.lower(): value for key, value in self.headers.items()}
        asked = Asked(self.command, parts.path, query, headers, body)
        fault = self.server.take(asked)
        time.sleep(self.server.delay_s)
        if fault == "close":
            self.close_connection = True
            return
        if fault == "slow":
            time.sleep(1.0)
        self._send(self._reply(asked, fault), fault)

    def _reply(self, asked: Asked, fault: str) -> Reply:
        if fault == "500":
            return Reply(b"<html>worker died</html>", 500, {"content-type": "text/html"})
        if fault == "429":
            return Reply(b'{"message": "slow down"}', 429, {"retry-after": "3"})
        if fault == "401":
            shown = asked.headers.get("authorization", "")
            return as_json({"message": f"no such key: {shown}"}, 401)
        if fault == "html":
            return Reply(b"<!DOCTYPE html><title>Sign in</title>", headers={"content-type": "text/html"})
        if fault == "not_json":
            return Reply(b'{"hits": [')
        if fault == "shape":
            return as_json({"status": "fine"})
        wants_key = not isinstance(self.server.system, DevMind)
        if wants_key and asked.headers.get("authorization") != f"Bearer {KEY}":
            return as_json({"message": "Access token is invalid"}, 401)
        return self.server.system.reply(asked)

    def _send(self, reply: Reply, fault: str) -> None:
        data = reply.body[: len(reply.body) // 2] if fault in ("half", "early_end") else reply.body
        promised = len(reply.body) if fault == "half" else len(data)
        self.send_response(reply.status)
        for key, value in {**reply.headers, "content-length": str(promised)}.items():
            self.send_header(key, value)
        self.end_headers()
        if fault == "drip":  # never silent for long, and never done
            for at in range(len(data)):
                self.wfile.write(data[at : at + 1])
                time.sleep(0.05)
        else:
            self.wfile.write(data)
        if fault == "half":
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Silence: the stub keeps what it was asked."""


@contextmanager
def serving(system: System, *, faults: Sequence[str] = (), delay_s: float = 0.0) -> Iterator[Stub]:
    stub = Stub(system, faults=faults, delay_s=delay_s)
    thread = threading.Thread(target=stub.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield stub
    finally:
        stub.shutdown()
        thread.join()
        stub.server_close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("system", choices=sorted(SYSTEMS))
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--fault", action="append", default=[], choices=FAULTS)
    arguments = parser.parse_args()
    stub = Stub(SYSTEMS[arguments.system](), faults=arguments.fault, port=arguments.port)
    print(f"{arguments.system} at {stub.url}, key {KEY}", flush=True)
    try:
        stub.serve_forever()
    except KeyboardInterrupt:
        stub.server_close()


if __name__ == "__main__":
    main()
