"""Names in a query → the chunks that define them: as written, in another spelling, misspelt, or in part.

The later ways are tried only for a name that the earlier ones do not find, so a name that exists costs one look-up; the
last two, which read whole dictionaries, only in short queries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from devmind.index.snapshot import Floats, Keys
from devmind.index.terms import PART, terms
from devmind.index.view import Rows
from devmind.retrieve.corpus import Corpus
from devmind.retrieve.definitions import defining, definitions, parts_of
from devmind.retrieve.query import STOP, Query

# Worth of a definition against one whose name is the query's, letter for letter. All but the first are set by hand:
# the suites hold few such names, and nothing moves by .005.
OTHER_CASE: Final = 0.6
OTHER_FORM: Final = 0.6  # getUser for get_user
UNQUALIFIED: Final = 0.4  # send for client.send: what stands before the dot is as often a variable
JOINED: Final = 0.5  # get_user for the query "get user"
MISSPELT: Final = 0.5  # by one letter; by two it is half
PARTIAL: Final = 0.5  # times the share of the name that is told
IN_MODULE: Final = 0.9  # of add in shop/cart.py for shop.cart.add
MEANT: Final = 0.7  # weight of the terms of a name that is meant, against 1 for one that is said
RIVAL: Final = 0.1  # a name with n definitions makes each worth 1 / (1 + n times this)
# Words of a query that may be one name in words. In sentences, names made of neighbouring words found no file more and
# .007 of the right lines of questions fewer.
MAX_WORDS: Final = 4
MIN_FUZZY, MAX_FUZZY = 5, 60  # letters of a name that may be misspelt
MIN_PARTIAL: Final = 3  # letters of a part of a name
# Unknown names of a query that are looked for in further ways: these take milliseconds, and in bug reports, which name
# what the reporter wrote, they lose .004 of nDCG@10.
MAX_UNKNOWN: Final = 2
MAX_LIKE: Final = 20  # chunks with a term like a name's, whose names are compared
MAX_HOLDING: Final = 8  # names that hold a part
MAX_NEAR: Final = 5  # names that are told to a person instead of one that is not defined
MAX_MEANT: Final = 3  # names that join the query

Found = list[tuple[int, float]]  # key of a chunk, and worth


@dataclass(frozen=True, slots=True)
class Named:
    """``rows`` that define a name of the query, and how well (0..1).

    Attributes:
        meant: names of the index that stand for one of the query's which it does not hold, nearest first.
    """

    rows: Rows
    worth: Floats
    meant: tuple[str, ...]


def defined_by(query: Query, corpus: Corpus) -> Named:
    """Look the names of ``query`` up."""
    found: Found = []
    unknown: list[str] = []
    for name in query.identifiers:
        own = _as_written(name, corpus) or _in_other_form(name, corpus)
        found += own
        if not own:
            unknown.append(name)
    found += _in_words(query.text, corpus)
    if len(unknown) <= MAX_UNKNOWN:
        found += [pair for name in unknown for pair in _in_module(name, corpus)]
    if query.symbolic and not found:
        found += [pair for name in unknown[:1] for pair in _unqualified(name, corpus)]
    meant: list[str] = []
    if not found and len(unknown) <= MAX_UNKNOWN:
        for name in unknown:
            like = _misspelt(name, corpus, 1)
            if not like and query.symbolic:
                like = _holding(name, corpus) or _misspelt(name, corpus, 2)
            meant += like
            found += [pair for held, worth in like.items() for pair in _defining(held, corpus, worth, worth)]
    rows, keep = corpus.rows_of(np.array([key for key, _ in found], np.int64))
    worth = np.array([worth for _, worth in found], np.float32)[keep]
    return Named(rows[keep], worth, tuple(dict.fromkeys(meant))[:MAX_MEANT])


def near_names(name: str, corpus: Corpus) -> list[str]:
    """Return what a name that nothing defines may stand for: another spelling, no owner, misspelt, or a part."""
    parts = parts_of(name)
    owned = [".".join(parts[at:]) for at in range(1, len(parts))]
    ways: tuple[Callable[[], Iterable[str]], ...] = (
        lambda: _forms(name),
        lambda: owned,
        lambda: _misspelt(name, corpus, 1),
        lambda: _holding(name, corpus),
        lambda: _misspelt(name, corpus, 2),
    )
    for way in ways:
        found = [d.qualified_name for other in way() for d in definitions(corpus.catalog, other, corpus.repo_ids)]
        if found:
            return list(dict.fromkeys(found))[:MAX_NEAR]
    return []


def corrected(query: Query, meant: Sequence[str]) -> Query:
    """Return ``query`` with the names that it means beside those that it says."""
    if not meant:
        return query
    added = {term: MEANT for name in meant for term in terms(name)}
    return replace(query, weights={**added, **query.weights}, english=" ".join([query.english, *meant]))


def _defining(name: str, corpus: Corpus, worth: float, other_case: float) -> Found:
    defined = defining(corpus.catalog, name, set(corpus.repo_ids))
    shared = 1 + RIVAL * len(defined)
    return [(key, (worth if same_case else other_case) / shared) for key, same_case in defined]


def _as_written(name: str, corpus: Corpus) -> Found:
    return _defining(name, corpus, 1.0, OTHER_CASE)


def _in_other_form(name: str, corpus: Corpus) -> Found:
    """Return the definitions of the same words in another spelling: camel case, underscores or neither."""
    return [pair for form in _forms(name) for pair in _defining(form, corpus, OTHER_FORM, OTHER_FORM)]


def _forms(name: str) -> list[str]:
    *owners, last = parts_of(name) or [""]
    words = PART.findall(last)
    if len(words) < 2:
        return []
    forms = {"_".join(words).lower(), "".join(words).lower()} - {last.lower()}
    return [".".join([*owners, form]) for form in sorted(forms)]


def _in_module(name: str, corpus: Corpus) -> Found:
    """Return the definitions of a name whose first parts are no owners but folders and a file: ``shop.cart.Cart.add``.

    The longest rest that is defined in such a file counts.
    """
    parts = parts_of(name)
    for at in range(1, len(parts)):
        found = _defining(".".join(parts[at:]), corpus, IN_MODULE, IN_MODULE * OTHER_CASE)
        rows = corpus.view.rows_of(np.array([key for key, _ in found], np.int64))
        files = [corpus.view.files[corpus.view.file[row]].path.lower() if row >= 0 else "" for row in rows.tolist()]
        module = parts[at - 1].lower()
        own = [pair for pair, path in zip(found, files, strict=True) if module in re.split(r"[/.]", path)]
        if own:
            return own
    return []


def _unqualified(name: str, corpus: Corpus) -> Found:
    parts = parts_of(name)
    return _defining(parts[-1], corpus, UNQUALIFIED, UNQUALIFIED * OTHER_CASE) if len(parts) > 1 else []


def _in_words(text: str, corpus: Corpus) -> Found:
    """Return the definitions of the name that a short query spells out."""
    words = text.lower().split()
    if not 1 < len(words) <= MAX_WORDS or not all(word.isascii() and word.isalpha() for word in words):
        return []
    if any(set(terms(word)) <= STOP for word in words) or not corpus.lexical.df("".join(words), "name"):
        return []
    return [pair for name in ("_".join(words), "".join(words)) for pair in _defining(name, corpus, JOINED, JOINED)]


def _misspelt(name: str, corpus: Corpus, distance: int) -> dict[str, float]:
    """Return the names that are ``distance`` letters away from ``name``, and their worth."""
    last = _letters(parts_of(name)[-1]) if parts_of(name) else ""
    if not MIN_FUZZY <= len(last) <= MAX_FUZZY or not last.isascii():
        return {}
    # The index holds a name of one word by its stem, and one of several words as it is.
    spelt = {last, *terms(last)}
    keys = {key for term in spelt for key in corpus.lexical.like(term, distance=distance, k=MAX_LIKE)}
    near = _names_in(corpus, np.array(sorted(keys), np.int64))
    held = (name for name in near if edits(_letters(name), last) == distance)
    return dict.fromkeys(held, MISSPELT / distance)


def _names_in(corpus: Corpus, keys: Keys) -> Iterator[str]:
    """Yield the names of what the chunks of ``keys`` define."""
    rows, keep = corpus.rows_of(keys)
    view = corpus.view
    for row in rows[keep].tolist():
        content_id = view.files[view.file[row]].content_id
        yield from (
            str(name)
            for (name,) in corpus.catalog.rows(
                "SELECT name FROM symbol WHERE content_id = ? AND start_line BETWEEN ? AND ?",
                (content_id, int(view.start[row]), int(view.end[row])),
            )
        )


def _holding(name: str, corpus: Corpus) -> dict[str, float]:
    """Return the shortest names that hold ``name``, and their worth."""
    part = (parts_of(name) or [""])[-1].lower()
    if len(part) < MIN_PARTIAL:
        return {}
    holding = sorted(corpus.names().holding(part), key=lambda held: (len(held), held))
    return {held: PARTIAL * len(part) / len(held) for held in holding[:MAX_HOLDING]}


def _letters(name: str) -> str:
    return name.replace("_", "").lower()


def edits(a: str, b: str) -> int:
    """Return how many letters must be put in, left out, replaced, or swapped with their neighbour; 3 for more than 2.

    Source: optimal string alignment, Boytsov 2011 (Indexing methods for approximate dictionary searching), 2.1.
    """
    if abs(len(a) - len(b)) > 2:
        return 3
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        now = [i]
        for j, y in enumerate(b, 1):
            cost = min(last[j] + 1, now[-1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            now.append(cost)
        before, last = last, now
    return min(last[-1], 3)
