"""Text → what it quotes, to be found as it stands, and how code that makes a message matches the message made."""

from __future__ import annotations

import re
from typing import Final

MIN_CHARS, MAX_CHARS = 4, 300
MAX_LITERALS: Final = 4  # of a text: each costs a search of its own
# An apostrophe inside a word opens no quotation.
_QUOTED: Final = re.compile(
    rf'(?<![\w"])"([^"\n]{{{MIN_CHARS},{MAX_CHARS}}})"(?!\w)'
    rf"|(?<![\w'])'([^'\n]{{{MIN_CHARS},{MAX_CHARS}}})'(?!\w)"
    rf"|(?<!`)`([^`\n]{{{MIN_CHARS},{MAX_CHARS}}})`(?!`)"
    rf"|“([^”\n]{{2,{MAX_CHARS}}})”|‘([^’\n]{{{MIN_CHARS},{MAX_CHARS}}})’|「([^」\n]{{2,{MAX_CHARS}}})」"
)
# What formatting fills in: %s %(name)s %5.2f · {} {name!r} {0} · ${name} #{name} · $name
PLACEHOLDER: Final = re.compile(
    r"%(?:\(\w{1,60}\))?[-+ #0-9.*]{0,12}[a-zA-Z@]{1,3}(?![a-zA-Z])|[$#]?\{[^{}\n]{0,120}\}|\$\w{1,60}"
    r"|\\\([^()\n]{0,80}\)"
)
_STRING: Final = re.compile(r'"((?:[^"\\\n]|\\.){4,400})"|\'((?:[^\'\\\n]|\\.){4,400})\'|`((?:[^`\\]|\\.){4,400})`')
MIN_FIXED: Final = 6  # characters that a string of the code must share with a message, in two words at least


def literals(text: str) -> tuple[str, ...]:
    """Return what is quoted, the longest first; a single word in quotes is a name and no text."""
    found = (next(filter(None, groups)).strip() for groups in _QUOTED.findall(text))
    whole = [one for one in dict.fromkeys(found) if len(one) >= 2 and (not one.isascii() or re.search(r"\w\W+\w", one))]
    return tuple(sorted(whole, key=lambda one: (-len(one), one))[:MAX_LITERALS])


def share_made(code: str, message: str) -> float:
    """Return which share (0..1) of ``message`` the strings of ``code`` make, whatever their placeholders hold."""
    told = " ".join(message.split())
    if not told:
        return 0.0
    covered = 0
    for groups in _STRING.findall(code):
        covered += _fixed(next(filter(None, groups)), told)
    return min(1.0, covered / len(told))


def _fixed(string: str, message: str) -> int:
    """Return how many characters of ``message`` a string makes outside its placeholders; 0 when it does not fit."""
    parts = [" ".join(part.split()) for part in PLACEHOLDER.split(string)]
    parts = [part for part in parts if part]
    n_fixed = sum(map(len, parts))
    if n_fixed < MIN_FIXED or not re.search(r"\w\W+\w", " ".join(parts)):
        return 0
    at = 0
    for part in parts:
        at = message.find(part, at)
        if at < 0:
            return 0
        at += len(part)
    return n_fixed
