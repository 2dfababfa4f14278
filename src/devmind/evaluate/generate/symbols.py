"""The symbol table → questions for where a name is defined; only names that can mean one thing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from devmind.evaluate.datasets.check import WAIVE
from devmind.evaluate.datasets.units import cut_unit
from devmind.evaluate.generate.corpus import FUNCTION_KINDS, Corpus, Unit
from devmind.evaluate.generate.topics import Lang, lang_at, make_topic, rng_of, shuffled, spread, truth_of
from devmind.evaluate.generate.wording import ROUTE, SYMBOL, kind_name, worded
from devmind.evaluate.types import Topic, Truth

ASKED_KINDS: Final = frozenset(
    {
        "class", "method", "function", "enum", "interface", "struct", "union", "trait", "protocol", "type", "macro",
        "object", "message", "service", "rpc", "property", "constant", "route",
    }
)  # fmt: skip
_MIN_NAME_CHARS: Final = 4  # `run` and `get` are words of any sentence
_SEPARATORS: Final = ("::", "#", "->", "\\")


@dataclass(frozen=True, slots=True)
class Asked:
    """A symbol and the name by which it is asked for: its own where that is unique, else with its owner's."""

    unit: Unit
    name: str


def symbol_topics(corpus: Corpus, *, n: int, seed: int, langs: Sequence[Lang]) -> list[Topic]:
    """Return up to ``n`` topics, the languages in turn."""
    ordered = shuffled(askable(corpus), lambda asked: asked.unit.key, seed=seed)
    chosen = spread(ordered, n, lambda asked: asked.unit.file.path)
    functions = functions_by_name(corpus)
    return [_topic(corpus, asked, functions, lang_at(langs, at), seed) for at, asked in enumerate(chosen)]


def askable(corpus: Corpus) -> Iterator[Asked]:
    """Yield the source's symbols that a name alone identifies in the whole repository, tests and all."""
    names = Counter(unit.symbol.name.casefold() for unit in corpus.units())
    tails = Counter(tail for unit in corpus.units() for tail in [_tail(unit)] if tail)
    for unit in corpus.units(role="source"):
        symbol = unit.symbol
        if symbol.kind not in ASKED_KINDS or _unspeakable(symbol.name, symbol.kind) or is_local(unit):
            continue
        if names[symbol.name.casefold()] == 1:
            yield Asked(unit, symbol.name)
        elif tails[_tail(unit)] == 1:
            yield Asked(unit, _last_two(symbol.qualified_name))


def is_local(unit: Unit) -> bool:
    """Return whether the definition stands inside a function, where nobody outside knows its name."""
    above = unit.symbol.parent
    while 0 <= above < len(unit.file.symbols):
        if unit.file.symbols[above].kind in FUNCTION_KINDS:
            return True
        above = unit.file.symbols[above].parent
    return False


def _unspeakable(name: str, kind: str) -> bool:
    if kind == "route":
        return len(name.split(" ", 1)[-1].strip("/")) < _MIN_NAME_CHARS
    return len(name) < _MIN_NAME_CHARS or name.startswith("__") or not any(map(str.isalpha, name))


def _tail(unit: Unit) -> str:
    """Return owner and name in lower case, "" for what has no owner."""
    tail = _last_two(unit.symbol.qualified_name).casefold()
    return tail if "." in tail and unit.symbol.kind != "route" else ""


def _last_two(qualified_name: str) -> str:
    name = qualified_name
    for separator in _SEPARATORS:
        name = name.replace(separator, ".")
    return ".".join(name.split(".")[-2:])


def _topic(corpus: Corpus, asked: Asked, functions: Mapping[str, list[Unit]], lang: Lang, seed: int) -> Topic:
    unit, symbol = asked.unit, asked.unit.symbol
    route = symbol.kind == "route"
    query, template = worded(
        ROUTE if route else SYMBOL, lang, rng_of(seed, unit.key), name=asked.name, kind=kind_name(symbol.kind, lang)
    )
    topic = make_topic(
        corpus,
        "symbol",
        unit.key,
        query=query,
        category="API location" if route else "symbol lookup",
        lang=lang,
        seed=seed,
        truths=_route_truths(unit, functions) if route else [truth_of(unit)],
        language=unit.file.language,
        labels={"kind": symbol.kind},
        provenance={"symbol": symbol.qualified_name, "asked_as": asked.name, "template": template},
    )
    return _with_waiver(topic, unit) if route else topic


def functions_by_name(corpus: Corpus) -> Mapping[str, list[Unit]]:
    found: dict[str, list[Unit]] = defaultdict(list)
    for unit in corpus.units(role="source"):
        if unit.symbol.kind in FUNCTION_KINDS:
            found[unit.symbol.name].append(unit)
    return found


def route_handler(route: Unit, functions: Mapping[str, list[Unit]]) -> Unit | None:
    """Return the function that answers a route: the one it decorates or names, or holds; None if that is not clear."""
    for reference in route.file.references:
        if reference.kind == "handles" and reference.scope == route.index:
            named = functions.get(reference.name, [])
            here = [unit for unit in named if unit.file is route.file]
            decorated = [unit for unit in here if inside(route, unit)]
            for rivals in (decorated, here, named):
                if len(rivals) == 1:
                    return rivals[0]
            return None
    held = [unit for units in functions.values() for unit in units if unit.file is route.file and inside(unit, route)]
    return held[0] if len(held) == 1 else None


def inside(inner: Unit, outer: Unit) -> bool:
    """Return whether a definition begins in the lines of another one."""
    begin = inner.symbol.start_line
    return inner.file is outer.file and outer.symbol.start_line <= begin <= outer.symbol.end_line


def _route_truths(route: Unit, functions: Mapping[str, list[Unit]]) -> list[Truth]:
    handler = route_handler(route, functions)
    if handler is None:
        return [truth_of(route, role="route")]
    if inside(route, handler):
        return [truth_of(handler, role="handler")]  # a decorated function: its lines hold both
    if inside(handler, route):
        return [truth_of(route, role="handler")]
    return [replace(truth_of(route, role="route"), grade="weak"), truth_of(handler, role="handler")]


def _with_waiver(topic: Topic, unit: Unit) -> Topic:
    """Accept that a route's line is a part of the function that registers many."""
    cut = cut_unit(topic.truths[0].span, unit.file.text, unit.file.symbols)
    return topic if cut is None else replace(topic, labels={**topic.labels, WAIVE: "part_of_unit"})
