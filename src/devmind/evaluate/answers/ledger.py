"""Replies of a judge ↔ an append-only file: a crash loses none that was paid for, a re-run asks for none twice.

A line is ``{"key", "nonce", "text", "cut", "seconds"}``. The key covers the model with its settings and the whole
question that was put to it; the nonce is the random fence of that question, without which the reply cannot be read. The
reply is kept as it came: what it means is read anew each time. A failed call is not kept, so a re-run makes it again.
"""

from __future__ import annotations

import json
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from devmind.errors import StoreError, UsageError
from devmind.evaluate.appended import AppendedFile

FORMAT: Final = 1  # 1: first format
_START: Final = b'{"judge_replies": '


@dataclass(frozen=True, slots=True)
class Kept:
    """One reply as it came. ``cut``: the model stopped at its length limit."""

    key: str
    nonce: str
    text: str
    cut: bool = False
    seconds: float = 0.0


class Ledger:
    """The file ``path``; safe to share between threads, one process at a time.

    Raises:
        UsageError: The file holds something else, or another process writes it.
        StoreError: It is damaged before its last line, or has another format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._closed = False
        self._file = AppendedFile(path, what="judge's replies")
        try:
            self._kept = self._load()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:  # a thread that still waits for the endpoint finds the file closed, not half written
            self._file.close()
            self._closed = True

    def get(self, key: str) -> Kept | None:
        return self._kept.get(key)

    def add(self, kept: Kept) -> None:
        """Keep a reply; it is on disk when this returns. After the ledger was closed, nothing is kept."""
        with self._lock:
            if not self._closed:
                self._file.write(_line(asdict(kept)))
                self._kept[kept.key] = kept

    def _load(self) -> dict[str, Kept]:
        data = self.path.read_bytes()
        if b"\n" not in data and (data.startswith(_START) or _START.startswith(data)):  # empty, or a torn first line
            self._file.cut(0)
            self._file.write(_line({"judge_replies": {"format": FORMAT}}))
            return {}
        if not data.startswith(_START):
            raise UsageError(f"{self.path} holds no judge's replies: choose another file for them", code="not_replies")
        lines = data[: data.rfind(b"\n") + 1].split(b"\n")[:-1]
        kept, size = _parsed(self.path, lines)
        self._file.cut(size)
        return kept


def _parsed(path: Path, lines: list[bytes]) -> tuple[dict[str, Kept], int]:
    """Return replies by key and the length of what is whole; the last reply of a key counts."""
    kept: dict[str, Kept] = {}
    size = 0
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            if number == 1:
                version = row["judge_replies"]["format"]
                if version != FORMAT:
                    raise StoreError(
                        f"{path} has format {version}, this devmind reads format {FORMAT}: use another file",
                        code="format",
                    )
            else:
                reply = Kept(**row)
                kept[reply.key] = reply
        except (ValueError, KeyError, TypeError) as error:
            if number == len(lines) > 1:
                break  # a crash of the machine tore it
            raise StoreError(
                f"{path}:{number}: is damaged ({type(error).__name__}: {error}); remove this line, or the file"
            ) from error
        size += len(line) + 1
    return kept, size


def _line(row: object) -> bytes:
    return json.dumps(row, ensure_ascii=True, allow_nan=False).encode() + b"\n"
