"""Filters as people write them → filters as the index knows their values."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import get_args

from devmind.errors import UsageError
from devmind.index.catalog import Catalog
from devmind.types import Filters, Role, SymbolKind


def checked(catalog: Catalog, filters: Filters) -> Filters:
    """Return the filters in lower case.

    Raises:
        UsageError: a value can match nothing, which would look like an empty result.
    """
    if not (filters.languages or filters.kinds or filters.roles):
        return filters
    lowered = replace(
        filters,
        languages=tuple(value.lower() for value in filters.languages),
        kinds=tuple(value.lower() for value in filters.kinds),
        roles=tuple(value.lower() for value in filters.roles),
    )
    _refuse_unknown("role", lowered.roles, get_args(Role))
    if lowered.languages:
        _refuse_unknown("language", lowered.languages, _distinct(catalog, "SELECT DISTINCT language FROM content"))
    if lowered.kinds:
        indexed = _distinct(catalog, "SELECT DISTINCT node_type FROM chunk")
        if not indexed >= set(lowered.kinds):
            _refuse_unknown("kind", lowered.kinds, {*indexed, *get_args(SymbolKind)})
    return lowered


def _distinct(catalog: Catalog, sql: str) -> set[str]:
    return {row[0] for row in catalog.rows(sql) if row[0]}


def _refuse_unknown(what: str, values: Iterable[str], known: Collection[str]) -> None:
    for value in values:
        if value not in known:
            raise UsageError(
                f"no {what} {value!r} is indexed; known: {', '.join(sorted(known)) or 'none'}", code=f"unknown_{what}"
            )
