"""A file that only grows, written by one process at a time: what `write` returned from is on disk."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from devmind.errors import StoreError, UsageError


class AppendedFile:
    """The file ``path``, made if it is not there.

    Args:
        what: What messages call it, such as "run".

    Raises:
        UsageError: It cannot be opened, or another process writes it.
    """

    def __init__(self, path: Path, *, what: str) -> None:
        self.path = path
        self._what = what
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise UsageError(f"cannot write the {what} {path}: {error.strerror}; choose another file") from error
        try:
            self._lock()
            self._size = os.fstat(self._fd).st_size
        except BaseException:
            os.close(self._fd)
            raise

    def close(self) -> None:
        os.close(self._fd)

    def cut(self, size_bytes: int) -> None:
        """Leave the first ``size_bytes``: what follows was torn by a crash."""
        os.ftruncate(self._fd, size_bytes)
        self._size = size_bytes

    def write(self, data: bytes) -> None:
        """Append ``data`` and wait until it is on disk; after an error or an interrupt, none of it is there.

        Raises:
            StoreError: The disk is full, or fails.
        """
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._fd, rest) :]
            os.fsync(self._fd)
            self._size += len(data)
        except BaseException as error:
            os.ftruncate(self._fd, self._size)
            if isinstance(error, OSError):
                raise StoreError(
                    f"cannot write the {self._what} {self.path}: {error.strerror}; what was measured before is kept: "
                    "make room, then run the same command again"
                ) from error
            raise

    def _lock(self) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                f"another process is writing the {self._what} {self.path}: wait for it, or choose another file",
                code="busy",
            ) from error
