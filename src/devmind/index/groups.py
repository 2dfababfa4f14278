"""Arrays whose equal entries stand together, and spans of arrays: the arithmetic that views and their parts share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Places = npt.NDArray[np.int64]


def opens(values: Array) -> npt.NDArray[np.bool_]:
    """Return which entries differ from the one before."""
    differs = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=differs[1:])
    return differs


def grouped(ascending: Array) -> tuple[Array, Places]:
    """Return the distinct values, and of each entry the place of its value among them."""
    first = opens(ascending)
    return ascending[first], np.cumsum(first) - 1


def group_starts(values: Array) -> Places:
    """Return of each entry the place of the first of its group; those of a group, which are equal, stand together."""
    first = opens(values)
    starts: Places = np.flatnonzero(first)[np.cumsum(first) - 1]
    return starts


def starts_of(ends: Places, at: Places) -> Places:
    """Return where the spans at some places begin, from where all spans end."""
    starts: Places = np.where(at > 0, ends[at - 1], 0)
    return starts


def within(starts: Places, counts: Places) -> Places:
    """Return the places of all spans, one after the other; each begins at its start and has so many."""
    places: Places = np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))
    return places
