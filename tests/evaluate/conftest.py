"""Topics and responses from a notation: ``f[10,20] g[1,5]*weak h`` is lines of f, weak lines of g, all of h."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from devmind.evaluate.types import Dataset, Response, Retrieved, Run, Span, Topic, Truth

_NOTATION = re.compile(r"([\w./-]+)(?:\[(\d+),(\d+)\])?(?:\*(\w+))?")


def _spans(notation: str) -> list[tuple[Span, str]]:
    return [(Span(f, int(a or 0), int(b or 0)), grade or "strong") for f, a, b, grade in _NOTATION.findall(notation)]


@pytest.fixture
def topic() -> Callable[..., Topic]:
    def make(truths: str = "", topic_id: str = "q", **fields: Any) -> Topic:
        made = tuple(Truth(span, grade) for span, grade in _spans(truths))  # type: ignore[arg-type]
        return Topic(topic_id, "what?", truths=made, **fields)

    return make


@pytest.fixture
def response() -> Callable[..., Response]:
    def make(hits: str = "", topic_id: str = "q", **fields: Any) -> Response:
        return Response(topic_id, tuple(Retrieved(span) for span, _ in _spans(hits)), **fields)

    return make


@pytest.fixture
def dataset() -> Callable[..., Dataset]:
    return lambda *topics, content_hash="abc": Dataset("set", topics, content_hash)


@pytest.fixture
def run() -> Callable[..., Run]:
    def make(*responses: Response, system: str = "ours", k: int = 10) -> Run:
        return Run(system, "set", {response.topic_id: response for response in responses}, k)

    return make
