"""Filters → which chunks of a view may be shown."""

from __future__ import annotations

from fnmatch import fnmatchcase

import numpy as np
import numpy.typing as npt

from devmind.index.snapshot import File
from devmind.index.view import View
from devmind.types import Filters

Mask = npt.NDArray[np.bool_]


def passing(view: View, filters: Filters) -> Mask | None:
    """Return `(n,)`: which rows the filters let through; None for all."""
    if not (filters.paths or filters.languages or filters.kinds or filters.roles):
        return None
    files = np.array([_passes(file, filters) for file in view.files], bool)
    allowed: Mask = files[view.file] if view.n else np.empty(0, bool)
    if filters.kinds and view.n:
        allowed &= view.of_kinds(filters.kinds)
    return allowed


def _passes(file: File, filters: Filters) -> bool:
    return (
        (not filters.languages or file.language in filters.languages)
        and (not filters.roles or file.role in filters.roles)
        and (not filters.paths or any(_matches(file.path, glob) for glob in filters.paths))
    )


def _matches(path: str, glob: str) -> bool:
    return fnmatchcase(path, glob) or path.startswith(glob.rstrip("/") + "/")
