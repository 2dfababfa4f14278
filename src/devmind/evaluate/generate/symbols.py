"""The symbol table → questions for where a name is defined; only names that can mean one thing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from devmind.evaluate.datasets.check import WAIVE
from devmind.evaluate.datasets.units import cut_unit
from devmind.evaluate.generate.corpus import Corpus, Unit
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
    handlers = _handlers(corpus)
    return [_topic(corpus, asked, handlers, lang_at(langs, at), seed) for at, asked in enumerate(chosen)]


def askable(corpus: Corpus) -> Iterator[Asked]:
    """Yield the source's symbols that a name alone identifies in the whole repository, tests and all."""
    names = Counter(unit.symbol.name.casefold() for unit in corpus.units())
    tails = Counter(tail for unit in corpus.units() for tail in [_tail(unit)] if tail)
    for unit in corpus.units(role="source"):
        symbol = unit.symbol
        if symbol.kind not in ASKED_KINDS or _unspeakable(symbol.name, symbol.kind):
            continue
        if names[symbol.name.casefold()] == 1:
            yield Asked(unit, symbol.name)
        elif tails[_tail(unit)] == 1:
            yield Asked(unit, _last_two(symbol.qualified_name))


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


def _topic(corpus: Corpus, asked: Asked, handlers: dict[str, Unit], lang: Lang, seed: int) -> Topic:
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
        truths=_route_truths(unit, handlers) if route else [truth_of(unit)],
        language=unit.file.language,
        labels={"kind": symbol.kind},
        provenance={"symbol": symbol.qualified_name, "asked_as": asked.name, "template": template},
    )
    return _with_waiver(topic, unit) if route else topic


def _handlers(corpus: Corpus) -> dict[str, Unit]:
    """Map the names that one function of the source alone has to that function."""
    units = [unit for unit in corpus.units(role="source") if unit.symbol.kind in ("function", "method")]
    counts = Counter(unit.symbol.name for unit in units)
    return {unit.symbol.name: unit for unit in units if counts[unit.symbol.name] == 1}


def route_handler(unit: Unit, handlers: dict[str, Unit]) -> Unit | None:
    """Return the function that answers a route: named by it, or written inside it; None if that is not clear."""
    for reference in unit.file.references:
        if reference.kind == "handles" and reference.scope == unit.index:
            return handlers.get(reference.name)
    inside = [
        Unit(unit.file, index, symbol)
        for index, symbol in enumerate(unit.file.symbols)
        if symbol.parent == unit.index and symbol.kind in ("function", "method")
    ]
    return inside[0] if len(inside) == 1 else None


def _route_truths(unit: Unit, handlers: dict[str, Unit]) -> list[Truth]:
    route = truth_of(unit, role="route")
    handler = route_handler(unit, handlers)
    if handler is None:
        return [route]
    if handler.file is unit.file and unit.symbol.start_line <= handler.symbol.start_line <= unit.symbol.end_line:
        return [truth_of(unit, role="handler")]  # the decorated function: one span holds both
    return [replace(route, grade="weak"), truth_of(handler, role="handler")]


def _with_waiver(topic: Topic, unit: Unit) -> Topic:
    """Accept that a route's line is a part of the function that registers many."""
    cut = cut_unit(topic.truths[0].span, unit.file.text, unit.file.symbols)
    return topic if cut is None else replace(topic, labels={**topic.labels, WAIVE: "part_of_unit"})
