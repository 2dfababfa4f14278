"""Chinese text → its words, and what each may be called in code: English identifiers, phrases and pinyin.

The words are those of ``data/glossary.tsv``, our own, and of ``data/function_words.txt``, which ask or join rather than
tell; what both lack stays a run of characters. Nothing here knows an index: whoever asks decides which of the names
occur.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice, product

RUN = re.compile(r"[\u3400-\u9fff]+")
MAX_READINGS = 4  # of a word whose characters are read in several ways
MIN_PINYIN = 4  # letters; shorter ones (``ma``, ``he``) are English words or variables far too often
MIN_PINYIN_CHARACTERS = 2


@dataclass(frozen=True, slots=True)
class Word:
    """A piece of Chinese text.

    Attributes:
        text: as written.
        english: names in code, the commonest first; the words of a phrase are joined by ``_``. Empty for a function
            word and for what the glossary lacks.
        known: whether the glossary or the function words hold it.
    """

    text: str
    english: tuple[str, ...]
    known: bool


def _lines(name: str) -> list[str]:
    return files("devmind.retrieve").joinpath("data", name).read_text("utf-8").splitlines()


@cache
def _glossary() -> dict[str, str]:
    """Return the English of each word, not yet split: a question needs few of the lines."""
    words = dict.fromkeys(_lines("function_words.txt"), "")
    for line in _lines("glossary.tsv"):
        word, _, english = line.partition("\t")
        words[word] = english
    return words


@cache
def _longest() -> int:
    return max(map(len, _glossary()))


def segment(text: str) -> list[Word]:
    """Return the words of every Chinese run of ``text``, in order; together they cover each run.

    Of all ways to cut a run, the one that leaves the fewest characters unknown, then the one of fewest words.
    """
    return [word for run in RUN.findall(text) for word in _cut(run)]


def _cut(run: str) -> Iterator[Word]:
    words, longest = _glossary(), _longest()
    # best[i]: (characters not covered, words) of run[:i], and where its last word begins; less is better.
    best: list[tuple[int, int]] = [(0, 0)]
    begins = [0]
    for end in range(1, len(run) + 1):
        missed, n = best[end - 1]
        choice, begin = (missed + 1, n), end - 1
        for start in range(max(0, end - longest), end):
            if run[start:end] in words:
                missed, n = best[start]
                if (missed, n + 1) < choice:
                    choice, begin = (missed, n + 1), start
        best.append(choice)
        begins.append(begin)
    cuts = [len(run)]
    while cuts[-1]:
        cuts.append(begins[cuts[-1]])
    unknown = ""
    for start, end in zip(cuts[:0:-1], cuts[-2::-1], strict=True):
        piece = run[start:end]
        if piece not in words:
            unknown += piece
            continue
        if unknown:
            yield Word(unknown, (), known=False)
            unknown = ""
        yield Word(piece, tuple(words[piece].split()), known=True)
    if unknown:
        yield Word(unknown, (), known=False)


def translate(text: str) -> list[list[str]]:
    """Return, for each word of ``text`` that the glossary translates, its English words."""
    return [
        list(dict.fromkeys(part for name in word.english for part in name.split("_")))
        for word in segment(text)
        if word.english
    ]


@cache
def _readings() -> dict[str, list[str]]:
    """Return the syllables of each character."""
    readings: dict[str, list[str]] = {}
    for syllable, characters in (line.split("\t") for line in _lines("pinyin.tsv")):
        for character in characters:
            readings.setdefault(character, []).append(syllable)
    return readings


def pinyin(word: str) -> list[str]:
    """Return how ``word`` may be spelt in an identifier (订单 → ``dingdan``); nothing for a word too short to tell."""
    if len(word) < MIN_PINYIN_CHARACTERS:
        return []
    spelt = [_readings().get(character, []) for character in word]
    found = ("".join(syllables) for syllables in islice(product(*spelt), MAX_READINGS))
    return [one for one in found if len(one) >= MIN_PINYIN]
