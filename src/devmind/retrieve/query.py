"""Query text → what the legs need: weighted terms, identifiers, paths, and the Chinese part in English.

Chinese words found in the glossary (longest match) join as English terms; every Chinese run also searches as itself,
so Chinese comments match directly.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log

from devmind.index.lexical import idf
from devmind.index.terms import CJK, terms

# A run is bounded and begins where no other run goes on, or a text built for it would take seconds (the square of its
# length); no name or path that people write is longer.
_WORD = r"[A-Za-z_$][\w$]{0,200}"
IDENTIFIER = re.compile(
    rf"(?<![\w$]){_WORD}(?:(?:\.|::|->|#|\\){_WORD}){{1,20}}"
    r"|(?<![\w$])[A-Za-z_$]{0,100}(?:_[A-Za-z0-9]|[a-z0-9][A-Z]|[A-Z][a-z]{1,100}[A-Z])[\w$]{0,200}"
    r"|`[^`\s]{1,400}`"
)
PATHLIKE = re.compile(
    r"(?<![\w.@-])[\w.@-]{1,100}(?:/[\w.@-]{1,100}){1,20}"
    r"|(?<![\w-])[\w-]{1,100}\.(?:py|js|jsx|ts|tsx|vue|go|java|kt|scala|c|h|cc|cpp|hpp|cs|rs|rb|php|swift|sh|lua|hs|ex|exs|zig|sql)\b"
)
MAX_CHARS = 20_000  # of a query; what comes after says nothing new
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
TRANSLATED = 0.7  # weight of a glossary word against a word of the query


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


@cache
def glossary() -> dict[str, list[str]]:
    text = files("devmind.retrieve").joinpath("data", "glossary.tsv").read_text("utf-8")
    pairs = (line.split("\t") for line in text.splitlines() if "\t" in line)
    return {chinese: english.split() for chinese, english in pairs}


def translate(text: str) -> list[list[str]]:
    """Return, for each glossary word found in ``text`` (longest match, left to right), its English words."""
    words, found, at = glossary(), [], 0
    longest = max(map(len, words))
    while at < len(text):
        for size in range(min(longest, len(text) - at), 0, -1):
            english = words.get(text[at : at + size])
            if english:
                found.append(english)
                at += size
                break
        else:
            at += 1
    return found


def understand(text: str, *, df: Callable[[str], int], n_chunks: int) -> Query:
    """Return what to search for.

    Args:
        text: the question as asked.
        df: in how many chunks a term occurs.
        n_chunks: how many chunks there are.
    """

    def rarity(term: str) -> float:
        return idf(df(term), n_chunks)

    text = text[:MAX_CHARS]
    own = [term for term in dict.fromkeys(terms(text[:20_000])) if term not in STOP and len(term) < 60]
    translated = translate(text) if CJK.search(text) else []
    groups: list[tuple[frozenset[str], float]] = []
    weights: dict[str, float] = {}
    for term in own:
        if CJK.match(term):
            weights[term] = 1.0
        elif len(term) > 1 or not term.isalpha():
            weights[term] = 1.0
            groups.append((frozenset([term]), rarity(term)))
    for english in translated:
        stemmed = list(dict.fromkeys(term for word in english for term in terms(word)))
        for term in stemmed:
            weights[term] = max(weights.get(term, 0.0), TRANSLATED / len(stemmed) ** 0.5)
        groups.append((frozenset(stemmed), min(rarity(term) for term in stemmed)))
    if len(weights) > MAX_TERMS:
        counts: dict[str, int] = {}
        for term in terms(text):
            counts[term] = counts.get(term, 0) + 1
        telling = sorted(
            weights, key=lambda t: (-weights[t] * rarity(t) * (1 + log(counts.get(t, 1))) * (df(t) > 0), t)
        )
        weights = {term: weights[term] for term in telling[:MAX_TERMS]}
    named = IDENTIFIER.findall(text)
    identifiers = tuple(dict.fromkeys(n.strip("`") if n.startswith("`") else n.lstrip("$") for n in named))
    bare = text.strip()
    symbolic = bool(re.fullmatch(r"[\w$.:#>\\-]+(?:\(\))?", bare)) and not CJK.search(bare)
    if symbolic and bare not in identifiers:
        identifiers = (bare.removesuffix("()"), *identifiers)
    return Query(
        text=text,
        weights=weights,
        groups=tuple(groups),
        identifiers=identifiers[:40],
        paths=tuple(dict.fromkeys(PATHLIKE.findall(text)))[:20],
        english=" ".join([CJK.sub(" ", text), *(word for words in translated for word in words)]).strip(),
        symbolic=symbolic,
    )
