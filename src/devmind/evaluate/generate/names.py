"""Identifiers ↔ their parts, in the style they were written in; stems, under which words of one root meet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

from devmind.index.terms import PART, terms

Style = Literal["snake", "camel", "pascal", "screaming"]
IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def parts_of(name: str) -> list[str]:
    """Return the words of an identifier in lower case: ``HTTPServerError`` → http, server, error."""
    return [part.lower() for part in PART.findall(name)]


def style_of(name: str) -> Style:
    bare = name.strip("_$")
    if "_" in bare or bare.islower():
        return "screaming" if bare.isupper() else "snake"
    if bare.isupper():
        return "screaming"
    return "pascal" if bare[:1].isupper() else "camel"


def joined(parts: Sequence[str], style: Style) -> str:
    """Return the identifier of ``parts`` in ``style``."""
    if style == "snake":
        return "_".join(parts)
    if style == "screaming":
        return "_".join(parts).upper()
    capital = [part[:1].upper() + part[1:] for part in parts]
    return "".join(capital) if style == "pascal" else parts[0] + "".join(capital[1:])


@cache
def stem(word: str) -> str:
    """Return the stem under which the index knows ``word``; words of another script are their own."""
    found = terms(word)
    return found[0] if len(found) == 1 else word.lower()
