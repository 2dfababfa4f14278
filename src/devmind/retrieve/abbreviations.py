"""Terms of a query → how code shortens or spells them out: cfg and config, cust and customer.

What everybody shortens alike stands in ``data/abbreviations.tsv``, our own. What a project shortens in its own way is
learned from its index: a short term and a long one that begins like it stand in the same chunks.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from devmind.index.lexical import LexicalReader
from devmind.index.terms import CJK, terms

# Weights against 1 for what is said. Short forms mean many things, so they count less: with .5 for them, too, the
# commits lose. Questions gain .006 of the right lines, semble .003 of nDCG@10 (docs/retrieval.md).
SPELT_OUT: Final = 0.5
SHORTENED: Final = 0.3
MAX_TERMS: Final = 20  # of a query; one with more says enough
MAX_LEARNED: Final = 4  # terms of a query for which the index is asked: some tenths of a millisecond each
SHORT: Final = range(3, 6)  # letters of an abbreviation that may be learned
LONGER: Final = 2  # letters that the stem of the long form has more, at least
TOGETHER: Final = 0.3  # share of the chunks with the short form that hold the long one
MIN_CHUNKS: Final = 3
READ: Final = 20  # terms that may be the long form


@cache
def known() -> Mapping[str, Mapping[str, float]]:
    """Return the weight of each other form, by term."""
    found: dict[str, dict[str, float]] = {}
    for line in files("devmind.retrieve").joinpath("data/abbreviations.tsv").read_text("utf-8").splitlines():
        short, _, told = line.partition("\t")
        [brief] = terms(short)[:1]
        for word in told.split():
            [full] = terms(word)[:1]
            if full != brief:
                found.setdefault(brief, {})[full] = SPELT_OUT
                found.setdefault(full, {})[brief] = SHORTENED
    return found


def other_forms(weights: Mapping[str, float], lexical: LexicalReader) -> dict[str, float]:
    """Return the other forms, in the index, of the terms of a query, and their weights."""
    if len(weights) > MAX_TERMS:
        return {}
    found: dict[str, float] = {}
    for term, weight in weights.items():
        forms = known().get(term, {})
        if not forms and len(weights) <= MAX_LEARNED and term.isascii() and term.isalpha() and not CJK.search(term):
            forms = learned(term, lexical)
        for form, share in forms.items():
            if form not in weights and lexical.df(form):
                found[form] = max(found.get(form, 0.0), weight * share)
    return found


def learned(term: str, lexical: LexicalReader) -> dict[str, float]:
    """Return the forms of ``term`` that this index uses beside it."""
    shorter = [term[:n] for n in SHORT if n + LONGER <= len(term)]
    found = {short: SHORTENED for short in shorter if _stand_together(short, term, lexical)}
    if len(term) in SHORT:
        found |= dict.fromkeys(_spelt_out(term, lexical), SPELT_OUT)
    return found


def _stand_together(short: str, full: str, lexical: LexicalReader) -> bool:
    n_short = lexical.df(short)
    if n_short < MIN_CHUNKS or n_short > lexical.df(full):
        return False
    return lexical.df_of_both(short, full) >= max(MIN_CHUNKS, TOGETHER * n_short)


def _spelt_out(short: str, lexical: LexicalReader) -> list[str]:
    """Return the long forms that stand in enough of the chunks that hold ``short``."""
    n_short = lexical.df(short)
    if n_short < MIN_CHUNKS:
        return []
    return [
        full
        for full, n_both in lexical.beginning(short, k=READ)
        if len(full) >= len(short) + LONGER and n_both >= max(MIN_CHUNKS, TOGETHER * n_short)
    ]
