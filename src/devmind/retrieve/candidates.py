"""What the legs found → the candidates: their rows, what else is near in their files, and the scores of each.

A file is judged by its best chunks, whatever leg found it, so the nearest chunks of every candidate file join.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from devmind.index.groups import grouped, opens
from devmind.index.snapshot import Floats
from devmind.index.view import Rows, View
from devmind.retrieve.passing import Mask

if TYPE_CHECKING:
    from devmind.retrieve.legs import Recall

FILES = 50  # candidates for what stands in them as a whole, wherever the legs looked
BEST = 3  # chunks that speak for a file


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows of a view, ascending; `lexical`, `dense`, `defines` and `pointed` are `(n_rows,) float32` along them.

    Attributes:
        lexical: BM25 scores, 0 where the leg did not find the chunk.
        dense: cosines.
        defines: how well the chunk defines a name of the query (0..1).
        pointed: how surely the query points at the chunk (0..1).
        whole: `(n_files,)`: BM25 of each file of the view as a whole.
    """

    rows: Rows
    lexical: Floats
    dense: Floats
    defines: Floats
    pointed: Floats
    whole: Floats


def candidates_of(taken: Recall, view: View, allowed: Mask | None) -> Candidates:
    """Return the candidates of all legs, and what else is near in their files."""
    rows, _ = grouped(np.sort(np.concatenate([taken.near, taken.found, taken.defined, taken.pointed.rows])))
    files, _ = grouped(np.sort(np.concatenate([view.file[rows], _best(taken.whole)])))
    near = _nearest_of_files(view, files, taken.scanned, allowed)
    rows, _ = grouped(np.sort(np.concatenate([rows, *near])))
    lexical, defines, pointed = np.zeros((3, len(rows)), np.float32)
    lexical[np.searchsorted(rows, taken.found)] = taken.bm25
    np.maximum.at(defines, np.searchsorted(rows, taken.defined), taken.worth)
    pointed[np.searchsorted(rows, taken.pointed.rows)] = taken.pointed.worth
    return Candidates(rows, lexical, view.cosines(taken.vector, rows), defines, pointed, taken.whole)


def _best(whole: Floats) -> Rows:
    """Return the first `FILES` files by ``whole``, without those that hold no word of the question."""
    first = np.argpartition(-whole, FILES)[:FILES] if len(whole) > FILES else np.arange(len(whole))
    return first[whole[first] > 0]


def _nearest_of_files(view: View, files: Rows, scanned: Floats, allowed: Mask | None) -> list[Rows]:
    """Return the ``BEST`` rows of each file by rough cosine, the nearest of all files, the second nearest and so on.

    A file is judged by them, whatever leg found it. The last row of a file with fewer comes again.
    """
    rows = view.rows_of_files(files)
    rows = rows if allowed is None else rows[allowed[rows]]
    near, (_, file_of) = scanned[rows], grouped(view.file[rows])
    first = np.flatnonzero(opens(file_of))
    found = []
    for _ in range(BEST if len(rows) else 0):
        nearest = np.flatnonzero(near == np.fmax.reduceat(near, first)[file_of])
        nearest = nearest[opens(file_of[nearest])]  # of equals the first
        near[nearest] = -np.inf
        found.append(rows[nearest])
    return found
