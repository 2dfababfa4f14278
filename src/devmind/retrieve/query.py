"""Query text → what the legs need: weighted terms, identifiers, paths, and the Chinese part in English.

Chinese words join as the English terms and names that stand for them in the index (``chinese``, ``expand``); every
Chinese run also searches as itself, so Chinese comments match directly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from devmind.index.lexical import idf
from devmind.index.terms import CJK, terms
from devmind.retrieve.chinese import Word, segment
from devmind.retrieve.expand import expand, names
from devmind.retrieve.intent import Intent, intent_of
from devmind.retrieve.long_text import LONG, MANY, in_short, telling
from devmind.retrieve.paths import Place, places
from devmind.retrieve.quoted import literals
from devmind.retrieve.stack import Stack, read_stack

# A run is bounded and begins where no other run goes on, or a text built for it would take seconds (the square of its
# length); no name or path that people write is longer.
_WORD = r"[A-Za-z_$][\w$]{0,200}"
IDENTIFIER = re.compile(
    rf"(?<![\w$]){_WORD}(?:(?:\.|::|->|#|\\){_WORD}){{1,20}}"
    r"|(?<![\w$])[A-Za-z_$]{0,100}(?:_[A-Za-z0-9]|[a-z0-9][A-Z]|[A-Z][a-z]{1,100}[A-Z])[\w$]{0,200}"
    r"|`[^`\s]{1,400}`"
)
MAX_CHARS = 20_000  # of a query; what comes after says nothing new
Group = tuple[frozenset[str], float]  # alternative terms, any of which is what is asked for, and their weight
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
# English names of a Chinese word that go into the vector; with one or all of them span R@10 is .01–.02 lower.
IN_VECTOR = 2
MAX_IDENTIFIERS = 40
MAX_NAME = 400  # characters of a query that is one name; its parts are looked up one after the other


@dataclass(frozen=True, slots=True)
class Query:
    """What is known of a question.

    Attributes:
        text: as asked, without what comes after `MAX_CHARS`.
        weights: by term.
        groups: the things asked for, each a set of alternative terms with its weight.
        identifiers: names of code, qualified or not, as written.
        places: paths, with the lines that are told with them.
        stack: traces in the text, and what was raised.
        literals: what is quoted.
        english: what the vector is made of.
        symbolic: whether it is a bare name.
        is_long: whether it is a text, such as a bug report, rather than a question.
        also: other wordings that join the vector, each with its weight, the question's own being 1 (`rewrites`).
    """

    text: str
    weights: dict[str, float]
    groups: tuple[Group, ...]
    identifiers: tuple[str, ...]
    places: tuple[Place, ...]
    stack: Stack
    literals: tuple[str, ...]
    intent: Intent
    english: str
    symbolic: bool
    is_long: bool
    also: tuple[tuple[str, float], ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(place.path for place in self.places)


def understand(text: str, *, df: Callable[[str], int], n_chunks: int) -> Query:
    """Return what to search for.

    Args:
        text: the question as asked.
        df: in how many chunks a term occurs.
        n_chunks: how many chunks there are.
    """

    def rarity(term: str) -> float:
        return idf(df(term), n_chunks)

    read = text.strip()[:MAX_CHARS]
    own = [term for term in dict.fromkeys(terms(read)) if term not in STOP and len(term) < 60]
    words = segment(read)
    weights, groups = _asked_for(own, words, df=df, rarity=rarity)
    is_long = len(own) > LONG or len(weights) > MANY
    if is_long:
        weights = telling(read, weights, lambda term: rarity(term) if df(term) else 0.0)
    written = (n.strip("`") if n.startswith("`") else n.lstrip("$") for n in IDENTIFIER.findall(read))
    identifiers = tuple(dict.fromkeys([*written, *names(words, df)]))
    bare = text.strip()
    symbolic = len(bare) <= MAX_NAME and bool(re.fullmatch(r"[\w$.:#>\\-]+(?:\(\))?", bare)) and not CJK.search(bare)
    if symbolic and bare not in identifiers:
        identifiers = (bare.removesuffix("()"), *identifiers)
    return Query(
        text=read,
        weights=weights,
        groups=groups,
        identifiers=identifiers[:MAX_IDENTIFIERS],
        places=places(read),
        stack=read_stack(read),
        literals=literals(read),
        intent=intent_of(read),
        english=_in_english(in_short(read) if is_long else read, words),
        symbolic=symbolic,
        is_long=is_long,
    )


def _asked_for(
    own: Sequence[str], words: Sequence[Word], *, df: Callable[[str], int], rarity: Callable[[str], float]
) -> tuple[dict[str, float], tuple[Group, ...]]:
    """Return the weight of each term of a question, and the things that it asks for.

    Args:
        own: its terms as they stand there.
        words: its Chinese words.
    """
    groups: list[Group] = []
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
    return weights, tuple(groups)


def _in_english(text: str, words: Sequence[Word]) -> str:
    """Return what the vector is made of: the text without its Chinese, and the commonest names of its Chinese words."""
    told = [name.replace("_", " ") for word in words for name in word.english[:IN_VECTOR]]
    return " ".join([CJK.sub(" ", text), *told]).strip()
