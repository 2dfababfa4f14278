"""Filters → which chunks of a view may be shown."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

import numpy as np
import numpy.typing as npt

from devmind.index.snapshot import File
from devmind.index.view import View
from devmind.types import Filters

Mask = npt.NDArray[np.bool_]
MASKS_KEPT: Final = 16  # of a view: a byte a chunk each


def passing(view: View, filters: Filters) -> Mask | None:
    """Return `(n,)`: which rows the filters let through; None for all.

    A view keeps the last `MASKS_KEPT`: an agent, or an evaluation, asks with the same filters again and again.
    """
    if not (filters.paths or filters.languages or filters.kinds or filters.roles):
        return None
    if filters not in view.masks:
        if len(view.masks) >= MASKS_KEPT:
            del view.masks[next(iter(view.masks))]  # the oldest
        view.masks[filters] = _mask(view, filters)
    return view.masks[filters]


def _mask(view: View, filters: Filters) -> Mask:
    files = np.array([_passes(file, filters) for file in view.files], bool)
    allowed: Mask = files[view.file] if view.n else np.empty(0, bool)
    if filters.kinds and view.n:
        allowed &= view.of_kinds(filters.kinds)
    allowed.setflags(write=False)
    return allowed


def _passes(file: File, filters: Filters) -> bool:
    return (
        (not filters.languages or file.language in filters.languages)
        and (not filters.roles or file.role in filters.roles)
        and (not filters.paths or any(_matches(file.path, glob) for glob in filters.paths))
    )


def _matches(path: str, glob: str) -> bool:
    return fnmatchcase(path, glob) or path.startswith(glob.rstrip("/") + "/")
