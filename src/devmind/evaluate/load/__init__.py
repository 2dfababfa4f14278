"""How a system answers when many ask: latency, throughput, failures, cost, and whether its answers stay as good.

``schedule`` says when requests are due; ``drive`` sends them; ``latency`` sums their times up; ``measure`` joins these
and scores the answers.
"""

from __future__ import annotations

from devmind.evaluate.load.measure import Load, LoadOptions, Step, Unloaded, measure_load
from devmind.evaluate.load.schedule import ARRIVALS, Arrivals

__all__ = ["ARRIVALS", "Arrivals", "Load", "LoadOptions", "Step", "Unloaded", "measure_load"]
