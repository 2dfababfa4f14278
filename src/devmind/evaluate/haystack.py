"""The files of one commit → where a piece of text stands in them: word for word, but for whitespace, or nearly.

It knows texts and lines only: neither hits nor truths. What it prepares of the files it keeps, so make one for a commit
and use it for all look-ups.
"""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import accumulate

from devmind.evaluate.alignment import normal_path
from devmind.evaluate.types import Span
from devmind.types import split_lines

# The nearest look-alike is searched in the files that share most of the piece's rare words, and aligned word by word
# in the best window of each. Of 240 functions of Flask, pytest and Django that a later version changed, the right file
# came first for 235 and among the first three for 238 (2026-11-30).
MAX_FILES = 4
# A longer piece is compared by its first words: aligning takes time with the square of the length.
MAX_WORDS = 3_000
_MARGIN = 0.25  # of the piece's length on both sides of the window: lines may have been added inside
_SEPARATOR = "\0"  # between files, so that nothing is found across two

_WORD = re.compile(r"[^\W\u3400-\u9fff]+|[\u3400-\u9fff]")  # an ideograph is a word of its own


@dataclass(frozen=True, slots=True)
class Near:
    """The lines most like a piece of text. ``similarity``: shared words in order, twice, over the words of both."""

    span: Span
    similarity: float


class Haystack:
    """Texts of files by path, at one commit."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        by_path = {normal_path(path): text for path, text in texts.items()}
        self.files = tuple(sorted(by_path))
        self._texts = by_path

    def __contains__(self, file: str) -> bool:
        return normal_path(file) in self._texts

    def lines(self, file: str) -> list[str]:
        return split_lines(self._texts[normal_path(file)])

    def exact(self, piece: str, *, file: str = "") -> Iterator[Span]:
        """Yield where ``piece`` stands word for word, line breaks at its ends aside, by path and line."""
        return self._as_written.find(piece.strip("\r\n"), file)

    def packed(self, piece: str, *, file: str = "") -> Iterator[Span]:
        """Yield where ``piece`` stands when all whitespace is taken out of both."""
        return self._packed.find("".join(piece.split()), file)

    def near(self, piece: str, *, file: str = "") -> Near | None:
        """Return the lines most like ``piece``; None when no file shares a word with it.

        Cost: linear in the files' words once; then with the square of the piece's length, at most `MAX_FILES` times.
        """
        words = _WORD.findall(piece)[:MAX_WORDS]
        files = ([normal_path(file)] if file in self else []) if file else self._likely_files(words)
        found = [near for name in files if (near := self._near_in(name, words)) is not None]
        return max(found, key=lambda near: near.similarity, default=None)

    @cached_property
    def _as_written(self) -> _Joined:
        return _Joined([(file, self._texts[file].split("\n"), "\n") for file in self.files])

    @cached_property
    def _packed(self) -> _Joined:
        return _Joined([(f, ["".join(line.split()) for line in self._texts[f].split("\n")], "") for f in self.files])

    @cached_property
    def _files_by_word(self) -> dict[str, array[int]]:
        files: dict[str, array[int]] = {}
        for i, file in enumerate(self.files):
            for word in sorted(set(_WORD.findall(self._texts[file]))):
                files.setdefault(word, array("L")).append(i)
        return files

    def _weight(self, word: str) -> float:
        return math.log(1 + len(self.files) / len(self._files_by_word.get(word, (0,))))

    def _likely_files(self, words: Iterable[str]) -> list[str]:
        scores: dict[int, float] = {}
        for word in sorted(set(words)):
            weight = self._weight(word)
            for i in self._files_by_word.get(word, ()):
                scores[i] = scores.get(i, 0.0) + weight
        return [self.files[i] for i in sorted(scores, key=lambda i: (-scores[i], i))[:MAX_FILES]]

    def _near_in(self, file: str, words: Sequence[str]) -> Near | None:
        numbered = [(word, n) for n, line in enumerate(self.lines(file), 1) for word in _WORD.findall(line)]
        here = [word for word, _ in numbered]
        start = self._best_window(here, words)
        if start is None:
            return None
        margin = math.ceil(len(words) * _MARGIN)
        first = max(0, start - margin)
        window = here[first : start + len(words) + margin]
        aligned = _aligned(words, window)
        if aligned is None:
            return None
        low, high, similarity = aligned
        return Near(Span(file, numbered[first + low][1], numbered[first + high - 1][1]), similarity)

    def _best_window(self, here: Sequence[str], words: Sequence[str]) -> int | None:
        """Return where the stretch of ``len(words)`` words begins that holds most of ``words``, rare ones first."""
        weights = {word: self._weight(word) for word in set(words)}
        total = [0.0, *accumulate(weights.get(word, 0.0) for word in here)]
        if not total[-1]:
            return None
        n = min(len(words), len(here))
        return max(range(len(here) - n + 1), key=lambda i: (total[i + n] - total[i], -i))


class _Joined:
    """Lines of all files as one string, in which one search finds a piece in any of them; files in order."""

    def __init__(self, files: Sequence[tuple[str, Sequence[str], str]]) -> None:
        self._files = [file for file, _, _ in files]
        self._starts = array("L")  # where each file begins
        self._first_lines = array("L")  # how many lines stand before it
        self._line_starts = array("L")
        parts: list[str] = []
        position = 0
        for _, lines, end in files:
            self._starts.append(position)
            self._first_lines.append(len(self._line_starts))
            for line in lines:
                self._line_starts.append(position)
                position += len(line) + len(end)
            parts += [end.join(lines), end, _SEPARATOR]
            position += len(_SEPARATOR)
        self._text = "".join(parts)
        self._starts.append(position)

    def find(self, piece: str, file: str) -> Iterator[Span]:
        if not piece:
            return
        low, high = 0, len(self._text)
        if file:
            i = bisect_left(self._files, normal_path(file))
            if i == len(self._files) or self._files[i] != normal_path(file):
                return
            low, high = self._starts[i], self._starts[i + 1]
        while (low := self._text.find(piece, low, high)) >= 0:
            yield self._span(low, low + len(piece) - 1)
            low += len(piece)

    def _span(self, first: int, last: int) -> Span:
        i = bisect_right(self._starts, first) - 1
        before = self._first_lines[i]
        start, end = (bisect_right(self._line_starts, position) - before for position in (first, last))
        return Span(self._files[i], start, end)


def _aligned(words: Sequence[str], window: Sequence[str]) -> tuple[int, int, float] | None:
    """Return the part of ``window`` (from, to) most like ``words``, and its similarity."""
    blocks = [b for b in SequenceMatcher(None, words, window, autojunk=False).get_matching_blocks() if b.size]
    if not blocks:
        return None
    # A word that happens to match far away would stretch the part: blocks at both ends stay only if they pay.
    matched = [0, *accumulate(block.size for block in blocks)]

    def similarity(i: int, j: int) -> float:
        length = blocks[j].b + blocks[j].size - blocks[i].b
        return 2 * (matched[j + 1] - matched[i]) / (len(words) + length)

    last = len(blocks) - 1
    left = max(range(len(blocks)), key=lambda i: similarity(i, last))
    right = max(range(left, len(blocks)), key=lambda j: similarity(left, j))
    return blocks[left].b, blocks[right].b + blocks[right].size, similarity(left, right)
