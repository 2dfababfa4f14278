"""Verbs of a query → their agent nouns, and back: parse and parser, log and logger, connect and connector.

Stemming joins the forms of a verb but leaves short agent nouns apart: "pars" stands for parse and parsing, not for
parser. Every term is taken for a verb, since nothing here tells verbs from other words; so what joins counts little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from devmind.retrieve.abbreviations import MAX_TERMS

# Against 1 for what is said; .6 ranks no better (docs/retrieval.md).
AGENT_NOUN: Final = 0.3
# Ranking takes this term for a question about tests (`features`), and "connection tester" is none.
_NEVER: Final = frozenset({"test"})
_WORD: Final = re.compile(r"[a-z]{3,}")
_AGENT: Final = re.compile(r"([a-z]{3,})[eo]r")
_DOUBLES: Final = re.compile(r"[^aeiou]*[aeiou][bdgklmnprtv]")  # log, run, scan: one vowel before one consonant


def agent_nouns(weights: Mapping[str, float], df: Callable[[str], int]) -> dict[str, float]:
    """Return the agent nouns of verbs, and the verbs of agent nouns, that the index holds, and their weights.

    Args:
        weights: by term of a query.
        df: in how many chunks a term occurs.
    """
    if len(weights) > MAX_TERMS:
        return {}
    found: dict[str, float] = {}
    for term, weight in weights.items():
        for form in _other_forms(term) if _WORD.fullmatch(term) else ():
            if form not in weights and form not in _NEVER and df(form):
                found[form] = max(found.get(form, 0.0), AGENT_NOUN * weight)
    return found


def _other_forms(stem: str) -> Iterator[str]:
    if agent := _AGENT.fullmatch(stem):
        verb = agent[1]
        yield verb
        if len(verb) > 3 and verb[-1] == verb[-2]:
            yield verb[:-1]
    yield stem + "er"
    if stem[-1] in "ts":
        yield stem + "or"
    if _DOUBLES.fullmatch(stem):
        yield stem + stem[-1] + "er"
