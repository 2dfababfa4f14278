"""Relations between definitions → questions whose answer has several places: chains of calls, and routes to services.

Only relations that the graph is sure of; and only chains with one way from the first to the last, so that every step
is a right one and no other is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final

from devmind.evaluate.datasets.check import WAIVE
from devmind.evaluate.datasets.units import cut_unit
from devmind.evaluate.generate.corpus import CLASS_KINDS, FUNCTION_KINDS, Corpus, Unit
from devmind.evaluate.generate.names import parts_of
from devmind.evaluate.generate.symbols import askable, functions_by_name, inside, route_handler
from devmind.evaluate.generate.topics import Lang, lang_at, make_topic, rng_of, shuffled, spread, truth_of
from devmind.evaluate.generate.wording import CHAIN, ROUTE_CHAIN, worded
from devmind.evaluate.types import Topic
from devmind.index.catalog import Catalog
from devmind.retrieve.code import Use
from devmind.retrieve.resolve import Resolver
from devmind.types import Reference

_ITSELF: Final = frozenset({"self", "this", "cls", "super", "super()", "Self"})
_NEUTRAL_BASES: Final = frozenset({"object", "Object", "ABC", "Protocol", "Generic", "NamedTuple", "Enum"})
_MIN_LINES: Final = 3  # a step that only passes on is no step that a reader wants to see
_MAX_STEPS: Final = 4
_MAX_SERVICES: Final = 2  # of a route's handler: with more, none of them is what does the work


@dataclass(frozen=True, slots=True)
class Chain:
    """Steps in order, each with its role; ``first`` is what the question begins with: a route, or the first step."""

    first: Unit
    units: tuple[Unit, ...]
    roles: tuple[str, ...]


class Calls:
    """Which functions of the source a function calls, as far as the graph is sure; remembers what it resolved."""

    def __init__(self, corpus: Corpus, catalog: Catalog) -> None:
        self._resolver = Resolver(catalog, corpus.repository.repo_id)
        self._unit_at = {
            (unit.file.path, unit.symbol.qualified_name, unit.symbol.start_line): unit
            for unit in corpus.units(role="source")
            if unit.symbol.kind in FUNCTION_KINDS
        }
        self._n_by_name = Counter(unit.symbol.name for unit in corpus.units())
        self._bases = _bases_by_class(corpus)
        self._known: dict[str, tuple[Unit, ...]] = {}

    def of(self, unit: Unit) -> tuple[Unit, ...]:
        """Return the functions called, by their place in the caller, each once; not itself, and none that is nested."""
        if unit.key not in self._known:
            self._known[unit.key] = tuple(self._resolved(unit))
        return self._known[unit.key]

    def _resolved(self, unit: Unit) -> Iterator[Unit]:
        seen = {unit.key}
        begin = body_line(unit)
        calls = [r for r in unit.file.references if r.kind == "calls" and begin <= r.line <= unit.symbol.end_line]
        for call in sorted(calls, key=lambda call: (call.line, call.name)):
            targets, confidence = self._resolver.resolve(_use(unit, call))
            target = targets[0] if len(targets) == 1 else None
            found = target and self._unit_at.get((target.path, target.qualified_name, target.start_line))
            if not found or found.key in seen or inside(found, unit):
                continue
            if self._is_sure(unit, call, found, exact=confidence == "exact"):
                seen.add(found.key)
                yield found

    def _is_sure(self, unit: Unit, call: Reference, found: Unit, *, exact: bool) -> bool:
        """Return whether ``call`` can mean nothing but ``found``.

        The graph holds a name that only one definition has for that one. But `cache.get()` and `rows.update()` mean
        what a library has, however alone a `get` of ours stands: such a name needs a receiver that says whose it is.
        """
        owner = _owner(found)
        receiver = _parts(call.qualifier)[-1] if call.qualifier else ""
        if not receiver:
            return (not owner or owner == _owner(unit)) and (exact or found.file is unit.file)
        if receiver in _ITSELF:
            return bool(owner) and (owner == _owner(unit) or self._is_telling(found))
        if receiver == (owner or PurePosixPath(found.file.path).stem):
            return True
        return bool(owner) and self._is_telling(found) and self._is_ours(owner)

    def _is_ours(self, owner: str) -> bool:
        """Return whether all that the class inherits from is in this repository; else its methods may be another's."""
        waiting, seen = [owner], {owner}
        while waiting:
            name = waiting.pop()
            if name not in self._bases:
                return False
            new = self._bases[name] - seen - _NEUTRAL_BASES
            seen |= new
            waiting += new
        return True

    def _is_telling(self, found: Unit) -> bool:
        name = found.symbol.name
        return self._n_by_name[name] == 1 and len(parts_of(name)) > 1


def _use(unit: Unit, call: Reference) -> Use:
    return Use(
        name=call.name,
        kind=call.kind,
        line=call.line,
        qualifier=call.qualifier,
        path=unit.file.path,
        content_id=unit.file.content_id,
        scope=call.scope,
        role=unit.file.role,
    )


def _bases_by_class(corpus: Corpus) -> Mapping[str, set[str]]:
    bases: dict[str, set[str]] = {}
    for unit in corpus.units():
        if unit.symbol.kind in CLASS_KINDS:
            uses = unit.file.references
            bases.setdefault(unit.symbol.name, set()).update(
                use.name for use in uses if use.kind in ("inherits", "implements") and use.scope == unit.index
            )
    return bases


