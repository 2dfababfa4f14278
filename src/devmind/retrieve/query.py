"""Query text → what the legs need: weighted terms, identifiers, paths, and the Chinese part in English.

Chinese words found in the glossary (longest match) join as English terms; every Chinese run also searches as itself,
so Chinese comments match directly.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import log

from devmind.index.lexical import idf
from devmind.index.terms import CJK, terms
from devmind.retrieve.chinese import segment, translate
from devmind.retrieve.expand import expand

IDENTIFIER = re.compile(
    r"\b[A-Za-z_$][\w$]*(?:(?:\.|::|->|#|\\)[A-Za-z_$][\w$]*)+|\b[A-Za-z_$]*(?:_[A-Za-z0-9]|[a-z0-9][A-Z]|[A-Z][a-z]+[A-Z])[\w$]*|`[^`\s]+`"
)
PATHLIKE = re.compile(
    r"[\w.@-]+(?:/[\w.@-]+)+|\b[\w-]+\.(?:py|js|jsx|ts|tsx|vue|go|java|kt|scala|c|h|cc|cpp|hpp|cs|rs|rb|php|swift|sh|lua|hs|ex|exs|zig|sql)\b"
)
# Words that ask rather than tell; stemmed, as `terms` gives them.
STOP = frozenset(
    terms(
        "a an the of to in is are was were be been being it its this that these those and or but if then than so as at "
        "by on for from with without into over under about between after before when where which who whom whose what "
        "why how do does did done doing can could should would will shall may might must has have had having not no i "
        "we you he she they me us my our your their there here any some all each both also only just more most such "
        "via using used use uses please tell show explain describe find locate code codebase repository project "
        "implement implemented implementation work works working happen happens"
    )
)
MAX_TERMS = 48  # an issue's text is cut to its most telling terms: more only add noise and time
DROPCJK = True
CJKW = 1.0
DENSE_ALT = 6


@dataclass(frozen=True, slots=True)
class Query:
    """``weights`` by term; ``groups`` are the things asked for, each a set of alternative terms with its weight."""

    text: str
    weights: dict[str, float]
    groups: tuple[tuple[frozenset[str], float], ...]
    identifiers: tuple[str, ...]
    paths: tuple[str, ...]
    english: str
    symbolic: bool


def understand(text: str, *, df: Callable[[str], int], n_chunks: int) -> Query:
    """Return what to search for.

    Args:
        text: the question as asked.
        df: in how many chunks a term occurs.
        n_chunks: how many chunks there are.
    """

    def rarity(term: str) -> float:
        return idf(df(term), n_chunks)

    own = [term for term in dict.fromkeys(terms(text[:20_000])) if term not in STOP and len(term) < 60]
    words = segment(text) if CJK.search(text) else []
    meant = expand(words, df)
    groups: list[tuple[frozenset[str], float]] = []
    weights: dict[str, float] = {}
    for term in own:
        if CJK.match(term):
            if df(term) or not DROPCJK:
                weights[term] = CJKW
        elif len(term) > 1 or not term.isalpha():
            weights[term] = 1.0
            groups.append((frozenset([term]), rarity(term)))
    for one in meant:
        for term, weight in one.weights.items():
            weights[term] = max(weights.get(term, 0.0), weight)
        if one.group:
            groups.append((one.group, min(rarity(term) for term in one.group)))
    if len(weights) > MAX_TERMS:
        counts: dict[str, int] = {}
        for term in terms(text[:20_000]):
            counts[term] = counts.get(term, 0) + 1
        telling = sorted(
            weights, key=lambda t: (-weights[t] * rarity(t) * (1 + log(counts.get(t, 1))) * (df(t) > 0), t)
        )
        weights = {term: weights[term] for term in telling[:MAX_TERMS]}
    identifiers = tuple(dict.fromkeys(found.strip("`") for found in IDENTIFIER.findall(text[:20_000])))
    bare = text.strip()
    symbolic = bool(re.fullmatch(r"[\w$.:#>\\-]+(?:\(\))?", bare)) and not CJK.search(bare)
    if symbolic and bare not in identifiers:
        identifiers = (bare.removesuffix("()"), *identifiers)
    return Query(
        text=text,
        weights=weights,
        groups=tuple(groups),
        identifiers=identifiers[:40],
        paths=tuple(dict.fromkeys(PATHLIKE.findall(text[:20_000])))[:20],
        english=" ".join([CJK.sub(" ", text), *(n.replace("_", " ") for w in words for n in w.english[:DENSE_ALT])]).strip(),
        symbolic=symbolic,
    )
