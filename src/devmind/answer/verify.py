"""Citations → citations that resolve in the indexed bytes of the cited generation.

A citation is kept when its path exists, its lines lie in the file and its symbol stands in or around those lines. It is
re-anchored to the symbol's own span when only the lines are wrong, and removed otherwise. Nothing here trusts a writer:
drafts of our own composer and free text of a language model pass through the same check.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from devmind.types import Citation


class Lines(Protocol):
    """What the index holds at a generation; implemented by the read path's store."""

    def lines(self, repo: str, path: str, generation: int) -> list[str] | None: ...

    def symbol_span(self, repo: str, path: str, generation: int, symbol: str) -> tuple[int, int] | None: ...


@dataclass(frozen=True, slots=True)
class View:
    """The published state of one repository that an answer may cite."""

    generation: int
    commit: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one citation. ``resolved`` is None when it was removed; ``problem`` says what was wrong."""

    cited: Citation
    resolved: Citation | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Mention:
    """A citation written inside free text. ``start``/``end`` are offsets in the text; lines are 0 when not given."""

    start: int
    end: int
    path: str
    symbol: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class CheckedText:
    """Free text whose mentions all resolve. ``n_removed`` counts those that did not and were cut out."""

    text: str
    citations: tuple[Citation, ...]
    n_removed: int


MENTION = re.compile(
    r"""
    (?<![\w/:.@`-]) (?P<tick>`?)
    (?P<path> (?:[\w.@+-]+/)* [\w.@+-]*\.\w+ | (?:[\w.@+-]+/)+ [\w.@+-]+ | Makefile | Dockerfile ) :
    (?: L?(?P<first>\d+) (?: [-–] L?(?P<last>\d+) )? (?![\w]) | (?P<symbol> [^\W\d][\w.:$~\#]* | [$~][\w.:$~\#]* ) )
    (?P=tick)
    (?: \s* [(（] L(?P<from>\d+) (?: [-–] L?(?P<to>\d+) )? [)）] )?
    """,
    re.VERBOSE,
)
SEPARATORS = re.compile(r"[.#/\s]|::|->")


def format_citation(citation: Citation) -> str:
    """Return ``path:symbol (L3-L9)``, or ``path:L3-L9`` for lines that belong to no symbol."""
    span = f"L{citation.start_line}-L{citation.end_line}"
    if citation.symbol:
        return f"{citation.path}:{citation.symbol} ({span})"
    return f"{citation.path}:{span}"


def verify(citations: Iterable[Citation], *, generations: Mapping[str, int], sources: Lines) -> tuple[Verdict, ...]:
    """Check each citation against the indexed lines; the verdicts keep the order of ``citations``.

    Args:
        generations: the generation of each repository that the answer was made from.
    """
    return tuple(_check(citation, generations=generations, sources=sources) for citation in citations)


def _check(citation: Citation, *, generations: Mapping[str, int], sources: Lines) -> Verdict:
    generation = generations.get(citation.repo)
    if generation is None:
        return Verdict(citation, None, f"repository {citation.repo!r} was not searched")
    lines = sources.lines(citation.repo, citation.path, generation)
    if lines is None:
        return Verdict(citation, None, f"{citation.path!r} is not indexed in generation {generation}")
    in_range = 1 <= citation.start_line <= citation.end_line <= len(lines)
    if in_range and (not citation.symbol or _stands_in(citation.symbol, lines, citation)):
        return Verdict(citation, replace(citation, verified=True))
    span = sources.symbol_span(citation.repo, citation.path, generation, citation.symbol) if citation.symbol else None
    if span is None or not 1 <= span[0] <= span[1] <= len(lines):
        lost = f"no symbol {citation.symbol!r} there" if in_range else f"the file has {len(lines)} lines"
        return Verdict(citation, None, f"{format_citation(citation)}: {lost}")
    if in_range and span[0] <= citation.start_line and citation.end_line <= span[1]:
        return Verdict(citation, replace(citation, verified=True))
    anchored = replace(citation, start_line=span[0], end_line=span[1], verified=True)
    return Verdict(citation, anchored, "re-anchored to the symbol's definition")


def _stands_in(symbol: str, lines: list[str], citation: Citation) -> bool:
    text = "\n".join(lines[citation.start_line - 1 : citation.end_line])
    last = [part for part in SEPARATORS.split(symbol) if part][-1:] or [symbol]
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in (symbol, last[0]))


def find_mentions(text: str) -> tuple[Mention, ...]:
    """Return what looks like ``path:symbol``, ``path:12-20`` or ``path:symbol (L12-L20)``, in order of appearance."""
    found = []
    for match in MENTION.finditer(text):
        symbol = match["symbol"] or ""
        end = match.end()
        if symbol and not match["from"]:  # a full stop or colon that closes the sentence is no part of the name
            trimmed = symbol.rstrip(".:#")
            end -= 0 if match["tick"] else len(symbol) - len(trimmed)
            symbol = trimmed
        first = int(match["first"] or match["from"] or 0)
        last = int(match["last"] or match["to"] or first)
        found.append(Mention(match.start(), end, match["path"], symbol, first, last))
    return tuple(found)


def verify_text(text: str, *, views: Mapping[str, View], sources: Lines) -> CheckedText:
    """Rewrite ``text`` so that every mention resolves: confirmed ones in the standard form, others cut out.

    A colon between words that name no indexed file and have no file extension (``and/or:not``) is left alone.
    """
    pieces: list[str] = []
    citations: dict[Citation, None] = {}
    n_removed = position = 0
    for mention in find_mentions(text):
        prefix, citation = _resolve(mention, views=views, sources=sources)
        if citation is None and "." not in mention.path.rsplit("/", 1)[-1]:
            continue
        pieces += [text[position : mention.start], prefix]
        position = mention.end
        if citation is None:
            n_removed += 1
        else:
            citations[citation] = None
            pieces.append(format_citation(citation))
    pieces.append(text[position:])
    joined = "".join(pieces)
    if n_removed:
        joined = re.sub(r"[(（\[]\s*[)）\]]", "", joined)
        joined = re.sub(r"(?<=\S) +(?=[ .,;，。；])", "", joined)
    return CheckedText(joined, tuple(citations), n_removed)


def _resolve(mention: Mention, *, views: Mapping[str, View], sources: Lines) -> tuple[str, Citation | None]:
    """Return the words glued before the path (Chinese text has no spaces) and the citation."""
    glued = re.match(r"[^\x00-\x7f]*", mention.path)
    cut = glued.end() if glued else 0
    for prefix, path in dict.fromkeys((("", mention.path), (mention.path[:cut], mention.path[cut:]))):
        for repo in sorted(views):
            for local in dict.fromkeys((path, path.removeprefix(f"{repo}/"))):
                citation = _locate(mention, repo=repo, path=local, view=views[repo], sources=sources)
                if citation is not None:
                    return prefix, citation
    return "", None


def _locate(mention: Mention, *, repo: str, path: str, view: View, sources: Lines) -> Citation | None:
    if not path or sources.lines(repo, path, view.generation) is None:
        return None
    draft = Citation(repo, path, mention.symbol, mention.start_line, mention.end_line, view.commit, verified=False)
    return _check(draft, generations={repo: view.generation}, sources=sources).resolved
