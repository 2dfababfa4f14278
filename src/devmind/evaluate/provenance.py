"""What is needed to make a measurement again: versions, the machine's size, the date, and what the caller adds."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from datetime import datetime

from devmind import __version__


def provenance(now: datetime, more: Mapping[str, str | int | float]) -> dict[str, str]:
    """Return the facts as strings, those of the caller last."""
    return {
        "devmind": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "n_cpus": str(os.cpu_count() or ""),
        "date": now.isoformat(timespec="seconds"),
        **{key: str(value) for key, value in more.items()},
    }
