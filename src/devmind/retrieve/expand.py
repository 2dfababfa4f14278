"""Chinese words → the terms that may stand for them in this index, weighted: translations, phrases, pinyin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from devmind.index.terms import terms
from devmind.retrieve.chinese import Word, pinyin, segment

TRANSLATED = 0.7
DECAY = 1.0
NORM = 0.5
PART = 0.7
PINYIN = 0.7
NEIGHBOURS = 0.0
NEST = 0.0
UNKNOWN = 1.0
DROP = True
MAXALT = 6


@dataclass(frozen=True, slots=True)
class Meant:
    """One thing asked for: alternatives by weight, and the set that tells whether a text mentions it."""

    word: str
    weights: dict[str, float]
    group: frozenset[str]


def expand(words: Sequence[Word], df: Callable[[str], int]) -> list[Meant]:
    meant = []
    for word in words:
        if word.english:
            meant.append(_alternatives(word, df))
            if NEST:
                meant += _nested(word, df)
        elif not word.known and len(word.text) > 1:
            spelt = [p for p in pinyin(word.text) if df(p)] if PINYIN else []
            weights = dict.fromkeys(spelt, PINYIN)
            meant.append(Meant(word.text, weights, frozenset([*terms(word.text), *spelt])))
    if NEIGHBOURS:
        meant += _neighbours(words, df)
    return meant


def _nested(word, df):
    from devmind.retrieve.chinese import _glossary

    G = _glossary()
    t = word.text
    out = []
    if len(t) < 4:
        return out
    for i in range(2, len(t) - 1):
        a, b = t[:i], t[i:]
        if G.get(a) and G.get(b):
            for piece in (a, b):
                m = _alternatives(Word(piece, tuple(G[piece].split()), True), df)
                out.append(Meant(piece, {k: v * NEST for k, v in m.weights.items()}, frozenset()))
            break
    return out


def _alternatives(word: Word, df: Callable[[str], int]) -> Meant:
    found: list[tuple[str, float]] = []
    group = set()
    n = 0
    for phrase in word.english[:MAXALT]:
        parts = terms(phrase)
        if len(parts) == 1:
            group.update(parts)
            if not DROP or df(parts[0]):
                found.append((parts[0], DECAY**n))
                n += 1
            continue
        *split, whole = parts
        rare = min(split, key=lambda t: (df(t), t))
        group.update((whole, rare))
        some = False
        if df(whole):
            found.append((whole, DECAY**n))
            some = True
        if not DROP or df(rare):
            found += [(t, DECAY**n * PART / len(split)**0.5) for t in split]
            some = True
        n += some
    spelt = [p for p in pinyin(word.text) if df(p)] if PINYIN else []
    group.update(spelt)
    weights: dict[str, float] = {}
    for t, w in found:
        weights[t] = max(weights.get(t, 0), TRANSLATED * w / max(1, n) ** NORM)
    for t in spelt:
        weights[t] = max(weights.get(t, 0), PINYIN)
    return Meant(word.text, weights, frozenset(group))


def _neighbours(words: Sequence[Word], df) -> list[Meant]:
    out = []
    told = [w for w in words if w.english]
    for a, b in zip(told, told[1:]):
        for x in a.english[:4]:
            for y in b.english[:4]:
                for one in (x + y, y + x):
                    one = one.replace("_", "")
                    if df(one):
                        out.append(Meant(a.text + b.text, {one: NEIGHBOURS}, frozenset()))
    return out
