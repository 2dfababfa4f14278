"""A run over a dataset: concurrency, failures, resuming, and processes that are killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from devmind.errors import UpstreamError, UsageError
from devmind.evaluate.journal import read_run
from devmind.evaluate.runner import Clocks, Progress, RunOptions, failures_by_kind, run_target
from devmind.evaluate.types import Dataset, Response, Retrieved, Span, Topic
from tests.evaluate.opened import Opener, dataset
from tests.evaluate.stubs import DevMind, Stub, serving

NO_WAIT = Clocks(sleep=lambda _: None)
QUERIES = tuple(f"cart total number {n}" for n in range(30))


class Echo:
    """A small search engine: answers with the topic's own words, and as ``plan`` says for some topics."""

    def __init__(self, plan: Mapping[str, Callable[[], Response]] | None = None, *, name: str = "echo") -> None:
        self.name = name
        self.asked: list[str] = []
        self._plan = dict(plan or {})
        self._lock = threading.Lock()

    def respond(self, topic: Topic, *, k: int) -> Response:
        with self._lock:
            self.asked.append(topic.topic_id)
        if topic.topic_id in self._plan:
            return self._plan[topic.topic_id]()
        return Response("", hits=(Retrieved(Span("a.py", 1, len(topic.query)), score=1.0),))

    def close(self) -> None:
        """Nothing is open."""

    def settings(self) -> Mapping[str, str]:
        return {"mode": "echo"}


def failing(kind: str, *, retryable: bool = False) -> Callable[[], Response]:
    def fail() -> Response:
        raise UpstreamError(f"it is {kind}", retryable=retryable, code=kind)

    return fail


@pytest.mark.parametrize("concurrency", [1, 7])
def test_every_topic_is_asked_once_and_the_run_is_in_order(concurrency: int, tmp_path: Path) -> None:
    topics, target, told = dataset(*QUERIES), Echo(), list[Progress]()
    options = RunOptions(concurrency=concurrency)
    run = run_target(topics, target, k=10, out=tmp_path / "run.jsonl", options=options, progress=told.append)
    assert sorted(target.asked) == sorted(t.topic_id for t in topics.topics)
    assert list(run.responses) == [t.topic_id for t in topics.topics]
    assert all(r.topic_id == i and r.seconds > 0 and r.hits[0].file == "a.py" for i, r in run.responses.items())
    assert (told[0].n_done, told[-1].n_done, told[-1].n_topics, told[-1].n_resumed) == (0, 30, 30, 0)
    assert [p.n_done for p in told] == sorted(p.n_done for p in told)
    assert (run.system, run.dataset, run.k) == ("echo", "small", 10)
    assert {"dataset_hash", "started", "devmind", "target.mode", "timeout_s"} <= run.provenance.keys()
    assert read_run(tmp_path / "run.jsonl").responses == run.responses


def test_topics_are_in_flight_at_once_as_many_as_are_wanted(tmp_path: Path) -> None:
    barrier = threading.Barrier(6, timeout=10)

    def meet() -> Response:
        barrier.wait()
        return Response("")

    topics = dataset(*QUERIES[:6])
    target = Echo({t.topic_id: meet for t in topics.topics})
    run = run_target(topics, target, k=1, out=tmp_path / "r", options=RunOptions(concurrency=6), clocks=NO_WAIT)
    assert failures_by_kind(run.responses) == {}


def test_failures_are_counted_by_kind_and_nothing_else_is_lost(tmp_path: Path) -> None:
    target = Echo({"t2": failing("http_500", retryable=True), "t3": failing("html"), "t5": failing("html")})
    told: list[Progress] = []
    run = run_target(dataset(*QUERIES), target, k=3, out=tmp_path / "r", progress=told.append, clocks=NO_WAIT)
    assert failures_by_kind(run.responses) == {"html": 2, "http_500": 1} == told[-1].failures
    failure = run.responses["t2"].failure
    assert failure is not None
    assert (failure.message, failure.n_tries, target.asked.count("t2")) == ("it is http_500", 3, 3)
    assert target.asked.count("t3") == 1
    assert len(run.responses) == 30


