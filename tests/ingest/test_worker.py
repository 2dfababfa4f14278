"""Worker processes that end early, are told of once, and leave the next run to finish."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from pathlib import Path

import pytest

from devmind.chunk import ChunkRules
from devmind.errors import StoreError, UpstreamError
from devmind.ingest import IngestOptions, Progress, Writer
from devmind.ingest.worker import Workers
from devmind.types import Document


def documents(n: int, n_functions: int = 400) -> list[list[Document]]:
    text = "".join(f"def f_{i}(a):\n    return a + {i}\n\n" for i in range(n_functions))
    return [
        [Document(f"m{at}.py", f"X = {at}\n{text}", "python", "source", f"{at:032x}", "utf-8", len(text))]
        for at in range(n)
    ]


@pytest.mark.parametrize("n_killed", [1, 3])
def test_killed_workers_are_told_once_and_the_others_stopped(n_killed: int) -> None:
    workers = Workers(3)
    try:
        found = workers.build(documents(60), ChunkRules(), None)
        next(found)
        for process in workers._all[:n_killed]:
            os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(StoreError, match="worker was killed by signal 9") as caught:
            for _ in found:
                pass
    finally:
        workers.close()
    assert caught.value.code == "worker_ended"
    assert all(process.poll() is not None for process in workers._all)


def test_asking_when_all_workers_are_gone() -> None:
    workers = Workers(2)
    try:
        for process in workers._all:
            process.kill()
            process.wait()
        for _ in range(4):  # more often than there are workers
            with pytest.raises(StoreError, match="worker was killed by signal 9"):
                list(workers.build(documents(1), ChunkRules(), None))
    finally:
        workers.close()


def test_the_next_run_finishes(tmp_path: Path, kb: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    for batch in documents(200):
        (source / batch[0].path).write_text(batch[0].text)

    def children() -> list[int]:
        return [int(pid) for pid in Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()]

    def kill_workers(progress: Progress) -> None:
        if progress.phase == "index" and progress.done > 0:
            for pid in children():
                os.kill(pid, signal.SIGKILL)

    with Writer(kb, IngestOptions(n_workers=2)) as writer, pytest.raises(StoreError, match="worker was killed"):
        writer.add(str(source), progress=kill_workers)
    with Writer(kb, IngestOptions(n_workers=2)) as writer:
        report = writer.add(str(source))
    assert (report.n_indexed, report.generation) == (200, 1)
    assert 0 < report.n_reused < 200


def test_copies_are_built_once_wherever_they_lie(tmp_path: Path, kb: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    for at, (document,) in enumerate(documents(90)):
        (source / document.path).write_text(document.text)
        if at % 3 == 0:
            (source / f"{'a' if at % 2 else 'z'}{at}.py").write_text(document.text)
    with Writer(kb, IngestOptions(n_workers=2)) as writer:
        report = writer.add(str(source))
        again = writer.sync(report.repo)
        shared = writer.catalog.rows("SELECT count(*) FROM place GROUP BY content_id HAVING count(*) = 2")
    assert (report.n_indexed, report.n_reused, len(shared)) == (120, 30, 30)
    assert (again.changed, again.n_reused) == (False, 120)


def test_an_error_with_keywords_crosses_processes() -> None:
    """The parent could not make it again, and said "missing 1 required keyword-only argument"."""
    error = UpstreamError("busy", retryable=True, code="rate_limit", retry_after_s=2.5)
    error.add_note("in an indexing worker")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is UpstreamError
    assert (str(again), again.retryable, again.code, again.retry_after_s) == ("busy", True, "rate_limit", 2.5)
    assert again.__notes__ == ["in an indexing worker"]


def test_a_worker_out_of_memory_is_told(tmp_path: Path) -> None:
    import resource

    workers = Workers(1)
    try:
        list(workers.build(documents(1), ChunkRules(), None))
        pid = workers._all[0].pid
        held = int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()
        resource.prlimit(pid, resource.RLIMIT_AS, (held + 5_000_000, held + 5_000_000))
        with pytest.raises(StoreError, match="memory") as caught:
            list(workers.build([[documents(1, 60_000)[0][0]]], ChunkRules(), None))
    finally:
        workers.close()
    assert caught.value.code == "worker_ended"
