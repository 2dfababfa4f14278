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
import traceback
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any

from devmind.chunk import ChunkRules
from devmind.embed.choose import open_embedder
from devmind.errors import StoreError
from devmind.ingest.build import Built, build_batch
from devmind.types import Document, Skipped

if TYPE_CHECKING:
    from devmind.embed.choose import EmbedderOptions

    Request = tuple[list[Document], ChunkRules, EmbedderOptions | None]

_SIZE = struct.Struct("<Q")
# Workers are as many as cores: a product of matrices shared out over threads would wait for a core that is busy.
_COMMAND = "import os; os.putenv('OPENBLAS_NUM_THREADS', '1'); from devmind.ingest.worker import main; main()"
MOST_WAITING = 250  # batches read and not built: 64 MB of text
ENDING_S = 10.0  # a process whose pipe is closed has all but ended


def _send(stream: IO[bytes], value: object) -> None:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    stream.write(_SIZE.pack(len(data)))
    stream.write(data)
    stream.flush()


def _receive(stream: IO[bytes]) -> Any:
    """Return the next value, or None at the end of the stream, even when that comes in the middle of a value."""
    head = stream.read(_SIZE.size)
    if len(head) < _SIZE.size:
        return None
    size = _SIZE.unpack(head)[0]
    data = stream.read(size)
    return pickle.loads(data) if len(data) == size else None


class Workers:
    """A few worker processes; ``build`` uses them all."""

    def __init__(self, n_workers: int) -> None:
        command = [sys.executable, "-P", "-c", _COMMAND]
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
                    with suppress(BrokenPipeError):  # part of a request that nobody read
                        stream.close()

    def build(
        self, batches: Iterable[list[Document]], rules: ChunkRules, embedder: EmbedderOptions | None
    ) -> Iterator[list[Built | Skipped]]:
        """Yield the built batches as they come ready, those first; as long as none is, take batches in advance."""
        ready: SimpleQueue[Future[list[Built | Skipped]]] = SimpleQueue()
        n_waiting = 0
        for batch in batches:
            self._threads.submit(self._ask, (batch, rules, embedder)).add_done_callback(ready.put)
            n_waiting += 1
            while n_waiting and (n_waiting >= MOST_WAITING or not ready.empty()):
                n_waiting -= 1
                yield ready.get().result()
        for _ in range(n_waiting):
            yield ready.get().result()

    def _ask(self, request: Request) -> list[Built | Skipped]:
        with self._lock:
            if not self._free:  # those that ended are not replaced; the first to find out says so for all
                raise _ended(self._all)
            process = self._free.pop()
        assert process.stdin is not None and process.stdout is not None
        try:
            _send(process.stdin, request)
            result = _receive(process.stdout)
        except OSError as error:
            raise _ended([process]) from error
        if result is None:
            raise _ended([process])
        with self._lock:
            self._free.append(process)
        if isinstance(result, BaseException):
            raise result
        built: list[Built | Skipped] = result
        return built


def _ended(processes: Sequence[subprocess.Popen[bytes]]) -> StoreError:
    """Return the error for the first of ``processes`` that has ended, which is waited for."""
    codes = [process.wait(timeout=ENDING_S) if len(processes) == 1 else process.poll() for process in processes]
    code = next((code for code in codes if code is not None), None)
    how = f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with code {code}"
    return StoreError(
        f"an indexing worker {how}: it may have run out of memory; what was indexed is kept, so run the same command "
        "again, with one worker (n_workers = 1 in config.toml) if it happens twice",
        code="worker_ended",
    )


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
            documents, rules, embedder = request
            answer: object = build_batch(documents, rules, open_embedder(embedder))
        except Exception as error:  # a process edge: the parent raises it again
            answer = _portable(error)
        _send(sys.stdout.buffer, answer)


def _portable(error: Exception) -> Exception:
    """Return what the parent can raise: the error itself, unless it cannot be sent or tells of this process alone."""
    if isinstance(error, MemoryError):
        return StoreError(
            "an indexing worker ran out of memory; what was indexed is kept, so run the same command again with one "
            "worker (n_workers = 1 in config.toml)",
            code="worker_ended",
        )
    error.add_note("in an indexing worker")
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever a foreign class does there
        return RuntimeError("".join(traceback.format_exception(error)))
    return error
