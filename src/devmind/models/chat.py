"""Messages → the reply of a chat endpoint (``POST {base}/chat/completions``), with what it cost.

What a reply means is not known here, and nothing is kept.

Source: OpenAI API reference, "Create chat completion"; spoken by vLLM, Ollama, llama.cpp and most hosted services.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from devmind.models.wire import Wire
from devmind.retry import retrying

Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """Which model is asked, and how often at most. ``extra`` are further keys of the body, such as ``temperature``."""

    base_url: str
    model: str
    n_tries: int = 1
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What the model said. ``is_cut``: it stopped at its length limit. ``n_tokens`` of question and reply, if told."""

    text: str
    is_cut: bool
    n_tokens: int


class ChatClient:
    """One model behind one endpoint. Safe to share between threads; ``close`` ends its connections."""

    def __init__(
        self,
        options: ChatOptions,
        wire: Wire,
        *,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.options = options
        self._url = f"{options.base_url}/chat/completions"
        self._wire = wire
        self._sleep = sleep
        self._chance = chance

    def close(self) -> None:
        self._wire.close()

    def reply(self, messages: Messages) -> ChatReply:
        """Return the first choice of the model.

        Raises:
            UpstreamError: The endpoint failed at every try, or answered with something else.
        """
        body = {"model": self.options.model, "messages": list(map(dict, messages)), **self.options.extra}
        return retrying(
            lambda: self._attempt(body), n_tries=self.options.n_tries, sleep=self._sleep, random=self._chance
        )

    def _attempt(self, body: Mapping[str, Any]) -> ChatReply:
        said = self._wire.ask(self._url, body)
        choices = said.get("choices") if isinstance(said, dict) else None
        first = choices[0] if isinstance(choices, list) and choices else None
        message = first.get("message") if isinstance(first, dict) else None
        if not isinstance(first, dict) or not isinstance(message, dict):
            raise self._wire.failure(
                "bad_shape", f"answered {self._wire.shown(said)}, without choices[0].message", self._url
            )
        content = message.get("content")
        text = self._wire.masked(content) if isinstance(content, str) else ""
        return ChatReply(text, first.get("finish_reason") == "length", n_tokens_of(said))


def n_tokens_of(said: Any) -> int:
    """Return the tokens that an answer says it took, 0 if it does not say."""
    usage = said.get("usage") if isinstance(said, dict) else None
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if type(total) is int and total > 0 else 0
