"""A repository's own names, and a list of features → questions about what it does not have, each proven absent.

A hard trap stands near something real: a real name with a word exchanged or added, parts of real names put together,
a feature of which the repository has a sibling. Letters are not exchanged: `get_usr` is a slip, and the right response
to it is `get_user`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Final, Literal

from devmind.evaluate.generate.absence import Absence, IndexText, index_text
from devmind.evaluate.generate.corpus import CLASS_KINDS, FUNCTION_KINDS, Corpus, Unit
from devmind.evaluate.generate.features import feature_templates, features
from devmind.evaluate.generate.names import Style, joined, parts_of, stem, style_of
from devmind.evaluate.generate.synonyms import synonyms
from devmind.evaluate.generate.topics import Kind, Lang, lang_at, make_topic, rng_of, shuffled
from devmind.evaluate.generate.wording import SYMBOL, kind_name, spaced, worded
from devmind.evaluate.types import TRAP, Topic

Difficulty = Literal["hard", "easy"]
_KIND: Final[Kind] = "trap"
_NEAR: Final = 0.5  # share of all parts that a name has in common with a real one: then it is hard
_MAX_PARTS: Final = 4
# Not at the seams of a name that is put together: `load_of_key` is nobody's name.
_JOINTS: Final = frozenset(
    {
        "a", "an", "and", "as", "at", "by", "for", "from", "if", "in", "into", "is", "not", "of", "on", "or", "per",
        "the", "to", "via", "with", "without",
    }
)  # fmt: skip
_ADDED: Final = (
    ("async",), ("batch",), ("cached",), ("by", "id"), ("in", "parallel"), ("with", "retry"), ("for", "tenant"),
    ("legacy",), ("safely",), ("from", "env"),
)  # fmt: skip
_ADDED_TO_CLASS: Final = (("factory",), ("pool",), ("proxy",), ("observer",), ("registry",), ("adapter",), ("mixin",))


@dataclass(frozen=True, slots=True)
class Trap:
    """Something that is not there. ``near``: the real name or thing that it stands beside, "" if none."""

    what: str
    how: str  # recombined, synonym, added, feature
    kind: str  # of symbol, or the group of the feature
    near: str
    difficulty: Difficulty
    proof: Absence


def trap_topics(corpus: Corpus, *, n: int, seed: int, langs: Sequence[Lang]) -> list[Topic]:
    """Return up to ``n`` topics: names and features in turn, the languages in turn."""
    text = index_text(corpus)
    units = [
        unit
        for unit in corpus.units(role="source")
        if unit.symbol.kind in FUNCTION_KINDS | CLASS_KINDS
        and not unit.symbol.name.startswith("__")
        and not _is_constructor(unit)
        and 2 <= len(parts_of(unit.symbol.name)) <= _MAX_PARTS
    ]
    ordered = shuffled(units, lambda unit: unit.key, seed=seed)
    absent = list(_features(text, seed))
    streams = [
        iter(absent[::2]),
        _exchanged(ordered, text, seed),
        iter(absent[1::2]),
        _recombined(ordered, text),
        _added(ordered, text, seed),
    ]
    topics: dict[str, Topic] = {}
    for lang_number, trap in enumerate(_in_turn(streams)):
        if len(topics) >= n:
            break
        topics.setdefault(trap.what.casefold(), _topic(corpus, trap, lang_at(langs, lang_number), seed))
    return list(topics.values())


def _is_constructor(unit: Unit) -> bool:
    above = unit.symbol.parent
    return 0 <= above < len(unit.file.symbols) and unit.file.symbols[above].name == unit.symbol.name


def _in_turn(streams: Sequence[Iterator[Trap]]) -> Iterator[Trap]:
    return (trap for trap in chain.from_iterable(zip_longest(*streams)) if trap is not None)


def _topic(corpus: Corpus, trap: Trap, lang: Lang, seed: int) -> Topic:
    rng = rng_of(seed, trap.what)
    if trap.how == "feature":
        feature = next(one for one in features() if one.name("en") == trap.what)
        query, template = worded(feature_templates(feature.group), lang, rng, name=feature.name(lang))
        query = spaced(query)
    else:
        query, template = worded(SYMBOL, lang, rng, name=trap.what, kind=kind_name(trap.kind, lang))
    near = {"near": trap.near} if trap.near else {}
    return make_topic(
        corpus,
        _KIND,
        trap.what,
        query=query,
        category=TRAP,
        lang=lang,
        seed=seed,
        labels={"difficulty": trap.difficulty, "trap": trap.how},
        provenance={"what": trap.what, "template": template, **near, **trap.proof.provenance()},
    )


# Names ----------------------------------------------------------------------------------------------------------


def _exchanged(units: Sequence[Unit], text: IndexText, seed: int) -> Iterator[Trap]:
    """Yield real names with one word exchanged for another of the same meaning."""
    for unit in units:
        parts = parts_of(unit.symbol.name)
        options = [
            [*parts[:at], other, *parts[at + 1 :]]
            for at, part in enumerate(parts)
            for other in synonyms().get(part, ())
        ]
        yield from _first_absent(unit, rng_of(seed, unit.key).sample(options, len(options)), text, "synonym")


def _added(units: Sequence[Unit], text: IndexText, seed: int) -> Iterator[Trap]:
    """Yield real names with words added that change what is meant."""
    for unit in units:
        added = _ADDED_TO_CLASS if unit.symbol.kind in CLASS_KINDS else _ADDED
        options = [[*parts_of(unit.symbol.name), *words] for words in rng_of(seed, unit.key).sample(added, len(added))]
        yield from _first_absent(unit, options, text, "added")


def _first_absent(unit: Unit, options: Sequence[list[str]], text: IndexText, how: str) -> Iterator[Trap]:
    for parts in options:
        name = joined(parts, style_of(unit.symbol.name))
        if proof := text.absent_name(name):
            yield Trap(name, how, unit.symbol.kind, unit.symbol.qualified_name, "hard", proof)
            return


def _recombined(units: Sequence[Unit], text: IndexText) -> Iterator[Trap]:
    """Yield the beginning of one name with the end of another of the same kind and style."""
    names_by_stem: dict[str, set[str]] = defaultdict(set)
    for unit in units:
        for part in parts_of(unit.symbol.name):
            names_by_stem[stem(part)].add(unit.symbol.name)
    firsts = Counter(parts_of(unit.symbol.name)[0] for unit in units)
    by_form: dict[tuple[str, Style], list[Unit]] = defaultdict(list)
    for unit in units:
        by_form[_form(unit)].append(unit)
    for unit in units:
        head = parts_of(unit.symbol.name)
        if firsts[head[0]] < 2 or head[0] in _JOINTS:
            continue  # a word that begins one name alone is no beginning that the reader of this code expects
        for other in by_form[_form(unit)]:
            parts = [head[0], *parts_of(other.symbol.name)[1:]]
            if other is unit or parts[1] in _JOINTS or len(set(map(stem, parts))) < len(parts):
                continue
            name = joined(parts, _form(unit)[1])
            if proof := text.absent_name(name):
                near, share = _nearest(parts, names_by_stem)
                hard: Difficulty = "hard" if share >= _NEAR else "easy"
                yield Trap(name, "recombined", unit.symbol.kind, near, hard, proof)
                by_form[_form(unit)].remove(other)
                break


def _form(unit: Unit) -> tuple[str, Style]:
    return ("class" if unit.symbol.kind in CLASS_KINDS else "function", style_of(unit.symbol.name))


def _nearest(parts: Sequence[str], names_by_stem: dict[str, set[str]]) -> tuple[str, float]:
    """Return the real name that shares most parts, and their share in the parts of both."""
    own = {stem(part) for part in parts}

    def likeness(name: str) -> float:
        others = {stem(part) for part in parts_of(name)}
        return len(own & others) / len(own | others)

    rivals = sorted(set().union(*(names_by_stem.get(part, set()) for part in own)))
    best = max(rivals, key=likeness, default="")
    return best, likeness(best) if best else 0.0


# Features -------------------------------------------------------------------------------------------------------


def _features(text: IndexText, seed: int) -> Iterator[Trap]:
    """Yield the features that are absent, in an order that the seed gives."""
    proofs = {feature: text.absent_thing(feature.names) for feature in features()}
    siblings: dict[str, str] = {}
    for feature, proof in proofs.items():
        if proof is None:
            siblings.setdefault(feature.group, feature.name("en"))
    for feature in shuffled(proofs, lambda feature: feature.name("en"), seed=seed):
        if proof := proofs[feature]:
            near = siblings.get(feature.group, "")
            yield Trap(feature.name("en"), "feature", feature.group, near, "hard" if near else "easy", proof)
