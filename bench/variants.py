"""Search as it is, and search without one of its parts: what an ablation compares.

A part is left out of a value that passes between two steps (`retrieve.Steps`), so that everything else is the product's
own. The weights of ranking stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Final

import numpy as np

from devmind.index.lexical import WEIGHTS
from devmind.index.terms import CJK, terms
from devmind.retrieve import STEPS, Steps
from devmind.retrieve.chinese import pinyin, segment
from devmind.retrieve.corpus import Corpus
from devmind.retrieve.legs import Recall, fields_of, recall
from devmind.retrieve.names import Named
from devmind.retrieve.pointed import Pointed
from devmind.retrieve.query import Query, understand

# Fields of `Recall` by the leg that fills them.
LEGS: Final[Mapping[str, tuple[str, ...]]] = {
    "lexical": ("found", "bm25"),
    "dense": ("vector", "scanned", "near"),
    "symbol": ("defined", "worth"),
    "pointed": ("pointed",),
    "file": ("whole",),
}
_KEPT_WHOLE: Final = ("vector", "scanned", "whole")  # one number a dimension, row or file: set to 0, not shortened
FIELDS: Final[Mapping[str, str]] = {
    "name": "names",
    "qualified": "qualified names",
    "path": "paths",
    "doc": "headers and documentation",
    "body": "bodies",
}


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to search.

    Attributes:
        kbs: folder of the knowledge bases that it searches.
        chinese: only queries with Chinese can differ from the base.
    """

    key: str
    name: str
    kbs: str = "kb"
    steps: Steps = STEPS
    chinese: bool = False


BASE: Final = Variant("base", "all")


def ablations() -> list[Variant]:
    """Return search without each leg, each lexical field and each part of the Chinese."""
    check_legs()
    legs = [
        Variant(f"leg-{leg}", f"without the {leg} leg", steps=Steps(recall=partial(_without_leg, leg))) for leg in LEGS
    ]
    lexical = [
        Variant(
            f"field-{field}",
            f"without {FIELDS.get(field, field)}",
            steps=Steps(recall=partial(_without_field, field)),
        )
        for field in WEIGHTS
    ]
    chinese = [
        Variant(f"chinese-{key}", name, steps=Steps(understand=partial(_revised, revise)), chinese=True)
        for key, name, revise in (
            ("glossary", "without glossary, names and pinyin", _untranslated),
            ("pinyin", "without pinyin", _unspelt),
            ("joined", "without joined names", _unjoined),
        )
    ]
    return [*legs, *lexical, *chinese]


def check_legs() -> None:
    """Check that `LEGS` tells of every field of `Recall`.

    Raises:
        ValueError: it does not, so that an ablation would leave a leg in.
    """
    told = {name for names in LEGS.values() for name in names}
    if told != (own := {field.name for field in fields(Recall)}):
        raise ValueError(
            f"bench/variants.py names the fields {sorted(told)} of Recall, it has {sorted(own)}: mend LEGS"
        )


def is_chinese(query: str) -> bool:
    return CJK.search(query) is not None


def _without_leg(
    leg: str, query: Query, corpus: Corpus, named: Named, *, k: int, timings: MutableMapping[str, float]
) -> Recall:
    taken = recall(query, corpus, named, k=k, timings=timings)
    return replace(taken, **{name: _emptied(name, getattr(taken, name)) for name in LEGS[leg]})


def _emptied(name: str, value: Any) -> Any:
    if isinstance(value, Pointed):
        return replace(value, **{field.name: getattr(value, field.name)[:0] for field in fields(value)})
    return np.zeros_like(value) if name in _KEPT_WHOLE else value[:0]


def _without_field(
    left: str, query: Query, corpus: Corpus, named: Named, *, k: int, timings: MutableMapping[str, float]
) -> Recall:
    kept = {field: weight for field, weight in fields_of(query).items() if field != left}
    return recall(query, replace(corpus, fields=kept), named, k=k, timings=timings)


def _revised(revise: Callable[[Query], Query], text: str, *, df: Callable[[str], int], n_chunks: int) -> Query:
    return revise(understand(text, df=df, n_chunks=n_chunks))


def _unjoined(query: Query) -> Query:
    """Leave the identifiers that stand in the text: the others were made of Chinese words."""
    return replace(query, identifiers=tuple(name for name in query.identifiers if name in query.text))


def _unspelt(query: Query) -> Query:
    spelt = {spelling for word in segment(query.text) for spelling in pinyin(word.text)}
    return _keeping(query, set(query.weights) - (spelt - set(terms(query.text))))


def _untranslated(query: Query) -> Query:
    bare = replace(_unjoined(query), english=CJK.sub(" ", query.text).strip())
    return _keeping(bare, set(terms(query.text)))


def _keeping(query: Query, kept: set[str]) -> Query:
    groups = tuple(_groups(query, kept))
    return replace(query, weights={term: w for term, w in query.weights.items() if term in kept}, groups=groups)


def _groups(query: Query, kept: set[str]) -> Iterator[tuple[frozenset[str], float]]:
    """Yield the things asked for by the terms that are kept, or were nowhere in the index anyway."""
    for group, weight in query.groups:
        if left := group & kept or group - set(query.weights):
            yield left, weight
