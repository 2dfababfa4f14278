"""Text with ``{{query}}``, ``{{k}}``, ``{{repo}}``, ``{{env:NAME}}`` → the same with their values, each escaped.

Each value is put in once, in one pass: a question that itself holds ``{{k}}`` stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final
from urllib.parse import quote

from devmind.errors import UsageError

_PLACEHOLDER: Final = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_ENV: Final = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
PER_TOPIC: Final = frozenset({"query", "k", "repo"})


def fill(template: str, values: Mapping[str, str], *, escape: Callable[[str], str]) -> str:
    """Return ``template`` with every placeholder replaced by its escaped value; all must be in ``values``."""
    return _PLACEHOLDER.sub(lambda match: escape(values[match[1]]), template)


def in_json(text: str) -> str:
    """Escape for the inside of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def in_url(text: str) -> str:
    """Escape for a part of an address."""
    return quote(text, safe="")


def as_it_is(text: str) -> str:
    return text


def placeholders(template: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(match[1] for match in _PLACEHOLDER.finditer(template)))


def resolve_secrets(templates: Iterable[tuple[str, str]], *, secret: Callable[[str], str]) -> dict[str, str]:
    """Return the value of each ``env:NAME`` that stands in the templates, by placeholder.

    Args:
        templates: Pairs of what to call a template in an error, and the template.

    Raises:
        UsageError: A placeholder is not known, or a variable is not set.
    """
    found: dict[str, str] = {}
    for where, template in templates:
        for name in placeholders(template):
            variable = _ENV.fullmatch(name)
            if variable is not None:
                found[name] = secret(variable[1])
            elif name not in PER_TOPIC:
                known = "{{query}}, {{k}}, {{repo}} and {{env:NAME}}"
                raise UsageError(f"{where}: unknown placeholder {{{{{name}}}}}; known: {known}", code="bad_config")
    return found
