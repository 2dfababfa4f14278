"""Question → what the composer needs to know of it: language, intent, terms, code names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from devmind.retrieve.intent import WHERE, WHY

Intent = Literal["what", "where", "why"]

CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
MAX_READ_CHARS = 20_000  # as retrieve/query.py: more of a pasted log tells nothing more, and costs time
CODE_NAME = re.compile(
    r"`([^`\n]+)`|\b([A-Za-z]\w*(?:\.\w+){0,9}\(\))|\b(\w*[a-z\d]_\w+|_\w+|(?:[A-Z][a-z\d]+){2,}|[a-z]+[A-Z]\w*)\b"
)
# Words that every question holds and that tell nothing about the code it asks for.
ENGLISH_STOP = """
a an and any are as at be by can class code could defined do does file for from function get has have how i if implement
implemented in into is it its me method of on one or our show so tell than that the their them then there this to use
used uses using was we what when where which who why will with would you your
"""
CHINESE_STOP = "什么 怎么 如何 哪里 在哪 为什 为何 是什 的代 代码 这个 实现 是如 是怎 么是 么样 怎样 哪个 里的"
STOP_WORDS = frozenset(ENGLISH_STOP.split())
STOP_BIGRAMS = frozenset(CHINESE_STOP.split())


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    chinese: bool
    intent: Intent
    terms: frozenset[str]
    code_names: tuple[str, ...]


def read_question(text: str) -> Question:
    """Return the question with its language (Chinese as soon as one Chinese character stands in it) and terms."""
    text = text[:MAX_READ_CHARS]
    intent: Intent = "why" if WHY.search(text) else "where" if WHERE.search(text) else "what"
    names = tuple(dict.fromkeys(next(filter(None, found)).strip() for found in CODE_NAME.findall(text)))
    return Question(text, CJK.search(text) is not None, intent, terms_of(text), names)


def terms_of(text: str) -> frozenset[str]:
    """Return lower-case word stems, identifiers split by case and underscore, and bigrams of Chinese text."""
    words = {stem(word.lower()) for word in WORD.findall(text) if word.lower() not in STOP_WORDS and len(word) > 1}
    runs = CJK.findall(text)
    bigrams = {run[at : at + 2] for run in runs for at in range(len(run) - 1)} - STOP_BIGRAMS
    return frozenset(words | bigrams)


def stem(word: str) -> str:
    """Strip the commonest English endings: enough to let ``parsing``, ``parsed`` and ``parses`` meet ``parse``."""
    for ending in ("ations", "ation", "ings", "ing", "ers", "er", "ies", "ied", "es", "ed", "s", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
