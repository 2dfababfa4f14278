"""Latencies of requests → quantiles with intervals. A request that was never answered is infinitely slow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from devmind.evaluate.statistics import LEVEL, SEED
from devmind.evaluate.types import Estimate

QUANTILES: Final = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
# Requests that follow each other share their queue, so stretches of time are drawn, not requests: twenty of them are
# long against a queue that a target keeps up with, and enough to draw from.
N_STRETCHES: Final = 20
_N_RESAMPLES: Final = 1_000


def quantiles(values: Sequence[float], due_s: Sequence[float]) -> dict[str, Estimate]:
    """Return each of ``QUANTILES`` by nearest rank, with a 95 % interval by bootstrap over stretches of time.

    A quantile is None where too few requests lie beyond it to know it (p99 of fewer than 100), or where it falls on a
    request without an answer; an end of an interval likewise.

    Args:
        values: latencies; infinite for requests that were not answered.
        due_s: when each was due.

    Source: Künsch 1989 (block bootstrap).
    """
    n = len(values)
    if not n:
        return {name: Estimate(None, None, None, 0) for name in QUANTILES}
    order = np.argsort(np.asarray(values), kind="stable")
    ordered = np.asarray(values, dtype=np.float64)[order]
    stretch = _stretches(due_s)[order]
    drawn = _resampled(ordered, stretch)
    found = {}
    for at, (name, q) in enumerate(QUANTILES.items()):
        known = round(n * (1 - q), 6) >= 1
        value = float(ordered[math.ceil(q * n - 1e-9) - 1])
        low, high = np.quantile(drawn[:, at], [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
        found[name] = (
            Estimate(_finite(value), _finite(float(low)), _finite(float(high)), n)
            if known
            else Estimate(None, None, None, n)
        )
    return found


def _stretches(due_s: Sequence[float]) -> np.ndarray:
    """Return the stretch of each request; each is one of its own while there are few."""
    n = len(due_s)
    if n < 2 * N_STRETCHES:
        return np.arange(n)
    times = np.asarray(due_s, dtype=np.float64)
    span = float(times.max() - times.min()) or 1.0
    numbers = np.minimum((times - times.min()) / span * N_STRETCHES, N_STRETCHES - 1).astype(np.intp)
    unique: np.ndarray = np.unique(numbers, return_inverse=True)[1]
    return unique


def _resampled(ordered: np.ndarray, stretch: np.ndarray) -> np.ndarray:
    """Return the quantiles of each resample, shape (n_resamples, n_quantiles)."""
    rng = np.random.default_rng(SEED)
    n_stretches = int(stretch.max()) + 1
    out = np.empty((_N_RESAMPLES, len(QUANTILES)))
    for row in range(_N_RESAMPLES):
        times = np.bincount(rng.integers(0, n_stretches, n_stretches), minlength=n_stretches)
        upto = np.cumsum(times[stretch])
        ranks = [max(1, math.ceil(q * int(upto[-1]) - 1e-9)) for q in QUANTILES.values()]
        out[row] = ordered[np.searchsorted(upto, ranks)]
    return out


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
