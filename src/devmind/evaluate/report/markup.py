"""HTML that is safe by construction: whatever is not `Markup` is text, and is escaped."""

from __future__ import annotations

from html import escape

from devmind.render.plain import safe

_VOID = frozenset({"meta", "br", "input"})


class Markup(str):
    """HTML that was made here, of escaped parts."""

    __slots__ = ()


def tag(element: str, /, *children: str | Markup, **attributes: str | bool | None) -> Markup:
    """Return an element. ``class_`` stands for ``class``, ``data_x`` for ``data-x``; None and False leave it out."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(safe(str(value)))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if element in _VOID:
        return Markup(f"<{element}{written}>")
    return Markup(f"<{element}{written}>{joined(*children)}</{element}>")


def joined(*children: str | Markup) -> Markup:
    return Markup("".join(child if isinstance(child, Markup) else escape(safe(child)) for child in children))
