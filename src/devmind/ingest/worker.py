"""Worker processes that build batches: a pickled request in on standard input, a pickled result out on standard output.

A worker runs in a session of its own, so that Ctrl-C reaches the parent alone, and ends when its input does, so that a
killed parent leaves none behind. It is a plain child and no ``multiprocessing`` one: that would import the caller's
main module a second time.
"""

from __future__ import annotations

import gc
import pickle
import struct
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import IO, Any

from devmind.chunk import ChunkRules
from devmind.embed.choose import open_embedder
from devmind.embed.remote import RemoteOptions
from devmind.errors import StoreError
from devmind.ingest.build import Built, build_batch
from devmind.types import Document

Request = tuple[list[Document], ChunkRules, RemoteOptions | None]
_SIZE = struct.Struct("<Q")


def _send(stream: IO[bytes], value: object) -> None:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    stream.write(_SIZE.pack(len(data)))
    stream.write(data)
    stream.flush()


def _receive(stream: IO[bytes]) -> Any:
    """Return the next value, or None at the end of the stream."""
    head = stream.read(_SIZE.size)
    if len(head) < _SIZE.size:
        return None
    return pickle.loads(stream.read(_SIZE.unpack(head)[0]))


class Workers:
    """A few worker processes; ``build`` uses them all."""

    def __init__(self, n_workers: int) -> None:
        command = [sys.executable, "-P", "-c", "from devmind.ingest.worker import main; main()"]
        self._free = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
            for _ in range(n_workers)
        ]
        self._all = list(self._free)
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(n_workers)

    def close(self) -> None:
        """End the workers at once; what they had not returned is lost."""
        for process in self._all:
            process.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for process in self._all:
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()

    def build(
        self, batches: Iterable[list[Document]], rules: ChunkRules, remote: RemoteOptions | None
    ) -> Iterator[list[Built]]:
        """Yield the built batches as they come ready; few are held at once."""
        waiting: set[Future[list[Built]]] = set()
        for batch in batches:
            waiting.add(self._threads.submit(self._ask, (batch, rules, remote)))
            if len(waiting) >= 3 * len(self._all):
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)

    def _ask(self, request: Request) -> list[Built]:
        with self._lock:
            process = self._free.pop()
        assert process.stdin is not None and process.stdout is not None
        try:
            _send(process.stdin, request)
            result = _receive(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            raise StoreError(f"an indexing worker ended early ({error}): run the same command again") from error
        with self._lock:
            self._free.append(process)
        if result is None:
            raise StoreError(
                f"an indexing worker ended with code {process.wait()}: it may have run out of memory; run the same "
                "command again, with one worker (n_workers = 1 in config.toml) if it happens twice",
                code="worker_ended",
            )
        if isinstance(result, BaseException):
            raise result
        built: list[Built] = result
        return built


def main() -> None:
    """Serve requests until the input ends."""
    # A batch makes hundreds of thousands of small objects that die with it and hold no cycles: looking for cycles after
    # every 700 of them took about a twelfth of a worker's time.
    gc.set_threshold(200_000, 20, 20)
    while True:
        request = _receive(sys.stdin.buffer)
        if request is None:
            return
        try:
            documents, rules, remote = request
            answer: object = build_batch(documents, rules, open_embedder(remote))
        except Exception as error:  # a process edge: the parent raises it again
            error.add_note("in an indexing worker")
            answer = error
        _send(sys.stdout.buffer, answer)