def test_a_resumed_run_asks_what_is_missing_or_failed(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    topics = dataset(*QUERIES)
    target = Echo({"t9": failing("refused")})
    first = run_target(topics, target, k=3, out=out, clocks=NO_WAIT)
    lines = out.read_bytes().split(b"\n")
    out.write_bytes(b"\n".join(lines[:21]) + b"\n" + lines[21][:9])  # 20 responses, and a torn one
    again, told = Echo(), list[Progress]()
    run = run_target(topics, again, k=3, out=out, progress=told.append, clocks=NO_WAIT)
    assert set(again.asked) == {f"t{n}" for n in range(21, 31)} | {"t9"}
    assert (told[0].n_done, told[0].n_resumed, told[-1].n_done) == (19, 19, 30)
    assert run.responses["t9"].failure is None
    assert run.responses["t1"] == first.responses["t1"]
    assert run.provenance["started"] == first.provenance["started"]
    nothing_left = Echo()
    assert run_target(topics, nothing_left, k=3, out=out).responses == run.responses
    assert nothing_left.asked == []


def test_a_resumed_run_may_keep_its_failures(tmp_path: Path) -> None:
    topics = dataset(*QUERIES[:3])
    run_target(topics, Echo({"t2": failing("html")}), k=3, out=tmp_path / "r")
    target = Echo()
    run = run_target(topics, target, k=3, out=tmp_path / "r", options=RunOptions(retry_failed=False))
    assert (target.asked, failures_by_kind(run.responses)) == ([], {"html": 1})


@pytest.mark.parametrize(("topics", "target"), [
    (dataset(*QUERIES[:3], name="other", content_hash="zzz"), Echo()),
    (dataset(*QUERIES[:3]), Echo(name="another")),
])  # fmt: skip
def test_a_journal_of_another_run_is_refused(topics: Dataset, target: Echo, tmp_path: Path) -> None:
    run_target(dataset(*QUERIES[:3]), Echo(), k=3, out=tmp_path / "r")
    with pytest.raises(UsageError, match="is another run"):
        run_target(topics, target, k=3, out=tmp_path / "r")
    assert target.asked == []


@pytest.mark.parametrize(("change", "named"), [
    ({"k": 0}, "k is 0"),
    ({"options": RunOptions(concurrency=0)}, "concurrency is 0"),
    ({"options": RunOptions(n_tries=0)}, "n_tries is 0"),
    ({"options": RunOptions(timeout_s=float("nan"))}, "timeout_s is nan"),
])  # fmt: skip
def test_options_out_of_range_are_named(change: dict[str, object], named: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=named):
        run_target(dataset("q"), Echo(), **{"k": 3, "out": tmp_path / "r", **change})  # type: ignore[arg-type]
    assert not (tmp_path / "r").exists()


def test_an_empty_dataset_and_a_topic_that_stands_twice_are_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no topics"):
        run_target(dataset(), Echo(), k=1, out=tmp_path / "r")
    twice = Dataset("d", (Topic("a", "x"), Topic("a", "y")), "h")
    with pytest.raises(UsageError, match="'a' twice"):
        run_target(twice, Echo(), k=1, out=tmp_path / "r")


def test_a_target_that_hangs_is_given_up(tmp_path: Path) -> None:
    release = threading.Event()

    def hang() -> Response:
        release.wait(30)
        return Response("")

    options = RunOptions(timeout_s=0.1, n_tries=1)
    began_s = time.monotonic()
    run = run_target(dataset(*QUERIES[:3]), Echo({"t2": hang}), k=1, out=tmp_path / "r", options=options)
    release.set()
    assert failures_by_kind(run.responses) == {"timeout": 1}
    assert run.responses["t3"].failure is None
    assert time.monotonic() - began_s < 20


def test_a_response_that_comes_too_late_is_a_timeout(tmp_path: Path) -> None:
    ticks = iter(range(0, 1000, 10))
    clocks = Clocks(sleep=lambda _: None, seconds=lambda: float(next(ticks)))
    options = RunOptions(timeout_s=5.0, n_tries=2)
    run = run_target(dataset("q"), Echo(), k=1, out=tmp_path / "r", options=options, clocks=clocks)
    failure = run.responses["t1"].failure
    assert failure is not None
    assert (failure.kind, failure.n_tries) == ("timeout", 2)


def test_a_fault_that_is_no_failure_stops_the_run_and_keeps_what_was_measured(tmp_path: Path) -> None:
    def broken() -> Response:
        raise ZeroDivisionError("a fault of the adapter")

    topics = dataset(*QUERIES[:8])
    with pytest.raises(ZeroDivisionError, match="of the adapter"):
        run_target(topics, Echo({"t6": broken}), k=1, out=tmp_path / "r")
    assert list(read_run(tmp_path / "r").responses) == ["t1", "t2", "t3", "t4", "t5"]
    assert len(run_target(topics, Echo(), k=1, out=tmp_path / "r").responses) == 8


def test_a_full_disk_keeps_what_was_measured(tmp_path: Path) -> None:
    """The child may write files of 6,000 bytes; a write beyond that fails as on a full disk."""
    out = tmp_path / "run.jsonl"
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000)); "
    )
    with serving(DevMind()) as stub:
        done = subprocess.run([sys.executable, "-c", code + child(stub, out)], capture_output=True, text=True)
    assert done.returncode == 2
    assert "make room" in done.stderr
    kept = read_run(out).responses
    assert 0 < len(kept) < 30
    assert out.stat().st_size <= 6000
    with serving(DevMind()) as stub:
        resumed = subprocess.run([sys.executable, "-c", child(stub, out)], capture_output=True, text=True)
    assert "another run" in resumed.stderr  # the port, and so the target, is another


