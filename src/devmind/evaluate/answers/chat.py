"""Questions to a chat endpoint → its replies, several at once, each kept in a ledger before it is told.

What a reply means is not known here. A call that fails for good is a `Null` with a kind, never an exception.
"""

from __future__ import annotations

import hashlib
import json
import queue
import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from devmind.errors import DevMindError
from devmind.evaluate.answers.ledger import Kept, Ledger
from devmind.evaluate.answers.nulls import Null
from devmind.evaluate.targets.config import Table, flattened, read_config
from devmind.evaluate.types import OnStep
from devmind.models.chat import ChatClient, ChatOptions, Messages
from devmind.models.wire import Wire, checked_url, key_options

MAX_CONCURRENCY: Final = 64
MAX_REPEATS: Final = 10
_NONCE_BYTES: Final = 8
# After an interrupt, calls in flight may finish for so long: they are paid for.
_STOP_WAIT_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class JudgeConfig:
    """How the judge is reached and asked. ``extra`` are further keys of the body, such as ``temperature``.

    Attributes:
        repeats: How often each question is put, its parts in swapped positions every second time.
        language: Of the rubric: ``en``, ``zh``, or ``auto`` for that of each topic's question.
    """

    base_url: str
    model: str
    name: str = "judge"
    repeats: int = 2
    language: str = "auto"
    concurrency: int = 4
    n_tries: int = 3
    timeout_s: float = 120.0
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def identity(self) -> Mapping[str, str]:
        """Return what must be the same for a reply to be used again."""
        return {"base_url": self.base_url, "model": self.model, **flattened(self.extra, "body.")}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. ``messages`` makes the words around a random fence; ``number`` tells repeats apart."""

    messages: Callable[[str], Messages]
    number: int = 0


Reply = Kept | Null


class ChatModel:
    """The model of ``config``. Replies that ``ledger`` holds are not asked for again. Safe to share between threads."""

    def __init__(
        self,
        config: JudgeConfig,
        wire: Wire,
        ledger: Ledger,
        *,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
        nonce: Callable[[], str] = lambda: secrets.token_hex(_NONCE_BYTES),
    ) -> None:
        self.config = config
        options = ChatOptions(config.base_url, config.model, config.n_tries, config.extra)
        self._client = ChatClient(options, wire, sleep=sleep, chance=chance)
        self._ledger = ledger
        self._nonce = nonce

    def close(self) -> None:
        self._client.close()

    def ask_all(self, questions: Sequence[Question], progress: OnStep | None = None) -> list[Reply]:
        """Return the reply to each question, in order.

        Args:
            progress: Called in this thread with the number of replies so far and of all.

        Raises:
            KeyboardInterrupt: As it came; every reply that had arrived is in the ledger.
            StoreError: The ledger cannot be written.
        """
        known = [self._known(question) for question in questions]
        todo = [number for number, reply in enumerate(known) if reply is None]
        n_done = len(questions) - len(todo)
        if progress is not None:
            progress(n_done, len(questions))
        replies: dict[int, Reply] = {number: reply for number, reply in enumerate(known) if reply is not None}
        if todo:
            for number, reply in _at_once(todo, lambda n: self._ask(questions[n]), self.config.concurrency):
                replies[number] = reply
                if progress is not None:
                    progress(len(replies), len(questions))
        return [replies[number] for number in range(len(questions))]

    def _known(self, question: Question) -> Kept | None:
        return self._ledger.get(self._key(question))

    def _key(self, question: Question) -> str:
        """Return what names the question, whatever its fence."""
        whole = [dict(self.config.identity), list(map(dict, question.messages(""))), question.number]
        data = json.dumps(whole, sort_keys=True).encode()
        return hashlib.sha256(data).hexdigest()[:32]

    def _ask(self, question: Question) -> Reply:
        plain = json.dumps(list(map(dict, question.messages(""))))
        nonce = self._nonce()
        while nonce in plain:  # a fence that stands in the answer would be none
            nonce = self._nonce()
        began_s = time.monotonic()
        try:
            said = self._client.reply(question.messages(nonce))
        except DevMindError as error:
            return Null(error.code, str(error))
        kept = Kept(self._key(question), nonce, said.text, said.is_cut, round(time.monotonic() - began_s, 3))
        self._ledger.add(kept)
        return kept


def read_judge(config: Path) -> tuple[JudgeConfig, str]:
    """Return the judge that the configuration describes (``docs/evaluation.md``), and the variable of its key.

    Raises:
        UsageError: The configuration is wrong; names file and key.
    """
    table = read_config(config)
    judge = JudgeConfig(
        base_url=checked_url(table.text("base_url"), where=table.where("base_url")),
        model=table.text("model"),
        name=table.text("name", config.stem),
        repeats=_whole(table, "repeats", 2, MAX_REPEATS),
        language=table.text("language", "auto", one_of=("auto", "en", "zh")),
        concurrency=_whole(table, "concurrency", 4, MAX_CONCURRENCY),
        n_tries=_whole(table, "n_tries", 3, 10),
        timeout_s=_seconds(table, "timeout_s", 120.0),
        extra=table.table("body").rest(),
    )
    variable = table.text("api_key_env", "")
    table.finish()
    return judge, variable


def open_chat(config: JudgeConfig, variable: str, ledger: Ledger, *, secret: Callable[[str], str]) -> ChatModel:
    """Return the model; close it when it is no longer asked.

    Raises:
        UsageError: The environment variable of its key is not set.
    """
    return ChatModel(config, Wire(key_options(variable, secret=secret, timeout_s=config.timeout_s)), ledger)


def _whole(table: Table, key: str, default: int, highest: int) -> int:
    value = table.number(key, default)
    if value is None or value not in range(1, highest + 1):
        raise table.error(key, value, f"must be a whole number from 1 to {highest}")
    return int(value)


def _seconds(table: Table, key: str, default: float) -> float:
    value = table.number(key, default)
    if value is None or not 0 < value < float("inf"):
        raise table.error(key, value, "must be more than 0")
    return float(value)


def _at_once(todo: Sequence[int], call: Callable[[int], Reply], n_threads: int) -> Iterator[tuple[int, Reply]]:
    """Yield each number with its reply, as they come. The threads are daemons: one that hangs keeps nobody waiting."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, Reply] | BaseException] = queue.SimpleQueue()
    stopped = threading.Event()
    for number in todo:
        waiting.put(number)

    def work() -> None:
        try:
            while not stopped.is_set():
                number = waiting.get_nowait()
                done.put((number, call(number)))
        except queue.Empty:
            return
        except BaseException as fault:  # told in the caller's thread, with its traceback
            done.put(fault)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(n_threads, len(todo)))]
    for thread in threads:
        thread.start()
    try:
        for _ in todo:
            came = done.get()
            if isinstance(came, BaseException):
                raise came
            yield came
    finally:
        stopped.set()
        until_s = time.monotonic() + _STOP_WAIT_S
        for thread in threads:
            thread.join(max(0.0, until_s - time.monotonic()))
