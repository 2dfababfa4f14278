"""Times of requests × a target → when each was sent and answered, by a bounded number of workers.

The workers take the requests in order. One that no worker is free for waits, and its wait counts: latency is measured
from the time at which the request was due. When one has waited longer than the patience, the target is overloaded: from
then on the waits only tell how long the test lasted, so nothing more is sent and the run ends by itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from devmind.evaluate.types import Response, Topic

_SAMPLE_S = 0.2  # how often the caller looks at memory
_STOP_WAIT_S = 2.0  # after an interrupt, requests in flight may finish for so long


@dataclass(frozen=True, slots=True)
class Request:
    """One request that was sent; times in seconds from the start. ``response`` is None if the run ended before it."""

    topic: Topic
    due_s: float
    sent_s: float
    ended_s: float
    response: Response | None


@dataclass(frozen=True, slots=True)
class Driven:
    """What came of a schedule. ``requests`` are in the order in which they were due; ``seconds`` until the last end."""

    requests: tuple[Request, ...]
    n_due: int
    seconds: float
    overloaded: bool
    interrupted: bool


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds that never run backwards, and a wait that an event ends early."""

    now: Callable[[], float] = time.perf_counter
    wait: Callable[[float, threading.Event], object] = lambda seconds, stopped: stopped.wait(seconds)


def drive(
    due: Sequence[tuple[float, Topic]],
    respond: Callable[[Topic], Response | None],
    *,
    concurrency: int,
    patience_s: float,
    timeout_s: float,
    clock: Clock = Clock(),
    sample: Callable[[], None] = lambda: None,
) -> Driven:
    """Send each topic when it is due and return what came of it.

    Args:
        due: ascending times in seconds from the start, and what is asked then.
        respond: asks the target; returns, whatever happens, after about ``timeout_s``.
        patience_s: a request that has waited so long for a worker ends the run.
        sample: called a few times a second while the run lasts.

    Raises:
        BaseException: a fault of ``respond`` that is no failure to respond.
    """
    crew = _Crew(due, respond, patience_s=patience_s, clock=clock)
    # No request is sent later than its patience allows, and none takes longer than its time-out (and its grace).
    longest_s = due[-1][0] + patience_s + timeout_s + 2 * _STOP_WAIT_S
    interrupted = False
    try:
        crew.run(min(concurrency, len(due)), longest_s=longest_s, sample=sample)
    except KeyboardInterrupt:
        interrupted = True
        crew.leave()
    return crew.result(interrupted=interrupted)


class _Crew:
    """Threads that send requests. They are daemons: a target that hangs does not keep the process from ending."""

    def __init__(
        self,
        due: Sequence[tuple[float, Topic]],
        respond: Callable[[Topic], Response | None],
        *,
        patience_s: float,
        clock: Clock,
    ) -> None:
        self._due = due
        self._respond = respond
        self._patience_s = patience_s
        self._clock = clock
        self._changed = threading.Condition()
        self._stopped = threading.Event()
        self._next = 0
        self._flying: dict[int, float] = {}
        self._ended: dict[int, Request] = {}
        self._n_working = 0
        self._overloaded = False
        self._sealed = False
        self._fault: BaseException | None = None
        self._start_s = 0.0

    def run(self, n_workers: int, *, longest_s: float, sample: Callable[[], None]) -> None:
        self._n_working = n_workers
        self._start_s = self._clock.now()
        for _ in range(n_workers):
            threading.Thread(target=self._work, daemon=True).start()
        give_up_s = time.monotonic() + longest_s
        with self._changed:
            while self._n_working and self._fault is None and time.monotonic() < give_up_s:
                self._changed.wait(_SAMPLE_S)
                sample()
        self._stopped.set()
        if self._fault is not None:
            raise self._fault

    def leave(self) -> None:
        """Send nothing more; give what is in flight a moment."""
        self._stopped.set()
        with self._changed:
            self._changed.wait_for(lambda: not self._flying, timeout=_STOP_WAIT_S)

    def result(self, *, interrupted: bool) -> Driven:
        with self._changed:
            self._sealed = True
            now_s = self._clock.now() - self._start_s
            for i, sent_s in self._flying.items():
                self._ended[i] = Request(self._due[i][1], self._due[i][0], sent_s, now_s, None)
            requests = tuple(self._ended[i] for i in sorted(self._ended))
        seconds = max((request.ended_s for request in requests), default=0.0)
        return Driven(requests, len(self._due), seconds, self._overloaded, interrupted)

    def _work(self) -> None:
        try:
            while (i := self._take()) is not None:
                if not self._send(i):
                    return
        except BaseException as fault:  # told in the caller's thread, with its traceback
            self._fault = fault
        finally:
            with self._changed:
                self._n_working -= 1
                self._changed.notify_all()

    def _take(self) -> int | None:
        with self._changed:
            if self._stopped.is_set() or self._next == len(self._due):
                return None
            self._next += 1
            return self._next - 1

    def _send(self, i: int) -> bool:
        """Send request ``i`` when it is due and keep what comes back; False when nothing more is to be sent."""
        due_s, topic = self._due[i]
        early_s = due_s - (self._clock.now() - self._start_s)
        if early_s > 0:
            self._clock.wait(early_s, self._stopped)
        sent_s = self._clock.now() - self._start_s
        with self._changed:
            if self._stopped.is_set():
                return False
            if sent_s - due_s > self._patience_s:
                self._overloaded = True
                self._stopped.set()
                return False
            self._flying[i] = sent_s
        response = self._respond(topic)
        ended_s = self._clock.now() - self._start_s
        with self._changed:
            if self._sealed:
                return False
            del self._flying[i]
            self._ended[i] = Request(topic, due_s, sent_s, ended_s, response)
        return True
