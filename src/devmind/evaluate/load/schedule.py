"""A rate and a time → when each request is to be sent. The times never depend on what the target does.

A closed loop, which sends the next request when the last one is answered, asks a slow system more slowly and so hides
its worst waits ("coordinated omission"); an open one keeps the times of its users.

Source: Schroeder, Wierman and Harchol-Balter 2006 (open versus closed); Tene 2013 (coordinated omission).
"""

from __future__ import annotations

import math
import random
from typing import Final, Literal

from devmind.errors import UsageError

Arrivals = Literal["constant", "poisson"]
ARRIVALS: Final[tuple[Arrivals, ...]] = ("constant", "poisson")
MAX_REQUESTS: Final = 200_000  # of one step; each is kept until the step is summed up


def schedule(rate: float, seconds: float, *, arrivals: Arrivals = "constant", seed: int = 0) -> list[float]:
    """Return the times of all requests in seconds from the start, ascending, all below ``seconds``.

    Args:
        rate: requests a second.
        arrivals: ``constant`` (every 1/rate seconds) or ``poisson`` (waits between them are exponential with that
            mean, as those of many independent users are).

    Raises:
        UsageError: no request would fall into that time, or far too many.
    """
    for name, value in (("rate", rate), ("seconds", seconds)):
        if not (math.isfinite(value) and value > 0):
            raise UsageError(f"{name} is {value:g}: it must be more than 0", code="bad_option")
    if rate * seconds > MAX_REQUESTS:
        raise UsageError(
            f"{rate:g} requests a second for {seconds:g} s are more than {MAX_REQUESTS:,}: shorten the step",
            code="bad_option",
        )
    if arrivals == "constant":
        return [n / rate for n in range(math.ceil(rate * seconds - 1e-9))]
    rng = random.Random(f"{seed}/{rate}/{seconds}")
    times: list[float] = []
    at = rng.expovariate(rate)
    while at < seconds:
        times.append(at)
        at += rng.expovariate(rate)
    if not times:
        raise UsageError(
            f"no request falls into {seconds:g} s at {rate:g} a second (seed {seed}): make the step longer",
            code="bad_option",
        )
    return times
