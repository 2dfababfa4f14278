"""Judges behind a real socket, and vectors whose angles are chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from devmind.embed.types import ChunkText, Vectors
from devmind.evaluate.answers.chat import ChatModel, JudgeConfig
from devmind.evaluate.answers.ledger import Ledger
from devmind.models.wire import Wire, WireOptions
from tests.evaluate.stubs import KEY, Judge, Stub, System, serving

JudgeOn = Callable[..., tuple[ChatModel, Stub]]


class Words:
    """An embedder whose dimensions are words: cosines can be worked out by hand."""

    name, dim, prefix = "words", 64, 64

    def __init__(self) -> None:
        self.words: dict[str, int] = {}

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        out = np.zeros((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                out[row, self.words.setdefault(word, len(self.words))] += 1
        norms = np.linalg.norm(out, axis=1, keepdims=True)
        return out / np.maximum(norms, 1e-12)

    def embed_chunks(self, texts: Sequence[ChunkText]) -> Vectors:
        return self.embed_queries([text.body for text in texts])


@pytest.fixture
def words() -> Words:
    return Words()


@pytest.fixture
def judge_on(tmp_path: Path) -> Iterator[JudgeOn]:
    """Open a judge on a served stub, with the manner and the faults that are asked for; no wait between attempts."""
    with ExitStack() as stack:

        def open_on(
            manner: str = "plain",
            *,
            system: System | None = None,
            faults: tuple[str, ...] = (),
            replies: Path | None = None,
            **config: object,
        ) -> tuple[ChatModel, Stub]:
            stub = stack.enter_context(serving(system or Judge(manner), faults=faults))
            ledger = stack.enter_context(Ledger(replies or tmp_path / f"replies-{stub.server_address[1]}.jsonl"))
            timeout_s = float(str(config.pop("timeout_s", 5.0)))
            options = WireOptions(timeout_s=timeout_s, headers={"Authorization": f"Bearer {KEY}"}, secrets=(KEY,))
            settings = JudgeConfig(base_url=stub.url, model="stub", **config)  # type: ignore[arg-type]
            model = ChatModel(settings, Wire(options), ledger, sleep=lambda _: None)
            stack.callback(model.close)
            return model, stub

        yield open_on
