"""The errors that a caller can meet.

DevMindError
├── UsageError     the caller can fix it (command line exit 2, HTTP 4xx)
├── StoreError     stored data is missing, locked or damaged (HTTP 409/500)
└── UpstreamError  git, a model or the network failed (HTTP 502/503); ``retryable`` says whether a retry may help,
                   ``retry_after_s`` how many seconds the other side asked to wait first (None: it asked nothing)

Trouble with one file is no error: it is recorded as a skip. No hits and abstention are results.
"""

from __future__ import annotations

from functools import partial
from typing import Any


class DevMindError(Exception):
    """Carries a message that names the thing, the value and the next step, and a stable ``code``."""

    code = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class UsageError(DevMindError):
    code = "usage"


class StoreError(DevMindError):
    code = "store"


class UpstreamError(DevMindError):
    code = "upstream"

    def __init__(
        self, message: str, *, retryable: bool, code: str | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message, code=code)
        self.retryable = retryable
        self.retry_after_s = retry_after_s

    def __reduce__(self) -> tuple[Any, ...]:
        """Make it possible to send the error from one process to another, which gives no keyword by itself."""
        return partial(type(self), retryable=self.retryable), self.args, self.__dict__
