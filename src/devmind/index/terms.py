"""Text → lexical terms. Used alike for what is indexed and for what is asked.

An identifier gives its parts (split at case, underscore and digits, lower-cased, stemmed) and, when it has several
parts, its whole form without underscores, so that ``getUserName``, ``get_user_name`` and ``user name`` meet. A run of
Chinese, Japanese or Korean characters gives its overlapping pairs (bigrams; Nie et al. 2000 found them on a par with
dictionary segmentation for retrieval), a single character gives itself.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*|[0-9]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\W\d_]+")
PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
MAX_TERM_CHARS = 64
_CACHE_LIMIT = 400_000
_terms_of: dict[str, tuple[str, ...]] = {}


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def _split(word: str) -> tuple[str, ...]:
    if CJK.match(word):
        if len(word) == 1:
            return (word,)
        return tuple(word[i : i + 2] for i in range(len(word) - 1))
    if len(word) > 4 * MAX_TERM_CHARS:
        return (word[:MAX_TERM_CHARS].lower(),)
    parts = [part.lower()[:MAX_TERM_CHARS] for part in PART.findall(word)]
    if not parts:
        return (word.lower()[:MAX_TERM_CHARS],) if word.strip("_$") else ()
    stemmed = _stemmer().stemWords(parts)
    if len(parts) > 1:
        stemmed.append(word.replace("_", "").lower()[:MAX_TERM_CHARS])
    return tuple(stemmed)


def terms(text: str) -> list[str]:
    """Return the terms of ``text`` in order, repeats kept."""
    if len(_terms_of) > _CACHE_LIMIT:
        _terms_of.clear()
    found: list[str] = []
    for word in WORD.findall(text):
        known = _terms_of.get(word)
        if known is None:
            known = _terms_of[word] = _split(word)
        found += known
    return found
