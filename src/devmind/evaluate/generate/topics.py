"""What all generators share: how a topic is made, named and chosen. The same seed chooses the same, on any machine."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Final, Literal, TypeVar

from devmind import __version__
from devmind.evaluate.datasets.leak import leak_of
from devmind.evaluate.generate.corpus import Corpus, File, Unit
from devmind.evaluate.types import TRAP, Span, Topic, Truth
from devmind.types import Symbol, stable_id

Lang = Literal["en", "zh"]
LANGS: Final[tuple[Lang, ...]] = ("en", "zh")
Kind = Literal["symbol", "trap", "history", "docs", "hops"]
KINDS: Final[tuple[Kind, ...]] = ("symbol", "trap", "history", "docs", "hops")
GENERATOR_VERSION: Final = "1"  # raise it when the same seed would make other topics
# Of the topics of one kind, no file has more than this share while others have candidates: one long file would
# otherwise be most of the set, and the topics of one file succeed and fail together.
_MAX_SHARE_OF_A_FILE: Final = 0.1
_MIN_OF_A_FILE: Final = 2

T = TypeVar("T")


def truth_at(file: File, symbol: Symbol, *, core: tuple[int, int] | None = None, role: str = "") -> Truth:
    """Return the truth that a definition of ``file`` is, with its lines."""
    first, last = symbol.start_line, symbol.end_line
    while last > first and not file.lines[last - 1].strip():
        last -= 1
    return Truth(
        Span(file.path, first, last),
        symbol=symbol.qualified_name,
        core=core,
        text="\n".join(file.lines[first - 1 : last]),
        role=role,
    )


def truth_of(unit: Unit, *, role: str = "") -> Truth:
    return truth_at(unit.file, unit.symbol, role=role)


def make_topic(
    corpus: Corpus,
    kind: Kind,
    key: str,
    *,
    query: str,
    category: str,
    lang: Lang,
    seed: int,
    truths: Sequence[Truth] = (),
    language: str = "",
    labels: Mapping[str, str] = {},
    provenance: Mapping[str, str] = {},
) -> Topic:
    """Return a topic that waits for a person's decision.

    Args:
        key: what tells the topic from all others of its kind and language in this repository.
        language: the programming language of what is asked for.
    """
    topic = Topic(
        topic_id=f"{kind}-{stable_id(corpus.name, kind, lang, key)[:10]}",
        query=query,
        category=category,
        truths=tuple(truths),
        repo=corpus.name,
        commit=corpus.commit,
        language=language,
        labels={"query_lang": lang, "source": kind, **labels},
        provenance={
            "generator": kind,
            "version": GENERATOR_VERSION,
            "devmind": __version__,
            "seed": str(seed),
            "indexed_commit": corpus.head,
            **provenance,
        },
        status="pending",
    )
    return with_leak(topic)


def with_leak(topic: Topic) -> Topic:
    """Return the topic with the label that says whether its query names the file or symbol that answers it."""
    return topic if topic.category == TRAP else replace(topic, labels={**topic.labels, "leak": leak_of(topic)})


def shuffled(candidates: Iterable[T], key: Callable[[T], str], *, seed: int) -> list[T]:
    """Return the candidates in an order that depends on the seed and each one's key alone.

    What is added to or removed from the candidates does not change the order of the rest, so a set made again after a
    commit keeps most of its topics.
    """
    return sorted(candidates, key=lambda candidate: (stable_id(seed, key(candidate)), key(candidate)))


def spread(ordered: Sequence[T], n: int, file_of: Callable[[T], str]) -> list[T]:
    """Return ``n`` of the candidates, first come first served, but few of a file while others have some."""
    cap = max(_MIN_OF_A_FILE, math.ceil(n * _MAX_SHARE_OF_A_FILE))
    counts: Counter[str] = Counter()
    chosen: list[int] = []
    for at, candidate in enumerate(ordered):
        if len(chosen) < n and counts[file_of(candidate)] < cap:
            counts[file_of(candidate)] += 1
            chosen.append(at)
    taken = set(chosen)
    chosen += [at for at in range(len(ordered)) if at not in taken][: n - len(chosen)]
    return [ordered[at] for at in sorted(chosen)]


def rng_of(seed: int, key: str) -> Random:
    """Return the chance that words one topic: the same for the same seed and key."""
    return Random(f"{seed}\0{key}")


def lang_at(langs: Sequence[Lang], number: int) -> Lang:
    return langs[number % len(langs)]
