"""Loose values of a system's answer → hits with sound spans and numbers, and the reasons for what was left out.

One unusable hit costs itself, never the response that holds it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from devmind.evaluate.targets.types import MORE_THAN_K
from devmind.evaluate.types import Response, Retrieved, Span


@dataclass(frozen=True, slots=True)
class Rules:
    """How a system writes places.

    Attributes:
        strip_prefix: What stands in front of a path that is relative to the repository.
        separator: What stands for ``/`` in document names; empty if they have slashes.
        line_base: The number of the first line, 0 or 1.
        end_exclusive: The end is the first line after the span.
    """

    strip_prefix: str = ""
    separator: str = ""
    line_base: int = 1
    end_exclusive: bool = False


@dataclass(frozen=True, slots=True)
class Loose:
    """The parts of a hit as a system gave them; None for what it did not give."""

    file: Any = None
    start: Any = None
    end: Any = None
    text: Any = None
    score: Any = None
    symbol: Any = None


class Unusable(ValueError):
    """A part of a hit that cannot be used; the message names the field."""


def to_hits(parts: Iterable[Loose], rules: Rules) -> tuple[tuple[Retrieved, ...], tuple[str, ...]]:
    """Return the hits that can be read, in order, and a reason for each that cannot."""
    hits, dropped = [], []
    for number, loose in enumerate(parts, start=1):
        try:
            hits.append(to_hit(loose, rules))
        except Unusable as problem:
            dropped.append(f"hit {number}: {problem}")
    return tuple(hits), tuple(dropped)


def to_hit(loose: Loose, rules: Rules) -> Retrieved:
    """Return one hit. Text without lines keeps its file and has no span; a file alone stands for all of it.

    Raises:
        Unusable: A part has the wrong type, or there is neither a place nor text.
    """
    file = path_of(_text("file", loose.file), rules)
    text, symbol = _text("text", loose.text), _text("symbol", loose.symbol)
    score = _number("score", loose.score)
    span = _span(file, loose, rules)
    if span is None and file and not text and not symbol:
        span = Span(file)
    return Retrieved(span=span, text=text, score=score, symbol=symbol, file=file)


def usable(response: Response, *, k: int) -> Response:
    """Return ``response`` with its first ``k`` sound hits; what is left out is recorded in ``dropped`` and ``notes``.

    Left out are hits with a score that is not finite, reversed spans, lines below 1, hits with neither place nor text,
    and a confidence that is not finite.
    """
    dropped = list(response.dropped)
    hits = []
    for number, hit in enumerate(response.hits, start=1):
        problem = _problem(hit)
        if problem:
            dropped.append(f"hit {number}: {problem}")
        else:
            hits.append(_sound(hit))
    cited = []
    for number, span in enumerate(response.cited, start=1):
        problem = _span_problem(span)
        if problem:
            dropped.append(f"citation {number}: {problem}")
        else:
            cited.append(span)
    confidence = response.confidence
    if confidence is not None and not math.isfinite(confidence):
        dropped.append(f"confidence: {confidence} is no finite number")
        confidence = None
    notes = response.notes + ((MORE_THAN_K,) if len(hits) > k and MORE_THAN_K not in response.notes else ())
    return replace(
        response,
        hits=tuple(hits[:k]),
        cited=tuple(cited),
        confidence=confidence,
        dropped=tuple(dropped),
        notes=notes,
    )


def path_of(text: str, rules: Rules) -> str:
    """Return the path inside the repository: forward slashes, without the prefix and leading ``./`` or ``/``."""
    path = text.replace("\\", "/")
    if rules.separator:
        path = path.replace(rules.separator, "/")
    path = path.removeprefix(rules.strip_prefix)
    while path.startswith("./"):
        path = path[2:]
    return path.lstrip("/")


def number_of(value: Any) -> float | None:
    """Return a number or a string that holds one; None for anything else, a boolean too."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _sound(hit: Retrieved) -> Retrieved:
    """Return the hit with plain finite numbers and, when it has a span, the span's file."""
    return replace(
        hit,
        score=None if hit.score is None else float(hit.score),
        why={name: float(value) for name, value in hit.why.items() if math.isfinite(value)},
        file=hit.file if hit.span is None else hit.span.file,
    )


def _problem(hit: Retrieved) -> str:
    if hit.score is not None and not math.isfinite(hit.score):
        return f"score: {hit.score} is no finite number"
    if hit.span is not None:
        return _span_problem(hit.span)
    return "" if hit.text or hit.file else "neither a place nor text"


def _span_problem(span: Span) -> str:
    if not span.file:
        return "file: is empty"
    if span.whole_file:
        return ""
    if span.start_line < 1:
        return f"start_line: {span.start_line} of {span.file!r} is below the first line"
    if span.end_line < span.start_line:
        return f"end_line: the span {span.start_line}-{span.end_line} of {span.file!r} is reversed"
    return ""


def _span(file: str, loose: Loose, rules: Rules) -> Span | None:
    start = _line("start_line", loose.start)
    end = _line("end_line", loose.end)
    if start is None:
        if end is not None:
            raise Unusable(f"start_line: is missing, end_line is {end}")
        return None
    if not file:
        raise Unusable(f"file: is missing for the lines from {start}")
    first = start + 1 - rules.line_base
    last = first if end is None else end + 1 - rules.line_base - rules.end_exclusive
    if first == 0 == last:  # would pass for a whole file
        raise Unusable(f"start_line: 0 of {file!r} is below the first line; is the line base 0?")
    return Span(file, first, last)


def _text(field: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Unusable(f"{field}: {_shown(value)} is no text")
    return value


def _line(field: str, value: Any) -> int | None:
    if value is None:
        return None
    number = number_of(value)
    if number is None or not math.isfinite(number) or number != int(number):
        raise Unusable(f"{field}: {_shown(value)} is no line number")
    return int(number)


def _number(field: str, value: Any) -> float | None:
    if value is None:
        return None
    number = number_of(value)
    if number is None:
        raise Unusable(f"{field}: {_shown(value)} is no number")
    return number


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
