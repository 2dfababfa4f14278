"""Does a system answer from what is there now? Real changes of real files, applied under it.

``cases`` reads them; ``systems`` moves the repository and the index; ``checks`` holds hits against a commit;
``measure`` joins them and counts.
"""

from __future__ import annotations

from devmind.evaluate.freshness.cases import Case, Histories, read_cases
from devmind.evaluate.freshness.measure import Outcome, Summary, measure_freshness, summarise
from devmind.evaluate.freshness.systems import WAYS, DevMindFollower, Follower, Move, Way

__all__ = [
    "WAYS",
    "Case",
    "DevMindFollower",
    "Follower",
    "Histories",
    "Move",
    "Outcome",
    "Summary",
    "Way",
    "measure_freshness",
    "read_cases",
    "summarise",
]
