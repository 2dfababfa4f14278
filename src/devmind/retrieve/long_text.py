"""A long text, such as a bug report → its telling terms, and its telling sentences for the vector.

The first line is its title. What was raised tells more than the rest; frames of traces, versions, checklists, headings
and addresses tell less.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from math import log
from typing import Final

from devmind.index.terms import terms
from devmind.retrieve.stack import is_frame, raised_in

LONG: Final = 40  # distinct terms of a text that is no question any more
MANY: Final = 48  # terms of a question with those that Chinese words add; more only add noise and time
# Terms that are kept, and weights against 1: chosen on the bug reports of the development suites, file nDCG@10 .696
# before, .725 with these; 28 and 40 terms, a title of 2 or 3, or none of the fall are each .01–.02 lower.
MAX_TERMS: Final = 32
TITLE: Final = 1.5
RAISED: Final = 1.6  # of what a text says was raised; 1.3 finds one file less, 1 two spans less
LAST: Final = 0.5  # of the least telling term that is kept; those between fall evenly
BOILERPLATE: Final = 0.5
_BOILERPLATE: Final = re.compile(
    r"(?:#{1,6}\s|[-*] \[[ xX]\]|<!--|```|~~~|(?:https?|ftp)://"
    r"|(?:descriptions?|hello|hi|thanks?(?: you)?|environment|system info|steps to reproduce|expected[\w ]{0,20}"
    r"|actual[\w ]{0,20})\W{0,3}$"
    r"|\(last modified|traceback \(most recent"
    r"|(?:[\w. -]{1,30} )?(?:version|os|platform|browser|python|node|java|operating system)s?\s*[:=]"
    r"|[\w.-]{1,40}\s*(?:==|: v?)\d+(?:\.\d+)+\S{0,20}\s*$"
    r"|[\W\d]*$)",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(r"\n+|(?<=[.!?])\s+|(?<=[。！？])")


def telling(text: str, weights: Mapping[str, float], rarity: Callable[[str], float]) -> dict[str, float]:
    """Return the terms that a long text is searched by, most telling first, with the weights that are left of theirs.

    Args:
        text: the text.
        weights: by term.
        rarity: idf of a term; 0 for one that is nowhere.
    """
    share, count = _shares(text)
    worth = {term: weight * share.get(term, 1.0) for term, weight in weights.items()}

    def value(term: str) -> float:
        return worth[term] * rarity(term) * (1 + log(max(1.0, count[term])))

    kept = sorted(worth, key=lambda term: (-value(term), term))[:MAX_TERMS]
    return {term: worth[term] * (1 - (1 - LAST) * place / len(kept)) for place, term in enumerate(kept)}


def _shares(text: str) -> tuple[dict[str, float], Counter[str]]:
    """Return the highest worth of the lines that hold each term, and how often it occurs."""
    share: dict[str, float] = {}
    count: Counter[str] = Counter()
    title = True
    for line in text.strip().split("\n"):
        worth = TITLE if title else _worth(line)
        title = False
        found = terms(line)
        count.update(found)
        for term in found:
            share[term] = max(share.get(term, 0.0), worth)
    return share, count


def _worth(line: str) -> float:
    if raised_in(line) is not None:
        return RAISED
    return BOILERPLATE if is_boilerplate(line) or is_frame(line) else 1.0


def is_boilerplate(line: str) -> bool:
    return _BOILERPLATE.match(line.lstrip()) is not None  # a pattern that skips blanks takes the square of their number


def in_short(text: str) -> str:
    """Return the title, the last thing raised, and then the rest of a long text without what tells little.

    A model reads the beginning of what it is given, so the order says what counts.
    """
    lines = text.strip().split("\n")
    title, rest = lines[0], lines[1:]
    raised = [line for line in rest if raised_in(line) is not None][-1:]
    told = (line for line in rest if line.strip() and not is_boilerplate(line) and not is_frame(line))
    return "\n".join([title, *raised, *told])
