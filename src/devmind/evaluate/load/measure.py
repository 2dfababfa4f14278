"""A dataset × a target × rates and numbers of workers → steps: latency, throughput, failures, cost and quality.

Every topic is first asked alone: that warms the target up and gives what its answers and times are without load.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from devmind.errors import UpstreamError, UsageError
from devmind.evaluate.checked import checked_dataset
from devmind.evaluate.load.drive import Clock, Driven, Request, drive
from devmind.evaluate.load.latency import quantiles
from devmind.evaluate.load.schedule import Arrivals, schedule
from devmind.evaluate.measures import depth
from devmind.evaluate.runner import MAX_CONCURRENCY, Clocks, RunOptions, ask
from devmind.evaluate.score import score_topic
from devmind.evaluate.statistics import estimate, mean, sign_flip
from devmind.evaluate.targets.types import Target
from devmind.evaluate.types import Dataset, Estimate, Failure, Response, Topic
from devmind.evaluate.usage import Usage, usage

MEASURES = ("nDCG@10", "Recall@10")
UNFINISHED = "unfinished"  # the kind of failure of a request that the run did not wait for any longer
GIVES_UP = 5  # a target that fails on so many topics at first, one after the other, is not there
# A target that still has more than this share of a step's requests to begin when all are due serves fewer than are
# offered, even if nobody lost patience within the step. As many as there are workers may wait at any moment.
BACKLOG = 0.05

_TIE = 1e-12  # a mean over equal numbers differs from them by rounding

State = Literal["kept up", "fell behind", "overloaded", "interrupted", "skipped"]


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How a target is loaded.

    Attributes:
        rates: requests a second; every rate is tried with every concurrency, low ones first.
        concurrencies: workers: how many requests may be in flight at once.
        seconds: how long requests are due in one step.
        seed: of the times of ``poisson`` and of the order of topics.
        k: hits a request.
        timeout_s: a request that takes longer has failed.
        patience_s: a request that waits longer than this for a worker ends its step: the target is overloaded.
        match: the rule by which hits find truths.
        pid: watch this process, when the target is a server on this machine.
    """

    rates: tuple[float, ...]
    concurrencies: tuple[int, ...] = (1,)
    seconds: float = 10.0
    arrivals: Arrivals = "constant"
    seed: int = 0
    k: int = 10
    timeout_s: float = 10.0
    patience_s: float = 5.0
    match: str = "path"
    pid: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One rate at one concurrency; requests were due for ``step_s``. Latency runs from the time a request was due,
    service from when it was sent.

    ``quality`` is over the requests that were sent, those that failed counting 0; ``change`` is quality minus that of
    the same topics without load, ``p`` how likely such a change is by chance; ``same_hits`` the share of answered
    requests with exactly the hits that their topic had without load.
    """

    rate: float
    concurrency: int
    state: State
    step_s: float = 0.0
    n_due: int = 0
    n_sent: int = 0
    n_answered: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    throughput: float = 0.0
    latency_s: Mapping[str, Estimate] = field(default_factory=dict)
    service_s: Mapping[str, Estimate] = field(default_factory=dict)
    longest_wait_s: float = 0.0
    cpu_s: float = 0.0
    memory_bytes: int | None = None
    quality: Mapping[str, Estimate] = field(default_factory=dict)
    change: Mapping[str, Estimate] = field(default_factory=dict)
    p: Mapping[str, float | None] = field(default_factory=dict)
    same_hits: float | None = None


@dataclass(frozen=True, slots=True)
class Unloaded:
    """What the target does when it is asked one topic after the other."""

    responses: Mapping[str, Response]
    scores: Mapping[str, Mapping[str, float | None]]
    quality: Mapping[str, Estimate]
    service_s: Mapping[str, Estimate]
    failures: Mapping[str, int]
    cpu_s: float
    memory_bytes: int | None


@dataclass(frozen=True, slots=True)
class Load:
    """All that was measured."""

    unloaded: Unloaded
    steps: tuple[Step, ...]


def measure_load(
    dataset: Dataset,
    target: Target,
    options: LoadOptions,
    *,
    began: Callable[[Unloaded], None] = lambda _: None,
    done: Callable[[Step], None] = lambda _: None,
    clock: Clock = Clock(),  # noqa: B008
) -> Load:
    """Load ``target`` with the topics of ``dataset``, step by step; a rate above one that overloaded is skipped.

    Args:
        began: called when all topics were asked without load.
        done: called with each step; what it was called with is measured, whatever comes after.

    Raises:
        UsageError: an option is out of range, or the dataset has no topics.
        UpstreamError: the target fails on the first topics, even without load.
        KeyboardInterrupt: as it came, after ``done`` was called with what the step had measured.
    """
    _check(options)
    topics = _order(checked_dataset(dataset).topics, options)
    watch = _Watch(options.pid)
    unloaded = _unloaded(topics, target, options, clock, watch)
    began(unloaded)
    steps = []
    for concurrency in sorted(set(options.concurrencies)):
        overloaded = False
        for rate in sorted(set(options.rates)):
            if overloaded:
                step = Step(rate, concurrency, "skipped")
            else:
                step = _step(topics, target, options, unloaded, rate=rate, concurrency=concurrency, clock=clock)
                overloaded = step.state == "overloaded"
            steps.append(step)
            done(step)
            if step.state == "interrupted":
                raise KeyboardInterrupt
    return Load(unloaded, tuple(steps))


class _Watch:
    """Processor seconds since it was made, and the most memory that a look at it saw."""

    def __init__(self, pid: int | None) -> None:
        self._pid = pid
        self._before = usage(pid)
        self._peak = self._before.memory_bytes

    def look(self) -> None:
        memory = usage(self._pid).memory_bytes
        if memory is not None:
            self._peak = max(memory, self._peak or 0)

    def used(self) -> Usage:
        now = usage(self._pid)
        self.look()
        return Usage(now.cpu_s - self._before.cpu_s, self._peak)


def _unloaded(topics: Sequence[Topic], target: Target, options: LoadOptions, clock: Clock, watch: _Watch) -> Unloaded:
    respond = _asker(target, options, clock)
    responses: dict[str, Response] = {}
    for n_asked, topic in enumerate(topics, start=1):
        responses[topic.topic_id] = respond(topic)
        watch.look()
        if n_asked == min(GIVES_UP, len(topics)):
            _check_alive(target, responses)
    scores = {topic.topic_id: _scores(topic, responses[topic.topic_id], options) for topic in topics}
    times = [math.inf if r.failure else r.seconds for r in responses.values()]
    used = watch.used()
    return Unloaded(
        responses=responses,
        scores=scores,
        quality=_quality(topics, {topic_id: [score] for topic_id, score in scores.items()}, options.k),
        service_s=quantiles(times, range(len(times))),
        failures=_by_kind(responses.values()),
        cpu_s=used.cpu_s,
        memory_bytes=used.memory_bytes,
    )


def _check_alive(target: Target, responses: Mapping[str, Response]) -> None:
    failed = [r.failure for r in responses.values() if r.failure is not None]
    if len(failed) == len(responses):
        raise UpstreamError(
            f"the target {target.name!r} failed on each of the first {len(failed)} topics, even without load: "
            f"{failed[0].message}",
            retryable=False,
            code=failed[0].kind,
        )


def _step(
    topics: Sequence[Topic],
    target: Target,
    options: LoadOptions,
    unloaded: Unloaded,
    *,
    rate: float,
    concurrency: int,
    clock: Clock,
) -> Step:
    times = schedule(rate, options.seconds, arrivals=options.arrivals, seed=options.seed)
    due = [(at, topics[n % len(topics)]) for n, at in enumerate(times)]
    watch = _Watch(options.pid)
    driven = drive(
        due,
        _asker(target, options, clock),
        concurrency=concurrency,
        patience_s=options.patience_s,
        timeout_s=options.timeout_s,
        clock=clock,
        sample=watch.look,
    )
    used = watch.used()
    responses = [_response(request) for request in driven.requests]
    answered = [r for r in responses if r.failure is None]
    ended = [math.inf if r.failure else request.ended_s for request, r in zip(driven.requests, responses, strict=True)]
    due_s = [request.due_s for request in driven.requests]
    sent_s = [request.sent_s for request in driven.requests]
    scores = _scores_by_topic(driven.requests, options)
    asked = [topic for topic in topics if topic.topic_id in scores]
    scored = _measures(options.k)
    whole = not (driven.overloaded or driven.interrupted)
    duration = max(driven.seconds, options.seconds) if whole else driven.seconds
    throughput = len(answered) / duration if duration else 0.0
    return Step(
        rate=rate,
        concurrency=concurrency,
        state=_state(driven, seconds=options.seconds, concurrency=concurrency),
        step_s=options.seconds,
        n_due=driven.n_due,
        n_sent=len(driven.requests),
        n_answered=len(answered),
        failures=_by_kind(responses),
        seconds=duration,
        throughput=throughput,
        latency_s=quantiles([end - at for end, at in zip(ended, due_s, strict=True)], due_s),
        service_s=quantiles([end - at for end, at in zip(ended, sent_s, strict=True)], due_s),
        longest_wait_s=max((sent - at for sent, at in zip(sent_s, due_s, strict=True)), default=0.0),
        cpu_s=used.cpu_s,
        memory_bytes=used.memory_bytes,
        quality=_quality(asked, scores, options.k),
        change={name: _change(asked, scores, unloaded, name) for name in scored},
        p={name: sign_flip(_differences(asked, scores, unloaded, name)) for name in scored},
        same_hits=_same_hits(answered, unloaded),
    )


def _state(driven: Driven, *, seconds: float, concurrency: int) -> State:
    if driven.interrupted:
        return "interrupted"
    if driven.overloaded:
        return "overloaded"
    n_late = sum(request.sent_s > seconds for request in driven.requests)
    return "fell behind" if n_late > concurrency + BACKLOG * driven.n_due else "kept up"


def _asker(target: Target, options: LoadOptions, clock: Clock) -> Callable[[Topic], Response]:
    asked = RunOptions(timeout_s=options.timeout_s, n_tries=1)
    clocks = Clocks(seconds=clock.now)

    def respond(topic: Topic) -> Response:
        return ask(target, topic, k=options.k, options=asked, clocks=clocks) or Response(topic.topic_id)

    return respond


def _order(topics: Sequence[Topic], options: LoadOptions) -> list[Topic]:
    """Return the topics that the longest step asks, in an order that the seed draws: files keep like ones together."""
    shuffled = list(topics)
    random.Random(options.seed).shuffle(shuffled)
    return shuffled[: max(1, math.ceil(max(options.rates) * options.seconds))]


def _response(request: Request) -> Response:
    if request.response is not None:
        return request.response
    failure = Failure(UNFINISHED, "the run ended before the answer came")
    return Response(request.topic.topic_id, failure=failure)


def _by_kind(responses: Iterable[Response]) -> dict[str, int]:
    return dict(Counter(r.failure.kind for r in responses if r.failure is not None).most_common())


def _measures(k: int) -> list[str]:
    return [name for name in MEASURES if (depth(name) or 0) <= k]


def _scores(topic: Topic, response: Response, options: LoadOptions) -> Mapping[str, float | None]:
    ks = sorted({depth(name) or 1 for name in _measures(options.k)}) or [options.k]
    return score_topic(topic, response, match=options.match, ks=ks).measures


def _scores_by_topic(requests: Sequence[Request], options: LoadOptions) -> dict[str, list[Mapping[str, float | None]]]:
    found: dict[str, list[Mapping[str, float | None]]] = {}
    for request in requests:
        scored = _scores(request.topic, _response(request), options)
        found.setdefault(request.topic.topic_id, []).append(scored)
    return found


def _quality(
    topics: Sequence[Topic], scores: Mapping[str, Sequence[Mapping[str, float | None]]], k: int
) -> dict[str, Estimate]:
    """Return the mean of each measure over topics, each the mean of its requests."""
    repos = [topic.repo for topic in topics]
    return {
        name: estimate([mean([s.get(name) for s in scores[topic.topic_id]]) for topic in topics], repos)
        for name in _measures(k)
    }


def _change(
    topics: Sequence[Topic],
    scores: Mapping[str, Sequence[Mapping[str, float | None]]],
    unloaded: Unloaded,
    name: str,
) -> Estimate:
    repos = [topic.repo for topic in topics if unloaded.scores[topic.topic_id].get(name) is not None]
    return estimate(_differences(topics, scores, unloaded, name), repos)


def _differences(
    topics: Sequence[Topic],
    scores: Mapping[str, Sequence[Mapping[str, float | None]]],
    unloaded: Unloaded,
    name: str,
) -> list[float]:
    found = []
    for topic in topics:
        alone = unloaded.scores[topic.topic_id].get(name)
        loaded = mean([s.get(name) for s in scores[topic.topic_id]])
        if alone is not None and loaded is not None:
            found.append(loaded - alone if abs(loaded - alone) > _TIE else 0.0)
    return found


def _same_hits(responses: Sequence[Response], unloaded: Unloaded) -> float | None:
    compared = [r for r in responses if unloaded.responses[r.topic_id].failure is None]
    if not compared:
        return None
    same = sum(_places(r) == _places(unloaded.responses[r.topic_id]) for r in compared)
    return same / len(compared)


def _places(response: Response) -> list[object]:
    return [hit.span or hit.text for hit in response.hits]


def _check(options: LoadOptions) -> None:
    positive = {
        "seconds": (options.seconds,),
        "rate": options.rates,
        "timeout": (options.timeout_s,),
        "patience": (options.patience_s,),
    }
    for name, values in positive.items():
        if not values:
            raise UsageError(f"no {name} is given: name at least one", code="bad_option")
        for value in values:
            if not (math.isfinite(value) and value > 0):
                raise UsageError(f"{name} is {value:g}: it must be more than 0", code="bad_option")
    if not options.concurrencies:
        raise UsageError("no concurrency is given: name at least one", code="bad_option")
    for concurrency in options.concurrencies:
        if not 1 <= concurrency <= MAX_CONCURRENCY:
            raise UsageError(f"concurrency is {concurrency}: it must be 1 to {MAX_CONCURRENCY}", code="bad_option")
    if options.k < 1:
        raise UsageError(f"k is {options.k}: ask for at least one hit", code="bad_option")
    for rate in options.rates:
        schedule(rate, options.seconds, arrivals=options.arrivals, seed=options.seed)  # none may be empty or too long
