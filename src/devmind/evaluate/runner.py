"""A dataset's topics × a target → a run on disk: tried again, resumed, counted.

A topic whose target fails for good is a response with a failure: it scores 0 and is counted. What was measured is in
the journal before it is told; stopping at any moment loses what was in flight and nothing else.
"""

from __future__ import annotations

import platform
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from devmind import __version__
from devmind.errors import DevMindError, UpstreamError, UsageError
from devmind.evaluate.journal import Header, Journal, run_of
from devmind.evaluate.targets.hits import usable
from devmind.evaluate.targets.types import MISSING, Target
from devmind.evaluate.types import Dataset, Failure, Response, Run, Topic
from devmind.retry import retrying

# A target has a time-out of its own, and its message says more: the runner gives up this much later.
_GRACE_S: Final = 1.0
# After an interrupt, topics in flight may finish for so long: in process, nearly all do.
_STOP_WAIT_S: Final = 2.0
MAX_CONCURRENCY: Final = 256


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a target is asked.

    Attributes:
        concurrency: Topics in flight at once. The seconds of a response include its waiting for the others.
        timeout_s: After this an attempt has failed, even if its response comes later.
        n_tries: Attempts a topic, when the failure is one that may pass.
        retry_failed: When a run is resumed, ask again the topics that failed.
    """

    concurrency: int = 1
    timeout_s: float = 60.0
    n_tries: int = 3
    retry_failed: bool = True


@dataclass(frozen=True, slots=True)
class Clocks:
    """What a run takes from outside: waiting, chance, seconds that never run backwards, the date."""

    sleep: Callable[[float], None] = time.sleep
    random: Callable[[], float] = random.random
    seconds: Callable[[], float] = time.perf_counter
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. ``n_resumed`` of the ``n_done`` topics were measured before; ``failures`` counts by kind."""

    n_done: int
    n_topics: int
    n_resumed: int
    failures: Mapping[str, int]
    elapsed_s: float


OnProgress = Callable[[Progress], None]


def run_target(
    dataset: Dataset,
    target: Target,
    *,
    k: int,
    out: Path,
    options: RunOptions = RunOptions(),
    progress: OnProgress | None = None,
    clocks: Clocks = Clocks(),
) -> Run:
    """Ask ``target`` every topic of ``dataset`` and return its run; the journal ``out`` holds it, too.

    If ``out`` holds a part of the same run, only what is missing there is asked.

    Args:
        k: Hits a topic, 1 or more.
        progress: Called in this thread at the start and whenever responses are on disk.

    Raises:
        UsageError: The dataset is empty, an option is out of range, or ``out`` holds something else.
        StoreError: ``out`` cannot be written.
        KeyboardInterrupt: As it came; what was measured is in ``out``.
    """
    _check(dataset, k, options)
    header = Header(
        dataset=dataset.name,
        dataset_hash=dataset.content_hash,
        target=target.name,
        settings=dict(target.settings()),
        k=k,
        provenance={
            "devmind": __version__,
            "python": platform.python_version(),
            "started": clocks.now().isoformat(timespec="seconds"),
            "concurrency": str(options.concurrency),
            "timeout_s": f"{options.timeout_s:g}",
            "n_tries": str(options.n_tries),
        },
    )
    with Journal(out, header) as journal:
        ids = {topic.topic_id for topic in dataset.topics}
        known = {topic_id: r for topic_id, r in journal.responses.items() if topic_id in ids}
        kept = {i: r for i, r in known.items() if r.failure is None or not options.retry_failed}
        todo = [topic for topic in dataset.topics if topic.topic_id not in kept]
        measured = _Measured(n_topics=len(dataset.topics), kept=kept, started_s=clocks.seconds(), clocks=clocks)
        if progress is not None:
            progress(measured.progress())
        asking = _Asking(todo, lambda topic: ask(target, topic, k=k, options=options, clocks=clocks))
        asking.start(min(options.concurrency, len(todo)))
        try:
            for n_asked, batch in asking.batches():
                journal.append(batch)
                asking.taken(n_asked)
                measured.add(n_asked, batch)
                if progress is not None:
                    progress(measured.progress())
        finally:
            n_asked, batch = asking.stop()
            if batch:
                journal.append(batch)
                measured.add(n_asked, batch)
        by_topic = measured.by_topic
        ordered = {t.topic_id: by_topic[t.topic_id] for t in dataset.topics if t.topic_id in by_topic}
        return run_of(journal.header, ordered)


def ask(
    target: Target,
    topic: Topic,
    *,
    k: int,
    options: RunOptions = RunOptions(),
    clocks: Clocks = Clocks(),
) -> Response | None:
    """Ask one topic, again if need be, and return what is usable of the response; None if the target never has one.

    The seconds are those of the last attempt: waits between attempts are not the target's.
    """
    n_tries = 0
    took_s = 0.0

    def attempt() -> Response:
        nonlocal n_tries, took_s
        n_tries += 1
        began_s = clocks.seconds()
        try:
            response = _within(options.timeout_s + _GRACE_S, lambda: target.respond(topic, k=k))
        finally:
            took_s = clocks.seconds() - began_s
        if took_s > options.timeout_s:
            raise _late(options.timeout_s)
        return response

    try:
        response = retrying(attempt, n_tries=options.n_tries, sleep=clocks.sleep, random=clocks.random)
    except DevMindError as error:
        if error.code == MISSING:
            return None
        failure = Failure(kind=error.code, message=str(error), n_tries=n_tries)
        return Response(topic.topic_id, seconds=took_s, failure=failure)
    return usable(replace(response, topic_id=topic.topic_id, seconds=took_s), k=k)


