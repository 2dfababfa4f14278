"""Text → lexical terms. Used alike for what is indexed and for what is asked.

An identifier gives its parts (split at case, underscore and digits, lower-cased, stemmed) and, when it has several
parts, its whole form without underscores, so that ``getUserName``, ``get_user_name`` and ``user name`` meet. A run of
Chinese, Japanese or Korean characters gives its overlapping pairs (bigrams; Nie et al. 2000 found them on a par with
dictionary segmentation for retrieval), a single character gives itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any

from devmind.embed.tokenizer import words_of

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\W\d_]+")
PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
MAX_TERM_CHARS = 64
_WORDS_ALONE = str.maketrans({chr(i): " " for i in range(128) if not (chr(i).isalnum() or chr(i) == "_")})
_CACHE_WORDS = 400_000  # at most about 60 MB
_CACHE_LINES = 20_000  # those of a few documents, at most about 20 MB: half of all lines repeat another
_CACHE_LINE_CHARS = 1_000
_KEPT_TEXTS = 1_000  # chunks that come up again for other questions: some 4 MB


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def _split(word: str) -> tuple[str, ...]:
    if word.isascii() and word.isalpha() and word.islower() and len(word) <= MAX_TERM_CHARS:  # as most are
        return (_stemmer().stemWord(word),)
    if not word.isascii() and CJK.match(word):
        if len(word) == 1:
            return (word,)
        return tuple(word[i : i + 2] for i in range(len(word) - 1))
    if len(word) > 4 * MAX_TERM_CHARS:
        return (word[:MAX_TERM_CHARS].lower(),)
    parts = [part.lower()[:MAX_TERM_CHARS] for part in PART.findall(word)]
    if not parts:
        return (word.lower()[:MAX_TERM_CHARS],) if word.strip("_") else ()
    stemmed = _stemmer().stemWords(parts)
    if len(parts) > 1:
        stemmed.append(word.replace("_", "").lower()[:MAX_TERM_CHARS])
    return tuple(stemmed)


class _TextByToken(dict[str, str]):
    """Token → its terms joined by spaces, filled on a miss, emptied when full."""

    def __missing__(self, token: str) -> str:
        is_name = token.isascii() and token.isidentifier()  # one word then, as most are
        text = " ".join(_split(token) if is_name else [term for word in WORD.findall(token) for term in _split(word)])
        if len(token) <= MAX_TERM_CHARS:
            if len(self) >= _CACHE_WORDS:
                self.clear()
            self[token] = text
        return text


class _TextByLine(dict[str, str]):
    """Line → its terms joined by spaces, filled like `_TextByToken`."""

    def __missing__(self, line: str) -> str:
        text = " ".join(filter(None, map(_text_by_token.__getitem__, words_of(line))))
        if len(line) <= _CACHE_LINE_CHARS:
            if len(self) >= _CACHE_LINES:
                self.clear()
            self[line] = text
        return text


_text_by_token = _TextByToken()
_text_by_line = _TextByLine()


def term_text(text: str) -> str:
    """Return the terms of ``text`` in order, repeats kept, joined by spaces."""
    return " ".join(filter(None, map(_text_by_line.__getitem__, text.split("\n"))))


def distinct_terms(text: str) -> frozenset[str]:
    """Return the terms of ``text``; for a text of some length in half the time of `terms`."""
    return frozenset(_distinct_text(text).split())


def held_terms(text: str, wanted: Iterable[str]) -> frozenset[str]:
    """Return those of ``wanted`` that are among the terms of ``text``, in a third of the time of `terms`."""
    held = f" {_kept_text(text)} "
    return frozenset(term for term in wanted if f" {term} " in held)


def _distinct_text(text: str) -> str:
    """Return the terms of ``text`` in no order, joined by spaces; a word that repeats is looked at once."""
    words = text.translate(_WORDS_ALONE).split() if text.isascii() else words_of(text)
    return " ".join(map(_text_by_token.__getitem__, set(words)))


_kept_text = lru_cache(maxsize=_KEPT_TEXTS)(_distinct_text)


def terms(text: str) -> list[str]:
    """Return the terms of ``text`` in order, repeats kept."""
    return term_text(text).split()