def body_line(unit: Unit) -> int:
    """Return the line on which a function itself begins, below its decorators: what these call, it does not call."""
    words = unit.symbol.signature.split()[:2]
    lines = unit.file.lines[unit.symbol.start_line - 1 : unit.symbol.end_line]
    for number, line in enumerate(lines, start=unit.symbol.start_line):
        named = unit.symbol.name in line and not line.lstrip().startswith("@")
        if named or line.split()[: len(words)] == words:
            return number
    return unit.symbol.start_line


def _owner(unit: Unit) -> str:
    parts = _parts(unit.symbol.qualified_name)
    return parts[-2] if len(parts) > 1 else ""


def _parts(name: str) -> list[str]:
    return [part for part in re.split(r"\.|::|->|#", name) if part] or [""]


def hops_topics(corpus: Corpus, catalog: Catalog, *, n: int, seed: int, langs: Sequence[Lang]) -> list[Topic]:
    """Return up to ``n`` topics, routes first up to half of them, the languages in turn."""
    calls = Calls(corpus, catalog)
    routes = shuffled(_routes(corpus, calls), lambda chain: chain.first.key, seed=seed)[: (n + 1) // 2]
    chains = _chains(corpus, calls, seed, 3 * n)
    chosen = spread(chains, n - len(routes), lambda chain: chain.units[0].file.path)
    names = {asked.unit.key: asked.name for asked in askable(corpus)}
    return [
        _topic(corpus, chain, names, lang_at(langs, at), seed)
        for at, chain in enumerate([*routes, *chosen])
    ]  # fmt: skip


def _topic(corpus: Corpus, chain: Chain, names: dict[str, str], lang: Lang, seed: int) -> Topic:
    first, last = chain.first, chain.units[-1]
    key = " > ".join(unit.key for unit in chain.units)
    route = first.symbol.kind == "route"
    asked = {"first": names.get(first.key, first.symbol.name), "last": names.get(last.key, last.symbol.name)}
    query, template = worded(ROUTE_CHAIN if route else CHAIN, lang, rng_of(seed, key), **asked)
    topic = make_topic(
        corpus,
        "hops",
        key,
        query=query,
        category="multi-hop",
        lang=lang,
        seed=seed,
        truths=[truth_of(unit, role=role) for unit, role in zip(chain.units, chain.roles, strict=True)],
        language=first.file.language,
        labels={"steps": str(len(chain.units)), "chain": "route" if route else "calls"},
        provenance={
            "chain": " > ".join(f"{unit.file.path}:{unit.symbol.qualified_name}" for unit in chain.units),
            "template": template,
        },
    )
    part = route and cut_unit(topic.truths[0].span, first.file.text, first.file.symbols) is not None
    return replace(topic, labels={**topic.labels, WAIVE: "part_of_unit"}) if part else topic


# Calls ----------------------------------------------------------------------------------------------------------


def _chains(corpus: Corpus, calls: Calls, seed: int, n: int) -> list[Chain]:
    """Return chains of three or four functions, each beginning and end once."""
    starts = [
        asked.unit
        for asked in askable(corpus)
        if asked.unit.symbol.kind in FUNCTION_KINDS and len(parts_of(asked.unit.symbol.name)) > 1
    ]
    named = {unit.key for unit in starts}
    found: list[Chain] = []
    ends: set[str] = set()
    for start in shuffled(starts, lambda unit: unit.key, seed=seed):
        if len(found) >= n:
            break
        ways = [way for way in _ways(start, calls) if way[-1].key in named and way[-1].key not in ends]
        if ways:
            way = rng_of(seed, start.key).choice(sorted(ways, key=lambda way: [unit.key for unit in way]))
            ends.add(way[-1].key)
            found.append(Chain(start, way, ("caller", *("step" for _ in way[1:-1]), "callee")))
    return found


def _ways(start: Unit, calls: Calls) -> list[tuple[Unit, ...]]:
    """Return the chains from ``start``, of at most `_MAX_STEPS`, that are the only way to their ends."""
    ways: list[tuple[Unit, ...]] = []
    layer: list[tuple[Unit, ...]] = [(start,)]
    for _ in range(_MAX_STEPS - 1):
        layer = [
            (*way, callee)
            for way in layer
            for callee in calls.of(way[-1])
            if callee.key not in {unit.key for unit in way}
        ]
        ways += layer
    n_ways: dict[str, int] = {}
    for way in ways:
        n_ways[way[-1].key] = n_ways.get(way[-1].key, 0) + 1
    return [way for way in ways if len(way) > 2 and n_ways[way[-1].key] == 1 and all(map(_is_step, way))]


def _is_step(unit: Unit) -> bool:
    return unit.symbol.end_line - unit.symbol.start_line + 1 >= _MIN_LINES and not unit.symbol.name.startswith("__")


# Routes ---------------------------------------------------------------------------------------------------------


def _routes(corpus: Corpus, calls: Calls) -> Iterator[Chain]:
    """Yield the routes with a clear handler that relies on one or two functions of the source."""
    functions = functions_by_name(corpus)
    for asked in askable(corpus):
        route = asked.unit
        handler = route_handler(route, functions) if route.symbol.kind == "route" else None
        if handler is None:
            continue
        services = [unit for unit in calls.of(handler) if _is_step(unit)]
        if not 1 <= len(services) <= _MAX_SERVICES:
            continue
        roles = tuple("service" for _ in services)
        if inside(route, handler) or inside(handler, route):  # a decorated or inline function: one span holds both
            yield Chain(route, (handler if inside(route, handler) else route, *services), ("handler", *roles))
        else:
            yield Chain(route, (route, handler, *services), ("route", "handler", *roles))
