"""Counts, shares and estimates → the text that every table and page shows them as."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

UNKNOWN = "–"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return ``1 topic``, ``2 topics``; ``plural`` for a noun that takes more than an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def number(value: float | None, digits: int = 3) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.{digits}f}"


def signed(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    shown = f"{value:+,.0f}" if abs(value) >= 100 else f"{value:+.3f}"
    return shown[1:] if float(shown.replace(",", "")) == 0 else shown


def interval(found: Mapping[str, Any]) -> str:
    if found["low"] is None or found["high"] is None:
        return ""
    return f"[{number(found['low'])}, {number(found['high'])}]"


def p_value(p: float | None) -> str:
    if p is None:
        return UNKNOWN
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
