"""A hit and a question → the one definition among the hit's lines that the question is about, and its lines.

A chunk may pack several small definitions, or end with the head of the next. An answer that named the first and cited
all of the lines would say of one definition what another one does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from devmind.answer.question import terms_of
from devmind.retrieve.definitions import parts_of
from devmind.types import Hit

# A definition in the chunk is named instead of the chunk's own when it shares more with the question: by this much at
# least, a word of the name counting 1. Chosen on 133 development questions on flask, requests and pytest (2026-11-30):
# answers that name an expected symbol 81 → 95, cited lines 14,042 → 11,697, answers that cite an expected line
# 112 → 108. A margin of 1 gives 85 (with a body weight of .25), no weight for the body 94 and one answer fewer.
MARGIN = 0.5
DOC_WEIGHT = 0.5
BODY_WEIGHT = 0.1
KINDS = """class constant enum function interface macro method object property protocol rpc service struct table target
trait type union view"""
NAMEABLE = frozenset(KINDS.split())


@dataclass(frozen=True, slots=True)
class Named:
    """A definition as an answer names it. ``start_line`` is that of its leading comment or decorator."""

    qualified_name: str
    kind: str
    start_line: int
    end_line: int
    docstring: str


class Definitions(Protocol):
    """What the index knows of the definitions in a file; implemented by the read path's store."""

    def is_defined(self, name: str, repo: str) -> bool: ...

    def named_within(self, repo: str, path: str, generation: int, *, start_line: int, end_line: int) -> list[Named]: ...


def narrow(hit: Hit, wanted: frozenset[str], sources: Definitions) -> Hit:
    """Return ``hit`` with the symbol, kind and lines of the definition that shares most with the question.

    The hit comes back as it is when it names no definition, or when the index knows none in its lines.
    """
    if not hit.symbol or (hit.kind not in NAMEABLE and hit.kind != "part"):
        return hit
    there = _joined(
        sources.named_within(hit.repo, hit.path, hit.generation, start_line=hit.start_line, end_line=hit.end_line)
    )
    own = next((named for named in there if named.qualified_name == hit.symbol), None)
    if own is None:
        return hit
    best, score = own, _shared(own, hit, wanted) + MARGIN
    for named in there:
        if named.kind in NAMEABLE and named.start_line >= hit.start_line and named.end_line <= hit.end_line:
            shared = _shared(named, hit, wanted)
            if shared > score or (best is own and shared == score):
                best, score = named, shared
    return _cut_to(hit, best, own)


def defining(hit: Hit, name: str, sources: Definitions) -> Hit | None:
    """Return ``hit`` cut to the definition of ``name`` (or ``Owner.name``); None when none begins in its lines."""
    parts = parts_of(name)
    there = _joined(
        sources.named_within(hit.repo, hit.path, hit.generation, start_line=hit.start_line, end_line=hit.end_line)
    )
    own = next((named for named in there if named.qualified_name == hit.symbol), None)
    for named in there:
        if (
            named.kind in NAMEABLE
            and named.start_line >= hit.start_line
            and parts_of(named.qualified_name)[-len(parts) :] == parts
        ):
            return _cut_to(hit, named, own)
    return None


def _joined(there: Iterable[Named]) -> list[Named]:
    """Make one of the definitions that share a name: overloads and their body, a property's getter and setter."""
    by_name: dict[str, Named] = {}
    for named in there:
        known = by_name.setdefault(named.qualified_name, named)
        by_name[named.qualified_name] = replace(
            known,
            start_line=min(known.start_line, named.start_line),
            end_line=max(known.end_line, named.end_line),
            docstring=known.docstring or named.docstring,
        )
    return list(by_name.values())


def _shared(named: Named, hit: Hit, wanted: frozenset[str]) -> float:
    of_name = terms_of(named.qualified_name) & wanted
    of_doc = (terms_of(named.docstring) & wanted) - of_name
    lines = hit.content.split("\n")[max(0, named.start_line - hit.start_line) : named.end_line - hit.start_line + 1]
    of_body = (terms_of("\n".join(lines)) & wanted) - of_name - of_doc
    return len(of_name) + DOC_WEIGHT * len(of_doc) + BODY_WEIGHT * len(of_body)


def _cut_to(hit: Hit, named: Named, own: Named | None) -> Hit:
    first, last = max(hit.start_line, named.start_line), min(hit.end_line, named.end_line)
    kind = named.kind if named != own or hit.kind == "part" else hit.kind
    if (first, last) == (hit.start_line, hit.end_line) and named == own:
        return replace(hit, kind=kind)
    content = "\n".join(hit.content.split("\n")[first - hit.start_line : last - hit.start_line + 1])
    return replace(
        hit,
        symbol=named.qualified_name,
        kind=kind,
        start_line=first,
        end_line=last,
        content=content,
        header=_header(hit.header, content, named=named, is_own=named == own),
    )


def _header(header: str, content: str, *, named: Named, is_own: bool) -> str:
    """Keep of a chunk's header what holds for the lines that are left: all but the calls made elsewhere."""
    kept = []
    own_name = re.split(r"[.#/]|::", named.qualified_name)[-1]
    for line in header.split("\n"):
        if line.strip().startswith("calls:"):
            names = [name.strip(" `…") for name in line.strip().removeprefix("calls:").split(",")]
            names = [name for name in names if name not in ("", own_name)]
            called = [name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?:\W|$)", content)]
            kept += [f"calls: {', '.join(called)}"] if called else []
        elif is_own:
            kept.append(line)
    return "\n".join(kept)
