"""Steps of a load → charts: latency, throughput, quality and processor time over the offered rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from devmind.evaluate.load.measure import Step, Unloaded
from devmind.evaluate.plot import Chart, Point, Series, figure
from devmind.evaluate.types import Estimate

_OFFERED = "offered"
_ALONE = "without load"


def picture(unloaded: Unloaded, steps: Sequence[Step], *, target: str) -> str:
    """Return the SVG text. Steps that were skipped, or that measured nothing, leave no point."""
    measured = [step for step in steps if step.n_sent]
    x = "requests a second"
    rates = sorted({step.rate for step in measured})
    wide = bool(rates) and rates[-1] >= 20 * rates[0]
    name = next(iter(unloaded.quality), "nDCG@10")
    due = {step.rate: Point(step.rate, step.n_due / step.step_s) for step in measured}
    offered = Series(_OFFERED, [due[rate] for rate in rates])
    alone = unloaded.quality.get(name, Estimate(None, None, None, 0)).mean
    level = Series(_ALONE, [Point(rate, alone) for rate in rates] if alone is not None else [])
    latency = []
    for q in ("p50", "p95"):
        lines = _by_concurrency(measured, partial(_latency_ms, q))
        latency.append(Chart(f"Latency from the time due, {q}", x, "milliseconds", lines, x_log=wide, y_log=True))
    throughput = _by_concurrency(measured, lambda step: Estimate(step.throughput, None, None, step.n_answered))
    quality = _by_concurrency(measured, lambda step: step.quality.get(name))
    return figure(
        f"{target} under load",
        [
            *latency,
            Chart("Answers a second", x, "answers a second", [offered, *throughput], x_log=wide, y_log=wide),
            Chart(f"{name} of the answers", x, name, [level, *quality], x_log=wide),
        ],
        note="Bars: 95 % intervals. A latency that is not drawn fell on requests without an answer, or on too few.",
    )


def _by_concurrency(steps: Sequence[Step], value: Callable[[Step], Estimate | None]) -> list[Series]:
    found = []
    for concurrency in sorted({step.concurrency for step in steps}):
        points = []
        for step in steps:
            estimate = value(step) if step.concurrency == concurrency else None
            if estimate is not None and estimate.mean is not None:
                points.append(Point(step.rate, estimate.mean, estimate.low, estimate.high))
        found.append(Series(f"{concurrency} in flight", points))
    return found


def _latency_ms(q: str, step: Step) -> Estimate | None:
    estimate = step.latency_s.get(q)
    if estimate is None or estimate.mean is None:
        return None
    low = None if estimate.low is None else estimate.low * 1000
    high = None if estimate.high is None else estimate.high * 1000
    return Estimate(estimate.mean * 1000, low, high, estimate.n)
