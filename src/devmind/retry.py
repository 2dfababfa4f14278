"""An attempt that may fail for now → its result after a few waits that grow, or the last failure.

Waits only: what may be repeated is for the attempt to say, by `UpstreamError.retryable`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final, TypeVar

from devmind.errors import UpstreamError

# The first wait after a refusal; it doubles up to the last. Three repeats ride out a rolling restart or a minute's
# rate limit.
FIRST_WAIT_S: Final = 0.5
LONGEST_WAIT_S: Final = 30.0
# A server that asks for a longer pause than this (`Retry-After`) is treated as down for now.
LONGEST_ASKED_WAIT_S: Final = 60.0
RETRIED_STATUS: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})

T = TypeVar("T")


def retrying(
    attempt: Callable[[], T], *, n_tries: int, sleep: Callable[[float], None], random: Callable[[], float] | None = None
) -> T:
    """Return what `attempt` returns; call it again while it raises a retryable `UpstreamError`.

    Args:
        n_tries: How often `attempt` is called at most, 1 or more.
        random: A number in 0..1. When given, each wait that the other side did not ask for is a random half to whole of
            its length, so that clients which failed together do not come back together.

    Raises:
        UpstreamError: The last failure; the first one that is not retryable or asks for a pause that is too long.
    """
    wait_s = FIRST_WAIT_S
    for number in range(1, n_tries + 1):
        try:
            return attempt()
        except UpstreamError as error:
            asked_s = error.retry_after_s
            if not error.retryable or number == n_tries or (asked_s or 0) > LONGEST_ASKED_WAIT_S:
                raise
        spread = 1.0 if random is None else 0.5 + random() / 2
        sleep(wait_s * spread if asked_s is None else asked_s)
        wait_s = min(2 * wait_s, LONGEST_WAIT_S)
    raise AssertionError("unreachable: the last attempt returns or raises")


def retry_after_s(value: str, *, now: datetime | None = None) -> float | None:
    """Return the seconds that a `Retry-After` header asks to wait; None when it asks nothing.

    Args:
        now: The time with its zone, to understand a header that names a date; without it such a header asks nothing.

    Source: RFC 9110, section 10.2.3.
    """
    if value.isascii() and value.isdigit():
        return float(value)
    if now is None or not value:
        return None
    try:
        then = parsedate_to_datetime(value)
        return max(0.0, (then - now).total_seconds())
    except (TypeError, ValueError):  # no date, or one without a zone
        return None
