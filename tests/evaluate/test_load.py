"""Load: times that the target cannot move, the accounting of waits, and what is told of a target that fails.

Times come from a clock that only the target and the waits move, so every figure is exact.
"""

from __future__ import annotations

import itertools
import math
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from devmind.errors import UpstreamError, UsageError
from devmind.evaluate.load import LoadOptions, Step, measure_load
from devmind.evaluate.load.drive import Clock, drive
from devmind.evaluate.load.latency import quantiles
from devmind.evaluate.load.picture import picture
from devmind.evaluate.load.schedule import MAX_REQUESTS, schedule
from devmind.evaluate.types import Dataset, Response, Retrieved, Span, Topic, Truth
from devmind.evaluate.usage import usage
from tests.evaluate.opened import Opener

TOPICS = tuple(Topic(f"t{n}", f"question {n}", truths=(Truth(Span(f"f{n}.py", 1, 9)),), repo="r") for n in range(4))
SET = Dataset("set", TOPICS, "hash")
ONE = LoadOptions(rates=(10,), seconds=0.5)


class Time:
    """Seconds that pass only when somebody waits."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def now(self) -> float:
        return self.now_s

    def wait(self, seconds: float, stopped: threading.Event) -> None:
        self.now_s += seconds

    @property
    def clock(self) -> Clock:
        return Clock(now=self.now, wait=self.wait)


class Slow:
    """Takes the seconds of ``plan`` for its answers, in order, the last for all that follow; always right."""

    name = "slow"

    def __init__(self, time: Time, *plan: float | Callable[[Topic], Response]) -> None:
        self.time = time
        self.plan = list(plan)
        self.asked: list[str] = []

    def respond(self, topic: Topic, *, k: int) -> Response:
        self.asked.append(topic.topic_id)
        step = self.plan.pop(0) if len(self.plan) > 1 else self.plan[0]
        if callable(step):
            return step(topic)
        self.time.now_s += step
        return right(topic)

    def close(self) -> None:
        """Nothing is open."""

    def settings(self) -> Mapping[str, str]:
        return {}


def right(topic: Topic) -> Response:
    return Response(topic.topic_id, hits=(Retrieved(topic.truths[0].span),))


def wrong(topic: Topic) -> Response:
    return Response(topic.topic_id, hits=(Retrieved(Span("other.py", 1, 2)),))


def refusing(topic: Topic) -> Response:
    raise UpstreamError("no", retryable=False, code="refused")


def test_constant_arrivals_have_their_distance() -> None:
    assert schedule(4, 1.0) == [0, 0.25, 0.5, 0.75]
    assert len(schedule(0.1, 30)) == 3 and schedule(0.1, 1) == [0]
    assert len(schedule(10, 0.3)) == 3  # 10 · 0.3 is a little more than 3 in binary


def test_poisson_arrivals_have_their_rate_and_their_seed() -> None:
    times = schedule(50, 100, arrivals="poisson", seed=7)
    assert times == sorted(times) and times[0] > 0 and times[-1] < 100
    assert abs(len(times) - 5_000) < 4 * math.sqrt(5_000)
    gaps = [b - a for a, b in itertools.pairwise(times)]
    mean = sum(gaps) / len(gaps)
    deviation = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps))
    assert deviation == pytest.approx(mean, rel=0.1)  # as of no other distribution of waits
    assert times == schedule(50, 100, arrivals="poisson", seed=7) != schedule(50, 100, arrivals="poisson", seed=8)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"rates": (0.0,)}, "rate is 0"),
        ({"rates": (-1.0,)}, "rate is -1"),
        ({"rates": (math.inf,)}, "rate is inf"),
        ({"rates": ()}, "no rate"),
        ({"rates": (1e6,)}, f"{MAX_REQUESTS:,}"),
        ({"seconds": 0.0}, "seconds is 0"),
        ({"concurrencies": (0,)}, "concurrency is 0"),
        ({"concurrencies": ()}, "no concurrency"),
        ({"timeout_s": 0.0}, "timeout is 0"),
        ({"patience_s": math.nan}, "patience is nan"),
        ({"k": 0}, "k is 0"),
        ({"rates": (1e-6,), "arrivals": "poisson"}, "no request falls into"),
        ({"pid": 2**30}, "process 1073741824 cannot be watched"),
    ],
)
def test_an_option_out_of_range_is_named(changed: dict[str, Any], said: str) -> None:
    target = Slow(Time(), 0.0)
    with pytest.raises(UsageError) as caught:
        measure_load(SET, target, replace(ONE, **changed))
    assert said in str(caught.value) and target.asked == []


def test_an_empty_dataset_is_refused() -> None:
    with pytest.raises(UsageError, match="has no topics"):
        measure_load(Dataset("empty", (), ""), Slow(Time(), 0.0), ONE)


def test_latency_runs_from_the_time_a_request_was_due() -> None:
    """One worker, 0.25 s an answer, a request every 0.1 s: each waits 0.15 s longer than the one before."""
    time = Time()

    def respond(topic: Topic) -> Response:
        time.now_s += 0.25
        return right(topic)

    due = [(at, TOPICS[0]) for at in schedule(10, 0.5)]
    driven = drive(due, respond, concurrency=1, patience_s=9, timeout_s=9, clock=time.clock)
    assert [r.ended_s - r.due_s for r in driven.requests] == pytest.approx([0.25, 0.40, 0.55, 0.70, 0.85])
    assert [r.ended_s - r.sent_s for r in driven.requests] == pytest.approx([0.25] * 5)
    assert driven.seconds == pytest.approx(1.25) and not driven.overloaded and driven.n_due == 5


def test_a_target_that_keeps_up_is_asked_when_requests_are_due() -> None:
    time = Time()
    target = Slow(time, 0.05)
    [step] = measure_load(SET, target, ONE, clock=time.clock).steps
    assert (step.state, step.n_due, step.n_sent, step.n_answered) == ("kept up", 5, 5, 5)
    assert step.latency_s["p50"].mean == pytest.approx(0.05) == step.service_s["p50"].mean
    assert step.throughput == pytest.approx(10) and step.longest_wait_s == pytest.approx(0)
    assert step.quality["Recall@10"].mean == 1.0 and step.change["Recall@10"].mean == 0.0 and step.same_hits == 1.0
    assert len(target.asked) == 4 + 5 and set(target.asked[4:8]) == {"t0", "t1", "t2", "t3"}


def test_overload_ends_a_step_and_skips_higher_rates() -> None:
    time = Time()
    options = LoadOptions(rates=(40, 10, 2), concurrencies=(1,), seconds=2, patience_s=1.0)
    steps = measure_load(SET, Slow(time, 0.25), options, clock=time.clock).steps
    assert [(step.rate, step.state) for step in steps] == [(2, "kept up"), (10, "overloaded"), (40, "skipped")]
    overloaded = steps[1]
    # The n-th request is sent at 0.25 n and was due at 0.1 n; the eighth has waited 1.05 s.
    assert (overloaded.n_due, overloaded.n_sent, overloaded.n_answered) == (20, 7, 7)
    assert overloaded.seconds == pytest.approx(1.75) and overloaded.throughput == pytest.approx(4.0)
    assert overloaded.longest_wait_s == pytest.approx(0.9)


def test_a_target_that_falls_behind_is_told() -> None:
    time = Time()
    options = LoadOptions(rates=(10,), seconds=10, patience_s=60)
    [step] = measure_load(SET, Slow(time, 0.125), options, clock=time.clock).steps
    # 100 requests of 0.125 s take 12.5 s; 20 are not begun when the last is due.
    assert (step.state, step.n_sent, step.seconds) == ("fell behind", 100, pytest.approx(12.5))
    assert step.throughput == pytest.approx(8.0)
    assert step.latency_s["p99"].mean == pytest.approx(98 * 0.025 + 0.125)


def test_failures_are_counted_by_kind_score_0_and_have_no_latency() -> None:
    time = Time()
    target = Slow(time, 0.0, 0.0, 0.0, 0.0, refusing, 0.02, refusing, 30.0, 0.02)
    [step] = measure_load(SET, target, replace(ONE, rates=(10,), patience_s=60), clock=time.clock).steps
    assert step.failures == {"refused": 2, "timeout": 1}
    assert (step.n_sent, step.n_answered) == (5, 2)
    assert step.latency_s["p50"].mean is None  # the third of five, and three were never answered
    assert step.quality["Recall@10"].mean is not None and step.quality["Recall@10"].mean < 1
    assert step.change["Recall@10"].mean == pytest.approx(step.quality["Recall@10"].mean - 1)


def test_answers_that_get_worse_under_load_are_noticed() -> None:
    time = Time()
    [step] = measure_load(SET, Slow(time, 0.0, 0.0, 0.0, 0.0, wrong), ONE, clock=time.clock).steps
    assert step.quality["nDCG@10"].mean == 0 and step.change["nDCG@10"].mean == -1 and step.same_hits == 0


def test_a_target_that_always_fails_is_no_measurement() -> None:
    with pytest.raises(UpstreamError, match="failed on each of the first 4 topics, even without load: no") as caught:
        measure_load(SET, Slow(Time(), refusing), ONE)
    assert caught.value.code == "refused"
    many = tuple(replace(TOPICS[0], topic_id=f"m{n}") for n in range(50))
    hanging = Slow(Time(), refusing)
    with pytest.raises(UpstreamError, match="first 5 topics"):
        measure_load(Dataset("many", many, "x"), hanging, replace(ONE, rates=(100,)))
    assert len(hanging.asked) == 5


def test_no_more_requests_are_in_flight_than_workers() -> None:
    """Three workers meet at a barrier of three; a fourth request cannot be sent before one of them is back."""
    barrier, lock, flying, most = threading.Barrier(3, timeout=10), threading.Lock(), set[str](), [0]

    def respond(topic: Topic) -> Response:
        with lock:
            flying.add(topic.topic_id)
            most[0] = max(most[0], len(flying))
        barrier.wait()
        with lock:
            flying.discard(topic.topic_id)
        return right(topic)

    due = [(0.0, Topic(f"q{n}", "?", truths=TOPICS[0].truths)) for n in range(9)]
    driven = drive(due, respond, concurrency=3, patience_s=60, timeout_s=60)
    assert most[0] == 3 and len(driven.requests) == 9


def test_an_interrupt_keeps_what_was_measured() -> None:
    time = Time()
    n_looks = 0

    def interrupt() -> None:
        raise KeyboardInterrupt

    answered = threading.Event()

    def respond(topic: Topic) -> Response:
        if topic.topic_id == "t1":
            answered.set()
            threading.Event().wait(60)  # hangs for longer than the run waits
        return right(topic)

    def look() -> None:
        nonlocal n_looks
        n_looks += 1
        if answered.is_set():
            interrupt()

    driven = drive(
        [(0.0, TOPICS[0]), (0.1, TOPICS[1]), (0.2, TOPICS[2])], respond,
        concurrency=1, patience_s=60, timeout_s=60, clock=time.clock, sample=look,
    )  # fmt: skip
    assert driven.interrupted and [r.response is None for r in driven.requests] == [False, True]


def test_an_interrupt_of_a_load_tells_the_step_and_goes_on_as_an_interrupt() -> None:
    time, told = Time(), list[Step]()

    def interrupted(topic: Topic) -> Response:
        raise KeyboardInterrupt

    target = Slow(time, 0.0, 0.0, 0.0, 0.0, 0.01, interrupted)
    with pytest.raises(KeyboardInterrupt):
        measure_load(SET, target, ONE, clock=time.clock, done=told.append)
    assert [(step.state, step.n_answered) for step in told] == [("interrupted", 1)]


def test_a_fault_of_the_target_is_raised_as_it_is() -> None:
    def respond(topic: Topic) -> Response:
        raise ZeroDivisionError("a fault of the program")

    with pytest.raises(ZeroDivisionError, match="a fault of the program"):
        drive([(0.0, TOPICS[0])], respond, concurrency=1, patience_s=1, timeout_s=1)


def test_quantiles_are_by_nearest_rank_and_know_their_limits() -> None:
    found = quantiles([float(n) for n in range(1, 101)], [float(n) for n in range(100)])
    assert [found[q].mean for q in ("p50", "p95", "p99")] == [50, 95, 99]
    assert all(f.low is not None and f.high is not None and f.low <= (f.mean or 0) <= f.high for f in found.values())
    few = quantiles([1.0, 2.0, 3.0], [0.0, 1.0, 2.0])
    assert (few["p50"].mean, few["p95"].mean, few["p99"].mean, few["p50"].n) == (2.0, None, None, 3)
    lost = quantiles([1.0] * 90 + [math.inf] * 10, [float(n) for n in range(100)])
    assert (lost["p50"].mean, lost["p95"].mean) == (1.0, None)
    assert quantiles([], [])["p50"].n == 0


def test_intervals_of_requests_that_wait_together_are_wide() -> None:
    """Waits come in stretches: the interval must show that there were twenty of them, not a thousand requests."""
    due = [float(n) for n in range(1_000)]
    together = [1.0 + (n // 50) % 2 * 9 + n / 1e6 for n in range(1_000)]
    mixed = [1.0 + n % 2 * 9 + n / 1e6 for n in range(1_000)]
    found, other = quantiles(together, due)["p50"], quantiles(mixed, due)["p50"]
    assert found.high is not None and found.low is not None and found.high - found.low > 8
    assert other.high is not None and other.low is not None and other.high - other.low < 0.01


def test_an_endpoint_over_http_is_loaded_like_any_other(open_on: Opener) -> None:
    topics = tuple(
        Topic(f"h{n}", query, truths=(Truth(Span("shop/cart.py", 6, 17)),), repo="shop")
        for n, query in enumerate(("cart total price with tax", "holds items until checkout"))
    )
    target, stub = open_on("devmind", faults=("-", "-", "500", "html"))
    options = LoadOptions(rates=(40,), concurrencies=(2,), seconds=0.25, timeout_s=5, patience_s=30, pid=os.getpid())
    [step] = measure_load(Dataset("http", topics, "x"), target, options).steps
    assert step.n_sent == 10 and sum(step.failures.values()) == 2 and step.n_answered == 8
    assert set(step.failures) == {"http_500", "html"}
    assert len(stub.asked) == 2 + 10
    assert step.memory_bytes is None or step.memory_bytes > 1_000_000


def test_usage_of_this_process_and_of_another() -> None:
    mine, watched = usage(), usage(os.getpid())
    assert mine.cpu_s > 0 and watched.cpu_s > 0
    assert watched.cpu_s <= usage().cpu_s + 0.02  # counted in ticks of 10 ms


def test_the_picture_shows_what_was_measured() -> None:
    time = Time()
    found = measure_load(SET, Slow(time, 0.05), LoadOptions(rates=(2, 4), seconds=4), clock=time.clock)
    drawn = picture(found.unloaded, found.steps, target="slow & <steady>")
    assert "slow &amp; &lt;steady&gt; under load" in drawn and "1 in flight" in drawn and "offered" in drawn
    assert drawn.count("nothing to draw") == 1  # p95 of a few requests is not known
