from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from devmind.errors import UpstreamError
from devmind.retry import retry_after_s, retrying

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


def failing(n_times: int, **error: float) -> Callable[[], str]:
    left = iter(range(n_times))

    def attempt() -> str:
        if next(left, None) is not None:
            raise UpstreamError("down", retryable=True, **error)
        return "up"

    return attempt


def test_waits_double_up_to_the_longest() -> None:
    waits: list[float] = []
    assert retrying(failing(9), n_tries=10, sleep=waits.append) == "up"
    assert waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


def test_the_last_failure_is_raised_and_one_try_never_waits() -> None:
    waits: list[float] = []
    with pytest.raises(UpstreamError):
        retrying(failing(3), n_tries=1, sleep=waits.append)
    assert waits == []


def test_an_asked_wait_is_kept_as_it_is() -> None:
    waits: list[float] = []
    retrying(failing(1, retry_after_s=7), n_tries=2, sleep=waits.append, random=lambda: 0.0)
    assert waits == [7]


@pytest.mark.parametrize(("value", "seconds"), [
    ("", None),
    ("12", 12.0),
    ("-1", None),
    ("1.5", None),
    ("²", None),
    ("soon", None),
    ("Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
    ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
    ("Mon, 30 Nov 2026 12:00:30", None),
])  # fmt: skip
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    assert retry_after_s(value, now=NOW) == seconds


def test_without_a_clock_a_date_asks_nothing() -> None:
    assert retry_after_s("Mon, 30 Nov 2026 12:00:30 GMT") is None
