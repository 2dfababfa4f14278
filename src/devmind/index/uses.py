"""Which files use what others define, as arrays, by names alone: a sketch of the graph, cheap enough for ranking.

A name that one or two files define stands for them; where more do, telling who is meant takes the rules of
``retrieve/resolve``, for which no ranking has the time. Names of fewer than four characters are in every file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from zlib import crc32

import numpy as np
import numpy.typing as npt

from devmind.index.groups import starts_of, within
from devmind.types import ParsedDocument

LEAST_CHARS: Final = 4
MOST_OWNERS: Final = 2
_MOST_STRENGTH: Final = 12.0  # of one use: the logarithm of 160,000 names
_NAMES_NOTHING: Final = frozenset({"heading", "key", "field", "variable"})  # kinds whose names others share by chance
_NAME: Final = np.dtype("<u4")
Names = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Uses:
    """Arrays over n files: file i uses ``used[user_ends[i - 1]:user_ends[i]]``.

    Attributes:
        user_ends: `(n_files,) int64`.
        used: indexes of files, int32.
        strengths: of each use, float32: the logarithm of 1 and the number of names, a name of two owners counting half.
    """

    user_ends: npt.NDArray[np.int64]
    used: npt.NDArray[np.int32]
    strengths: npt.NDArray[np.float32]


def names_of(parsed: ParsedDocument) -> tuple[bytes, bytes]:
    """Return the names that a content defines for others, and those that it uses and does not define."""
    defined = {one.name for one in parsed.symbols if one.kind not in _NAMES_NOTHING and len(one.name) >= LEAST_CHARS}
    used = {one.name for one in parsed.references if len(one.name) >= LEAST_CHARS}
    return _packed(defined), _packed(used - defined)


def _packed(names: Iterable[str]) -> bytes:
    return np.array(sorted(crc32(name.encode("utf-8", "surrogatepass")) for name in names), _NAME).tobytes()


def linked(contents: Sequence[tuple[bytes, bytes]]) -> Uses:
    """Return which of the files with these contents, as `names_of` gives them, use which others.

    Raises:
        ValueError: a content has a size that `names_of` never gives.
    """
    n = len(contents)
    names, owners = _rows([defined for defined, _ in contents])
    order = np.argsort(names, kind="stable")
    names, owners = names[order], owners[order]
    asked, users = _rows([used for _, used in contents])
    first, last = (np.searchsorted(names, asked, side) for side in ("left", "right"))
    n_owners = last - first
    keys, parts = [], []
    for nth in range(MOST_OWNERS):
        known = (n_owners > nth) & (n_owners <= MOST_OWNERS)
        user, owner = users[known], owners[first[known] + nth]
        other = user != owner
        keys.append(user[other].astype(np.int64) * n + owner[other])
        parts.append(1.0 / n_owners[known][other])
    edges, edge_of = np.unique(np.concatenate(keys), return_inverse=True)
    weights = np.bincount(edge_of, weights=np.concatenate(parts), minlength=len(edges))
    return Uses(
        user_ends=np.searchsorted(edges, np.arange(1, n + 1, dtype=np.int64) * n).astype(np.int64),
        used=(edges % max(n, 1)).astype(np.int32),
        strengths=np.log1p(weights).astype(np.float32),
    )


def _rows(blobs: Sequence[bytes]) -> tuple[Names, npt.NDArray[np.int32]]:
    """Return all names, and of each the index of its file."""
    arrays = [np.frombuffer(blob, _NAME) for blob in blobs]
    files = np.repeat(np.arange(len(arrays), dtype=np.int32), [len(array) for array in arrays])
    return np.concatenate(arrays) if arrays else np.empty(0, _NAME), files


@dataclass(frozen=True, slots=True)
class Among:
    """The uses between some files: ``users[i]`` uses ``used[i]``, both places in the list of files."""

    users: npt.NDArray[np.int64]
    used: npt.NDArray[np.int64]
    strengths: npt.NDArray[np.float32]


def among(files: npt.NDArray[np.int64], parts: Sequence[Uses]) -> Among:
    """Return the uses between ``files``, ascending indexes into the files of ``parts``, one after the other."""
    bases = np.cumsum([0, *(len(part.user_ends) for part in parts)])
    cuts = np.searchsorted(files, bases)
    users, used, strengths = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.float32)]
    for part, base, low, high in zip(parts, bases, cuts, cuts[1:], strict=False):
        if high == low:
            continue
        local = files[low:high] - base
        starts = starts_of(part.user_ends, local)
        counts = part.user_ends[local] - starts
        at = within(starts, counts)
        users.append(np.repeat(np.arange(low, high), counts))
        used.append(part.used[at].astype(np.int64) + base)
        strengths.append(part.strengths[at])
    user, target, strength = np.concatenate(users), np.concatenate(used), np.concatenate(strengths)
    place = np.minimum(np.searchsorted(files, target), max(len(files) - 1, 0))
    known = files[place] == target if len(files) else np.zeros(0, bool)
    # Whatever damaged arrays on disk say is some strength: one that is no number would lose its file every place.
    strength = np.clip(np.nan_to_num(strength[known], nan=0.0), 0.0, _MOST_STRENGTH)
    return Among(user[known], place[known].astype(np.int64), strength)
