"""What names each file, as arrays: its own name, its folders, and every type that it defines, a label each.

A question meets a label by the terms that they share: ``SessionCookie`` is met whole by "session cookie", half by
"session store".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from devmind.index.groups import within
from devmind.index.postings import hashes
from devmind.index.terms import distinct_terms

Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]

# Names that every second folder has: what such a file is about stands in the name of its folder.
GENERIC_STEMS: Final = frozenset(
    {"index", "mod", "init", "__init__", "lib", "main", "base", "core", "__main__", "types"}
)
TYPES: Final = frozenset(
    {"class", "struct", "interface", "enum", "trait", "protocol", "type", "union", "object", "module"}
)
# Of the labels of a file the first two; the others are types.
OWN_NAME, FOLDERS = 0, 1


@dataclass(frozen=True, slots=True)
class Labels:
    """Arrays over n files: file i has the labels up to ``label_ends[i]``, label j the terms up to ``word_ends[j]``.

    Attributes:
        label_ends: `(n_files,) int64`.
        word_ends: `(n_labels,) int64`.
        words: numbers of terms as in `postings.hashes`, uint32.
    """

    label_ends: Places
    word_ends: Places
    words: npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Met:
    """How a question meets the labels of some files, an entry a label; those of a file stand together.

    Attributes:
        file_of: the place of its file.
        nth: 0 for the first label of a file.
        n_words: how many terms it has.
        n_met: how many of them the question has.
        told: what these are worth.
    """

    file_of: Places
    nth: Places
    n_words: Places
    n_met: Places
    told: Floats


def labels_of(path: str, types: Iterable[str]) -> list[str]:
    """Return the labels of a file as texts.

    Args:
        types: names of the types that it defines.
    """
    folders, _, name = path.rpartition("/")
    stem = name.rsplit(".", 1)[0]
    if stem.lower() in GENERIC_STEMS:
        stem = f"{folders.rpartition('/')[2]} {stem}"
    return [stem, folders, *dict.fromkeys(types)]


def labelled(files: Sequence[Sequence[str]]) -> Labels:
    """Return the arrays for the labels of each file, as `labels_of` gives them.

    Cost: a label that many files have, as a folder or the types of a file with copies, is read once.
    """
    number: dict[str, int] = {}
    of_file = [[number.setdefault(label, len(number)) for label in labels] for labels in files]
    known = [sorted(distinct_terms(label)) for label in number]
    words = hashes(word for one in known for word in one)
    n_words = np.array([len(one) for one in known], np.int64)
    labels = np.fromiter(chain.from_iterable(of_file), np.int64)
    starts = np.cumsum(n_words) - n_words
    return Labels(
        label_ends=np.cumsum([len(one) for one in of_file], dtype=np.int64),
        word_ends=np.cumsum(n_words[labels]),
        words=words[within(starts[labels], n_words[labels])],
    )


def met_by(worth: Mapping[str, float], files: Places, parts: Sequence[Labels]) -> Met:
    """Return how the terms of a question meet the labels of ``files``.

    Args:
        worth: of each term of the question.
        files: ascending indexes into the files of ``parts``, one after the other.
    """
    bases = np.cumsum([0, *(len(part.label_ends) for part in parts)])
    cuts = np.searchsorted(files, bases)
    held = [
        _of_files(part, files[low:high] - base)
        for part, base, low, high in zip(parts, bases, cuts, cuts[1:], strict=False)
        if high > low
    ]
    n_labels, n_words, words = (np.concatenate(column) for column in zip(*held, strict=True)) if held else _NOTHING
    asked = hashes(worth)
    order = np.argsort(asked)
    place = np.minimum(np.searchsorted(asked, words, sorter=order), max(len(asked) - 1, 0))
    known = asked[order[place]] == words if len(asked) else np.zeros(len(words), bool)
    told = np.zeros(len(words), np.float32)
    told[known] = np.array(list(worth.values()), np.float32)[order[place[known]]]
    label_of = np.repeat(np.arange(len(n_words)), n_words)
    return Met(
        file_of=np.repeat(np.arange(len(files)), n_labels),
        nth=within(np.zeros(len(n_labels), np.int64), n_labels),
        n_words=n_words,
        n_met=np.bincount(label_of[known], minlength=len(n_words)),
        told=np.bincount(label_of, weights=told, minlength=len(n_words)).astype(np.float32),
    )


_NOTHING: Final = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint32))


def _of_files(part: Labels, files: Places) -> tuple[Places, Places, npt.NDArray[np.uint32]]:
    """Return how many labels each of ``files`` has, how many words each of these, and the words."""
    first, n_labels = _spans(part.label_ends, files)
    labels = within(first, n_labels)
    start, n_words = _spans(part.word_ends, labels)
    return n_labels, n_words, part.words[within(start, n_words)]


def _spans(ends: Places, places: Places) -> tuple[Places, Places]:
    """Return where the span of each place begins and how long it is, from where the spans end."""
    starts = np.where(places > 0, ends[places - 1], 0)
    return starts, ends[places] - starts
