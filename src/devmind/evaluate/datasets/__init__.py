"""Files of topics with their truths ↔ ``Dataset``; checks, halves and annotations of datasets.

``read`` and ``write`` know the formats; ``check`` compares labels with the code they label; ``split`` keeps the test
half apart; ``annotation`` holds two people's labels and how they were settled. Nothing here measures a system.
"""

from __future__ import annotations

from devmind.evaluate.datasets.faults import content_hash, dataset_of
from devmind.evaluate.datasets.formats import FORMATS, LOSSLESS, Surroundings, Texts, read, read_placed, write
from devmind.evaluate.datasets.place import Place, Placed

__all__ = [
    "FORMATS",
    "LOSSLESS",
    "Place",
    "Placed",
    "Surroundings",
    "Texts",
    "content_hash",
    "dataset_of",
    "read",
    "read_placed",
    "write",
]