def child(stub: Stub, out: Path) -> str:
    """A program that measures the stub and tells every response that it was told."""
    return f"""
import sys
from pathlib import Path
from devmind.errors import DevMindError
from devmind.evaluate.runner import RunOptions, run_target
from devmind.evaluate.targets import open_target
from devmind.evaluate.types import Dataset, Topic
from devmind.settings import Settings

topics = tuple(Topic(f"t{{n}}", f"cart total number {{n}}") for n in range(1, 31))
target = open_target("{stub.url}", settings=Settings(home=Path("kb")))
try:
    run_target(Dataset("small", topics, "h"), target, k=3, out=Path({str(out)!r}), options=RunOptions(concurrency=3),
               progress=lambda p: print(p.n_done, flush=True))
except DevMindError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_process_loses_nothing_it_told_and_is_resumed(how: signal.Signals, tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    with serving(DevMind(), delay_s=0.03) as stub:
        command = [sys.executable, "-c", child(stub, out)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            told = 0
            while told < 8:
                told = int(process.stdout.readline())
            os.kill(process.pid, how)
            told = max([told, *(int(line) for line in process.stdout)])
        assert process.returncode == (130 if how == signal.SIGINT else -how)
        kept = read_run(out).responses
        assert told <= len(kept) < 30
        if how == signal.SIGINT:
            assert len(kept) == len(stub.asked)  # what was in flight was waited for
        n_before = len(stub.asked)
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[0] == str(len(kept))
        assert len(stub.asked) - n_before == 30 - len(kept)
    responses = read_run(out).responses
    assert sorted(responses) == sorted(f"t{n}" for n in range(1, 31))
    assert {i: r for i, r in responses.items() if i in kept} == kept
    assert all(response.failure is None for response in responses.values())


def test_a_flaky_endpoint_is_measured_to_the_end(open_on: Opener, tmp_path: Path) -> None:
    faults = ("500", "-", "html", "half", "close", "429", "not_json", "-", "500", "shape") * 2
    target, stub = open_on("generic", faults=faults)
    options = RunOptions(concurrency=4, n_tries=2)
    run = run_target(dataset(*QUERIES), target, k=3, out=tmp_path / "r", options=options, clocks=NO_WAIT)
    failed = failures_by_kind(run.responses)
    assert len(run.responses) == 30
    assert {"html", "not_json", "bad_shape"} <= failed.keys()
    assert sum(failed.values()) < 14
    stub.heal()
    again = run_target(dataset(*QUERIES), target, k=3, out=tmp_path / "r", options=options, clocks=NO_WAIT)
    assert failures_by_kind(again.responses) == {}


def test_the_seconds_of_a_response_hold_no_waiting_between_attempts(open_on: Opener, tmp_path: Path) -> None:
    target, _ = open_on("generic", faults=("500", "-"))
    clocks = Clocks(sleep=lambda _: time.sleep(0.5))
    run = run_target(dataset("cart total"), target, k=3, out=tmp_path / "r", clocks=clocks)
    assert run.responses["t1"].seconds < 0.5


def test_what_a_journal_holds_can_be_read_as_json_lines(tmp_path: Path) -> None:
    target = Echo({"t2": failing("html")})
    run_target(dataset(*QUERIES[:2]), target, k=3, out=tmp_path / "r")
    rows = [json.loads(line) for line in (tmp_path / "r").read_text().splitlines()]
    assert rows[0]["run"]["dataset_hash"] == "hash-of-2"
    assert rows[1]["hits"] == [{"file": "a.py", "start_line": 1, "end_line": len(QUERIES[0]), "score": 1.0}]
    assert rows[2]["failure"] == {"kind": "html", "message": "it is html", "n_tries": 1}
