"""A search result → an answer: from the relations when the question asks who calls a name, else from the hits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from devmind.answer.callers import compose_callers, no_calls
from devmind.answer.extractive import Sources, compose
from devmind.index.catalog import ALIVE, Catalog
from devmind.retrieve.intent import asked_name
from devmind.service.relations import edges, symbols
from devmind.types import NO_FILTERS, Answer, Filters, SearchResult

MAX_CALLS_READ = 1000  # of a name, for an answer that shows a few


def answered(catalog: Catalog, sources: Sources, found: SearchResult, filters: Filters) -> Answer:
    """Answer from the focus of the hits of ``found``; who calls a name is answered from the relations, if they know it.

    Relations are those of the active generations: once these have moved, the hits alone answer.
    """
    found = replace(found, hits=tuple(hit.focused() for hit in found.hits))
    name = asked_name(found.query)
    if not name or replace(filters, repos=()) != NO_FILTERS or not _is_active(catalog, found):
        return compose(found.query, found, sources)
    calls = _calls(catalog, name, found)
    answer = compose_callers(found.query, name, calls, result=found, commits=_commits(catalog), sources=sources)
    if answer is not None:
        return answer
    is_defined = any(symbols(catalog, name, repo=repo, limit=1) for repo in found.generations)
    return compose(found.query, found, sources, lead=no_calls(found.query, name) if is_defined else "")


def _is_active(catalog: Catalog, found: SearchResult) -> bool:
    active = {(one.name, one.generation) for one in catalog.active().values()}
    return active >= set(found.generations.items())


def _commits(catalog: Catalog) -> dict[str, str]:
    return {one.name: one.commit for one in catalog.active().values()}


def _calls(catalog: Catalog, name: str, found: SearchResult) -> list[dict[str, Any]]:
    """Return the calls of ``name`` in the repositories that were searched, each with the role of its file."""
    calls = [
        edge
        for repo in sorted(found.generations)
        for edge in edges(catalog, "callers", name, repo=repo, limit=MAX_CALLS_READ)
    ]
    role_by_place = {at: _role(catalog, *at) for at in {(edge["repo"], edge["path"]) for edge in calls}}
    return [{**edge, "role": role_by_place[edge["repo"], edge["path"]]} for edge in calls]


def _role(catalog: Catalog, repo: str, path: str) -> str:
    rows = catalog.rows(
        f"""SELECT p.role FROM repository r JOIN place p ON p.repo_id = r.repo_id AND p.path = ?
        JOIN alive a ON a.place_id = p.place_id AND {ALIVE} WHERE r.name = ?""",
        (path, repo),
    )
    return rows[0][0] if rows else ""
