"""How likely it is that the best hits hold what was asked: a few named numbers, and the odds that they make.

A question about something absent gives itself away by a telling term, above all a proper name, that no good hit holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import exp, log
from typing import Final

from devmind.index.terms import CJK, held_terms, terms
from devmind.retrieve.query import IDENTIFIER, Query
from devmind.types import Hit

# Logistic regression by `python -m training.confidence` on questions of development suites against questions of other
# repositories and features proven absent; docs/retrieval.md says how it does on projects that it has not seen.
INTERCEPT: Final = -20.04
WEIGHTS: Final[Mapping[str, float]] = {
    "covered": 5.55,
    "covered_file": 4.01,
    "rarest_missing": 2.67,
    "unknown": 0.23,
    "name_missing": -1.46,
    "name_missing_zh": -4.55,
    "cosine_best": 9.64,
    "cosine_mean": 4.36,
    "n_asked": 3.14,
    "defined": 0.73,
    "undefined": -1.97,
    "stem": 2.32,
    "zh": 1.65,
}
NOTHING_ASKED = 0.5  # hits for a query without a telling term
HITS = 5  # the first ones, which answers are made of
NAME = re.compile(r"[A-Za-z][A-Za-z0-9+#./-]*[A-Za-z0-9+#]|[A-Za-z]")
SENTENCE_START = frozenset(".?!:。?!:")


def confidence(features: Mapping[str, float]) -> float:
    """Return 0..1 from what `evidence` gives."""
    odds = INTERCEPT + sum(weight * features[name] for name, weight in WEIGHTS.items())
    return round(1 / (1 + exp(-max(min(odds, 50.0), -50.0))), 4)


def evidence(
    query: Query, hits: Sequence[Hit], *, files: Sequence[frozenset[str]], idf: Mapping[str, float], rarest: float
) -> dict[str, float]:
    """Return what speaks for, or against, the first hits holding the answer.

    Args:
        hits: each with the lines of its focus.
        files: the terms of the query that stand anywhere in the file of each of the first hits.
        idf: by term of the query.
        rarest: the idf of a term in no chunk.
    """
    names = proper_names(query.text, {hit.repo for hit in hits})
    wanted = frozenset().union(*(group for group, _ in query.groups), *names)
    shown = [held_terms(f"{hit.path} {hit.symbol} {hit.header} {hit.content}", wanted) for hit in hits[:HITS]]
    everywhere = frozenset().union(*shown)
    total = sum(weight for _, weight in query.groups) or 1.0
    missing = [weight for group, weight in query.groups if not group & everywhere]
    unknown = [weight for group, weight in query.groups if all(idf.get(t, 0.0) >= rarest for t in group)]
    alone = any(not any(name <= here for here in shown) for name in names)
    cosines = [hit.why["dense"] for hit in hits[:HITS]]
    defined = any(hit.why["defines"] > 0 for hit in hits)
    chinese = float(CJK.search(query.text) is not None)
    return {
        "covered": _covered(query, shown) / total,
        "covered_file": _covered(query, files) / total,
        "rarest_missing": max(missing, default=0.0) / rarest,
        "unknown": sum(unknown) / total,
        "name_missing": float(alone),
        "name_missing_zh": chinese * alone,
        "cosine_best": max(cosines, default=0.0),
        "cosine_mean": sum(cosines) / len(cosines) if cosines else 0.0,
        "n_asked": log(1 + len(query.groups)),
        "defined": float(defined),
        "undefined": float(not defined and IDENTIFIER.search(query.text) is not None),
        "stem": max((hit.why["stem"] for hit in hits[:HITS]), default=0.0),
        "zh": chinese,
    }


def _covered(query: Query, holders: Iterable[frozenset[str]]) -> float:
    """Return how much of what was asked the best of ``holders`` has."""
    return max((sum(w for group, w in query.groups if group & here) for here in holders), default=0.0)


def proper_names(text: str, own: set[str]) -> list[frozenset[str]]:
    """Return the terms of each proper name in ``text``: a Latin word with a capital that begins no sentence.

    Args:
        own: names of repositories, which are no thing to be found inside one.
    """
    known = {name.lower().split("-")[0] for name in own}
    found = []
    before, end = "", 0  # the last character that is no blank, and where the last word ended
    for match in NAME.finditer(text):
        word, before = match[0], text[end : match.start()].rstrip()[-1:] or before
        opens = match.start() == 0 or before in SENTENCE_START
        before, end = word[-1], match.end()
        if word != word.lower() and not opens and word.lower() not in known:
            found.append(frozenset(terms(word)))
    return [name for name in found if name]