def failures_by_kind(responses: Mapping[str, Response]) -> dict[str, int]:
    """Return how many responses failed, by kind, the most frequent first."""
    counts = Counter(r.failure.kind for r in responses.values() if r.failure is not None)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


@dataclass(slots=True)
class _Measured:
    """The responses so far, and what is told of them."""

    n_topics: int
    kept: Mapping[str, Response]
    started_s: float
    clocks: Clocks
    by_topic: dict[str, Response] = field(init=False)
    failures: Counter[str] = field(init=False)
    n_asked: int = 0

    def __post_init__(self) -> None:
        self.by_topic = dict(self.kept)
        self.failures = Counter(failures_by_kind(self.kept))

    def add(self, n_asked: int, batch: Sequence[Response]) -> None:
        self.n_asked += n_asked
        self.by_topic |= {response.topic_id: response for response in batch}
        self.failures.update(response.failure.kind for response in batch if response.failure is not None)

    def progress(self) -> Progress:
        return Progress(
            n_done=len(self.kept) + self.n_asked,
            n_topics=self.n_topics,
            n_resumed=len(self.kept),
            failures=dict(self.failures.most_common()),
            elapsed_s=self.clocks.seconds() - self.started_s,
        )


class _Asking:
    """Threads that ask topics; one caller takes what they measured, in batches, and says when a batch is safe.

    A response leaves only after `taken`: an interrupt between two statements of the caller loses none. The threads are
    daemons, so a target that hangs does not keep the process from ending.
    """

    def __init__(self, topics: Sequence[Topic], ask_one: Callable[[Topic], Response | None]) -> None:
        self._topics = iter(topics)
        self._ask_one = ask_one
        self._n_left = len(topics)
        self._ready = threading.Condition()
        self._done: list[Response | None] = []
        self._fault: BaseException | None = None
        self._n_working = 0
        self._stopped = False
        self._sealed = False

    def start(self, n_threads: int) -> None:
        self._n_working = n_threads
        for _ in range(n_threads):
            threading.Thread(target=self._work, daemon=True).start()

    def batches(self) -> Iterator[tuple[int, list[Response]]]:
        """Yield the number of topics asked since `taken`, and their responses, until all are asked.

        Raises:
            BaseException: A fault of a target that is no failure to respond; what was measured is for `stop` to give.
        """
        while self._n_left:
            with self._ready:
                while not self._done and self._fault is None:
                    self._ready.wait()
                if self._fault is not None:
                    raise self._fault
                done = list(self._done)
            yield len(done), [response for response in done if response is not None]

    def taken(self, n_asked: int) -> None:
        with self._ready:
            del self._done[:n_asked]
            self._n_left -= n_asked

    def stop(self) -> tuple[int, list[Response]]:
        """Let no thread begin another topic; return what is measured and not taken. The rest in flight is forgotten."""
        with self._ready:
            self._stopped = True
            try:
                self._ready.wait_for(lambda: not self._n_working, timeout=_STOP_WAIT_S)
            finally:  # a second interrupt ends the waiting
                self._sealed = True
            return len(self._done), [response for response in self._done if response is not None]

    def _work(self) -> None:
        try:
            while (topic := self._next()) is not None:
                response = self._ask_one(topic)
                with self._ready:
                    if self._sealed:
                        return
                    self._done.append(response)
                    self._ready.notify()
        except BaseException as fault:  # told in the caller's thread, with its traceback
            self._fault = fault
        finally:
            with self._ready:
                self._n_working -= 1
                self._ready.notify()

    def _next(self) -> Topic | None:
        with self._ready:
            return None if self._stopped else next(self._topics, None)


def _within(seconds: float, call: Callable[[], Response]) -> Response:
    """Return what ``call`` returns or raises; give it up after ``seconds``, and leave its thread to itself."""
    results: list[Response] = []
    faults: list[BaseException] = []

    def work() -> None:
        try:
            results.append(call())
        except BaseException as fault:  # raised below, in the thread that asked
            faults.append(fault)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if faults:
        raise faults[0]
    if not results:
        raise _late(seconds - _GRACE_S)
    return results[0]


def _late(timeout_s: float) -> UpstreamError:
    return UpstreamError(f"the target did not respond within {timeout_s:g} s", retryable=True, code="timeout")


def _check(dataset: Dataset, k: int, options: RunOptions) -> None:
    if not dataset.topics:
        raise UsageError(
            f"the dataset {dataset.name!r} has no topics: a run over nothing says nothing", code="no_topics"
        )
    counts = Counter(topic.topic_id for topic in dataset.topics)
    twice = next((topic_id for topic_id, n in counts.items() if n > 1), None)
    if twice is not None:
        raise UsageError(f"the dataset {dataset.name!r} has the topic {twice!r} twice: give each an id of its own")
    limits = {
        "k": (k, k >= 1, "1 or more"),
        "concurrency": (options.concurrency, 1 <= options.concurrency <= MAX_CONCURRENCY, f"1 to {MAX_CONCURRENCY}"),
        "n_tries": (options.n_tries, options.n_tries >= 1, "1 or more"),
        "timeout_s": (options.timeout_s, 0 < options.timeout_s < float("inf"), "more than 0"),
    }
    for name, (value, good, wanted) in limits.items():
        if not good:
            raise UsageError(f"{name} is {value}: it must be {wanted}", code="bad_option")
