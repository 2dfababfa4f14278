"""Query text → what the legs need: weighted terms, identifiers, paths, and the Chinese part in English.

Chinese words join as the English terms and names that stand for them in the index (``chinese``, ``expand``); every
Chinese run also searches as itself, so Chinese comments match directly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

from devmind.index.lexical import idf
from devmind.index.terms import CJK, terms
from devmind.retrieve.chinese import Word, segment
from devmind.retrieve.expand import expand, names

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
# English names of a Chinese word that go into the vector; with one or all of them span R@10 is .01–.02 lower.
IN_VECTOR = 2
MAX_IDENTIFIERS = 40


@dataclass(frozen=True, slots=True)
class Query:
    """``weights`` by term; ``groups`` are the things asked for, each a set of alternative terms with its weight.

    ``also`` are other wordings that join the vector, each with its weight, the question's own being 1 (`rewrites`).
    """

    text: str
    weights: dict[str, float]
    groups: tuple[tuple[frozenset[str], float], ...]
    identifiers: tuple[str, ...]
    paths: tuple[str, ...]
    english: str
    symbolic: bool
    also: tuple[tuple[str, float], ...] = ()


def understand(text: str, *, df: Callable[[str], int], n_chunks: int) -> Query:
    """Return what to search for.

    Args:
        text: the question as asked.
        df: in how many chunks a term occurs.
        n_chunks: how many chunks there are.
    """

    def rarity(term: str) -> float:
        return idf(df(term), n_chunks)

    read = text[:MAX_CHARS]
    own = [term for term in dict.fromkeys(terms(read)) if term not in STOP and len(term) < 60]
    words = segment(read)
    groups: list[tuple[frozenset[str], float]] = []
    weights: dict[str, float] = {}
    for term in own:
        if CJK.match(term):
            if df(term):
                weights[term] = 1.0
        elif len(term) > 1 or not term.isalpha():
            weights[term] = 1.0
            groups.append((frozenset([term]), rarity(term)))
    for meant in expand(words, df):
        for term, weight in meant.weights.items():
            weights[term] = max(weights.get(term, 0.0), weight)
        groups.append((meant.group, meant.worth * min(rarity(term) for term in meant.group)))
    if len(weights) > MAX_TERMS:
        counts: dict[str, int] = {}
        for term in terms(read):
            counts[term] = counts.get(term, 0) + 1
        telling = sorted(
            weights, key=lambda t: (-weights[t] * rarity(t) * (1 + log(counts.get(t, 1))) * (df(t) > 0), t)
        )
        weights = {term: weights[term] for term in telling[:MAX_TERMS]}
    written = (n.strip("`") if n.startswith("`") else n.lstrip("$") for n in IDENTIFIER.findall(read))
    identifiers = tuple(dict.fromkeys([*written, *names(words, df)]))
    bare = text.strip()
    symbolic = bool(re.fullmatch(r"[\w$.:#>\\-]+(?:\(\))?", bare)) and not CJK.search(bare)
    if symbolic and bare not in identifiers:
        identifiers = (bare.removesuffix("()"), *identifiers)
    return Query(
        text=text,
        weights=weights,
        groups=tuple(groups),
        identifiers=identifiers[:MAX_IDENTIFIERS],
        paths=tuple(dict.fromkeys(PATHLIKE.findall(read)))[:20],
        english=_in_english(read, words),
        symbolic=symbolic,
    )


def _in_english(text: str, words: Sequence[Word]) -> str:
    """Return what the vector is made of: the text without its Chinese, and the commonest names of its Chinese words."""
    told = [name.replace("_", " ") for word in words for name in word.english[:IN_VECTOR]]
    return " ".join([CJK.sub(" ", text), *told]).strip()
