"""A repository in the knowledge base → a set of topics of the kinds asked for. The composition root of this folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from devmind.errors import UsageError
from devmind.evaluate.generate.corpus import Corpus, has_history
from devmind.evaluate.generate.dedupe import without_duplicates
from devmind.evaluate.generate.docs import docs_topics
from devmind.evaluate.generate.history import history_topics
from devmind.evaluate.generate.hops import hops_topics
from devmind.evaluate.generate.symbols import symbol_topics
from devmind.evaluate.generate.topics import KINDS, LANGS, Kind, Lang
from devmind.evaluate.generate.traps import trap_topics
from devmind.evaluate.types import Topic
from devmind.index.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to make.

    Attributes:
        n: topics of each kind, at most.
        langs: languages of the questions. Those from comments and history keep the language they were written in, and
            are left out if it is not here.
    """

    kinds: tuple[Kind, ...] = KINDS
    n: int = 50
    seed: int = 1
    langs: tuple[Lang, ...] = LANGS

    def __post_init__(self) -> None:
        if self.n < 1:
            raise UsageError(f"n is {self.n}: ask for 1 topic of a kind or more")
        for name, given, known in (("kind", self.kinds, KINDS), ("language", self.langs, LANGS)):
            for one in given:
                if one not in known:
                    raise UsageError(f"unknown {name} {one!r}: choose from {', '.join(known)}")
            if not given:
                raise UsageError(f"no {name} is named: choose from {', '.join(known)}")


@dataclass(frozen=True, slots=True)
class Generated:
    """The topics by kind in the order asked for, how many of each, and what a reader of them must know.

    ``dropped``: commits that ask nothing, by reason.
    """

    topics: tuple[Topic, ...]
    n_by_kind: dict[str, int]
    n_duplicates: int
    notes: tuple[str, ...] = ()
    dropped: dict[str, int] = field(default_factory=dict)


def generate(corpus: Corpus, catalog: Catalog, wanted: Wanted) -> Generated:
    """Return topics about ``corpus``; the same for the same generation, seed and version of the generators.

    Cost: some seconds for 1 MB of source; traps search all of it for every name they try.
    """
    made: list[Topic] = []
    notes: list[str] = []
    dropped: dict[str, int] = {}
    for kind in dict.fromkeys(wanted.kinds):
        if kind == "history" and not has_history(corpus):
            notes.append(f"history: '{corpus.name}' has no git history on this machine; add its git repository")
            continue
        topics, reasons = _of_kind(kind, corpus, catalog, wanted)
        dropped |= reasons
        if len(topics) < wanted.n:
            notes.append(
                f"{kind}: {len(topics)} of {wanted.n}: the repository gives no more that can be labelled safely"
            )
        made += topics
    kept, n_duplicates = without_duplicates(made)
    counts: dict[str, int] = {
        kind: sum(topic.provenance["generator"] == kind for topic in kept) for kind in wanted.kinds
    }
    return Generated(tuple(kept), counts, n_duplicates, tuple(notes), dropped)


def _of_kind(kind: Kind, corpus: Corpus, catalog: Catalog, wanted: Wanted) -> tuple[Sequence[Topic], dict[str, int]]:
    n, seed, langs = wanted.n, wanted.seed, wanted.langs
    match kind:
        case "symbol":
            return symbol_topics(corpus, n=n, seed=seed, langs=langs), {}
        case "trap":
            return trap_topics(corpus, n=n, seed=seed, langs=langs), {}
        case "docs":
            return docs_topics(corpus, n=n, seed=seed, langs=langs), {}
        case "hops":
            return hops_topics(corpus, catalog, n=n, seed=seed, langs=langs), {}
        case "history":
            return history_topics(corpus, n=n, seed=seed, langs=langs)
