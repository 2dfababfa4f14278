"""A model's prose → the places it cites and whether it declines to answer.

Citations are read in the form that our own answers print: ``path:symbol (L3-L9)``, ``path:L3-L9``, ``path:3-9``.
Whether a cited place exists is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from devmind.answer.extractive import CHINESE, ENGLISH
from devmind.answer.verify import find_mentions
from devmind.evaluate.targets.config import Table
from devmind.evaluate.targets.hits import Rules, path_of
from devmind.evaluate.types import Retrieved, Span

# What our own refusals begin with; other systems' words are set in their configuration.
REFUSALS: Final = (ENGLISH.not_found.rstrip("."), CHINESE.not_found.rstrip("。"))
# A refusal says so at once; further down the words may be about a detail.
_REFUSAL_WITHIN_CHARS: Final = 200
_NAMES_WITHOUT_DOT: Final = frozenset({"Makefile", "Dockerfile"})
_GLUED: Final = re.compile(r"[^\x00-\x7f]+(?=[\w@])")  # Chinese text has no blank before a path


def refuses(answer: str, phrases: Sequence[str]) -> bool:
    """Return whether one of ``phrases`` stands at the start of the answer, in any case."""
    start = answer.strip()[:_REFUSAL_WITHIN_CHARS].casefold()
    return any(phrase.casefold() in start for phrase in phrases)


def cited_places(answer: str, rules: Rules) -> tuple[Retrieved, ...]:
    """Return each place that the answer cites, once, in order; one that names a symbol and no lines has no span."""
    places: dict[tuple[str, str, int, int], Retrieved] = {}
    for mention in find_mentions(answer):
        path = path_of(_without_glue(mention.path), rules)
        name = path.rpartition("/")[2]
        if "." not in name and name not in _NAMES_WITHOUT_DOT:
            continue  # "and/or:not"
        span = Span(path, mention.start_line, mention.end_line) if mention.start_line else None
        at = (path, mention.symbol, mention.start_line, mention.end_line)
        places.setdefault(at, Retrieved(span=span, symbol=mention.symbol, file=path))
    return tuple(places.values())


def cited_spans(places: Sequence[Retrieved]) -> tuple[Span, ...]:
    """Return the spans; a place without lines stands for its whole file."""
    return tuple(dict.fromkeys(place.span or Span(place.file) for place in places))


def refusal_phrases(table: Table) -> tuple[str, ...]:
    """Return the phrases by which the configured system declines to answer (key ``refusals``)."""
    return table.texts("refusals", REFUSALS)


def _without_glue(path: str) -> str:
    glued = _GLUED.match(path)
    return path[glued.end() :] if glued and path[glued.end()].isascii() else path
