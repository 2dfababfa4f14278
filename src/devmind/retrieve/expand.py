"""Chinese words → the terms and names that stand for them in this index: translations, phrases, joined names, pinyin.

What the index does not hold is dropped here, except from ``group``: a thing that is asked for and nowhere to be found
is still asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations, product

from devmind.index.terms import terms
from devmind.retrieve.chinese import Word, pinyin

# Weights of terms against a word of the query itself (1). Chosen with bench/chinese.py; none is critical: the other
# values tried (.45 and 1; .4 and 1; 0 and 1) move file and span R@10 by .008 at most (docs/retrieval.md).
TRANSLATED = 0.7
NEXT = 0.7  # of each further alternative against the one before it, the commonest first
SHARED = 0.7  # n alternatives each count n to the power of minus this, so that a word of many names is still one word
IN_PHRASE = 0.7  # of a word of a phrase; the whole phrase as one name counts 1
PINYIN = 0.7  # set by hand: 60 of the 940 questions meet pinyin (``riqi``, ``xiadan``), and gain nothing from it
# Of a word that the glossary lacks, in the confidence: some are things, some are filler. Between questions about one
# package put to it and to another, AUROC is .813 with 1, .823 with .5, .829 with 0, which would never miss a thing.
UNKNOWN = 0.5
# Alternatives that are tried of each word of a joined name; more changed nothing.
IN_PAIR, IN_TRIPLE = 3, 1
MAX_JOINED = 60  # words of a text that are joined with their neighbours: each costs up to 24 look-ups

Df = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Meant:
    """One thing asked for.

    Attributes:
        weights: terms of the index and their weights.
        group: any of these in a text says that the text speaks of it; never empty.
        worth: how surely it is something asked for (0..1).
    """

    weights: dict[str, float]
    group: frozenset[str]
    worth: float = 1.0


def expand(words: Sequence[Word], df: Df) -> list[Meant]:
    """Return what is asked for, a word each; a word without translation counts by its pairs of characters.

    Args:
        words: as ``segment`` gives them.
        df: in how many chunks a term occurs.
    """
    meant = []
    for word in dict.fromkeys(words):
        if word.english:
            meant.append(_alternatives(word, df))
        elif not word.known and len(word.text) > 1:
            spelt = _spelt(word, df)
            group = frozenset([*terms(word.text), *spelt])
            meant.append(Meant(dict.fromkeys(spelt, PINYIN), group, UNKNOWN))
    return meant


def _spelt(word: Word, df: Df) -> list[str]:
    return [spelling for spelling in pinyin(word.text) if df(spelling)]


def _alternatives(word: Word, df: Df) -> Meant:
    """Weigh the alternatives that the index holds; the words of a phrase count only together."""
    held: list[dict[str, float]] = []
    group = set(terms(word.text))
    for name in word.english:
        *parts, whole = terms(name)
        rarest = min(parts, key=lambda term: (df(term), term), default=whole)
        group.update((whole, rarest))
        found = {whole: 1.0} if df(whole) else {}
        if parts and df(rarest):
            found |= dict.fromkeys(parts, IN_PHRASE / len(parts) ** 0.5)
        if found:
            held.append(found)
    weights: dict[str, float] = {}
    for place, found in enumerate(held):
        for term, share in found.items():
            weight = TRANSLATED * share * NEXT**place / len(held) ** SHARED
            weights[term] = max(weights.get(term, 0.0), weight)
    spelt = _spelt(word, df)
    return Meant({**weights, **dict.fromkeys(spelt, PINYIN)}, frozenset([*group, *spelt]))


def names(words: Sequence[Word], df: Df) -> list[str]:
    """Return names that phrases and neighbouring words make together in this index (``get_user`` for 获取用户).

    Chinese puts the object before or after its verb, so every order is tried. A name is known by its whole form
    without underscores, which the index holds for every identifier of several parts.
    """
    whole_by_name = {name: name.replace("_", "") for name in _candidates(words)}
    held = {name: whole for name, whole in whole_by_name.items() if df(whole)}
    return list(dict.fromkeys(form for pair in held.items() for form in pair))


def _candidates(words: Sequence[Word]) -> Iterator[str]:
    told = [word.english for word in words if word.english][:MAX_JOINED]
    yield from (name for english in told for name in english if "_" in name)
    for pair in pairwise(told):
        yield from _joined([english[:IN_PAIR] for english in pair])
    for triple in zip(told, told[1:], told[2:], strict=False):
        yield from _joined([english[:IN_TRIPLE] for english in triple])


def _joined(parts: Sequence[Sequence[str]]) -> Iterator[str]:
    for chosen in product(*parts):
        yield from ("_".join(order) for order in permutations(chosen))
