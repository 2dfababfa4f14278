"""Text without line numbers → the lines of the commit that it came from; labels → the same code after it moved.

Three ways, in this order: the text stands there word for word; it does when whitespace is taken out; or some lines are
nearly like it. Text that none of them finds stays without a span, and its share is reported: a system must not score
well, nor badly, because its text could not be placed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import islice
from typing import Literal

from devmind.errors import UsageError
from devmind.evaluate.alignment import normal_path
from devmind.evaluate.haystack import Haystack
from devmind.evaluate.types import Response, Retrieved, Span, Truth
from devmind.types import split_lines

Method = Literal["exact", "whitespace", "fuzzy"]

# Of 240 functions of Flask, pytest and Django that a later version changed (2026-11-30), 209 are found where they now
# are and 10 elsewhere at .7; 213 and 13 at .6; 200 and 8 at .8. Of 275 functions whose name is gone, 53 are found at
# .7, 82 at .6, 34 at .8; the nearest of those are the same code under a new name.
MIN_SIMILARITY = 0.7
# Shorter pieces (`}`, `return None`) stand in many places and say nothing of where they came from.
MIN_CHARS = 16
_MAX_PLACES = 100  # places of one piece that are looked at; a licence header may stand in thousands


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a text stands. ``n_places``: how often it stands in the files in just this way; the span is the first."""

    span: Span
    method: Method
    similarity: float
    n_places: int


@dataclass(frozen=True, slots=True)
class Aligned:
    """A response whose hits have lines where they could be found.

    ``n_by_method``: hits by how they got their lines: ``given``, ``exact``, ``whitespace``, ``fuzzy``, ``unmapped``.
    """

    response: Response
    n_by_method: Mapping[str, int]

    @property
    def unmapped_share(self) -> float | None:
        return unmapped_share(self.n_by_method)


@dataclass(frozen=True, slots=True)
class Reanchored:
    """A truth with its span in the new files. ``moved``: the span or the file changed."""

    truth: Truth
    method: Method
    similarity: float
    moved: bool


def locate(piece: str, haystack: Haystack, *, file: str = "", min_similarity: float = MIN_SIMILARITY) -> Anchor | None:
    """Return where ``piece`` stands in the files, or None.

    Args:
        file: search this file only; a file that does not exist there holds nothing.
        min_similarity: what a near match must reach, 0 to 1 (`haystack.Near`).
    """
    if file and file not in haystack:
        return None
    for method, places in _places(piece, haystack, file):
        found = list(islice(places, _MAX_PLACES))
        if found and (len(found) == 1 or not _too_short(piece)):
            return Anchor(found[0], method, 1.0, len(found))
    if _too_short(piece):
        return None
    near = haystack.near(piece, file=file)
    if near is None or near.similarity < min_similarity:
        return None
    return Anchor(near.span, "fuzzy", near.similarity, 1)


def align(response: Response, haystack: Haystack, *, min_similarity: float = MIN_SIMILARITY) -> Aligned:
    """Give lines to the hits that have text but no lines, from the files of the commit that was indexed.

    A hit that names its file is searched there alone, and keeps the whole file if its text is not found: scoring then
    knows the file and no lines. A whole file without text stays as it is.
    """
    counts: Counter[str] = Counter()
    hits = []
    for hit in response.hits:
        placed, method = _placed(hit, haystack, min_similarity)
        hits.append(placed)
        counts[method] += 1
    return Aligned(replace(response, hits=tuple(hits)), dict(counts))


def unmapped_share(n_by_method: Mapping[str, int]) -> float | None:
    """Return the share of hits whose lines are not known; None without hits. Counts of responses may be added up."""
    total = sum(n_by_method.values())
    return n_by_method.get("unmapped", 0) / total if total else None


def unchanged(truth: Truth, haystack: Haystack) -> bool:
    """Return whether the truth's lines still hold the text that was labelled; without text, whether the file exists."""
    span = truth.span
    if span.whole_file or not truth.text or span.file not in haystack:
        return span.file in haystack
    return haystack.lines(span.file)[span.start_line - 1 : span.end_line] == split_lines(truth.text)


def reanchor(
    truth: Truth, haystack: Haystack, *, labelled: str = "", min_similarity: float = MIN_SIMILARITY
) -> Reanchored | None:
    """Return the truth where its code now stands, or None if nothing is like it any more.

    The same text is looked for in its own file (the place nearest to the old lines), then in others; only then is a
    near match accepted, again in its own file first. The core goes along; it is dropped if its lines are gone.

    Args:
        labelled: the lines of the span as they were labelled; by default ``truth.text``.

    Raises:
        UsageError: there is no labelled text to look for.
    """
    text = labelled or truth.text
    if not text.strip() and not truth.span.whole_file:
        raise UsageError(f"truth {_named(truth.span)} has no labelled text: pass its lines at the commit of the label")
    if unchanged(replace(truth, text=text), haystack):
        return Reanchored(truth, "exact", 1.0, moved=False)
    anchor = _same_text(truth.span, text, haystack) or _like_text(truth.span, text, haystack, min_similarity)
    return placed_at(truth, text, haystack, anchor) if anchor else None


def _same_text(old: Span, text: str, haystack: Haystack) -> Anchor | None:
    for file in _own_file_first(old, haystack):
        for method, places in _places(text, haystack, file):
            found = list(islice(places, _MAX_PLACES))
            if found and (len(found) == 1 or file or not _too_short(text)):
                nearest = min(found, key=lambda span: abs(span.start_line - old.start_line))
                return Anchor(nearest, method, 1.0, len(found))
    return None


def _like_text(old: Span, text: str, haystack: Haystack, min_similarity: float) -> Anchor | None:
    for file in () if _too_short(text) else _own_file_first(old, haystack):
        near = haystack.near(text, file=file)
        if near is not None and near.similarity >= min_similarity:
            return Anchor(near.span, "fuzzy", near.similarity, 1)
    return None


def _own_file_first(old: Span, haystack: Haystack) -> tuple[str, ...]:
    return (old.file, "") if old.file in haystack else ("",)


def _places(piece: str, haystack: Haystack, file: str) -> Iterator[tuple[Method, Iterator[Span]]]:
    yield "exact", haystack.exact(piece, file=file)
    yield "whitespace", haystack.packed(piece, file=file)


def _too_short(piece: str) -> bool:
    return sum(map(len, piece.split())) < MIN_CHARS


def has_lines(hit: Retrieved) -> bool:
    """Return whether the hit's lines are known. A whole file that carries text is a piece of it that was not found."""
    return hit.span is not None and not (hit.span.whole_file and hit.text)


def _placed(hit: Retrieved, haystack: Haystack, min_similarity: float) -> tuple[Retrieved, str]:
    if has_lines(hit):
        return hit, "given"
    file = hit.span.file if hit.span is not None else ""
    anchor = locate(hit.text, haystack, file=file, min_similarity=min_similarity)
    if anchor is None:
        return hit, "unmapped"
    return replace(hit, span=anchor.span), anchor.method


def placed_at(truth: Truth, text: str, haystack: Haystack, anchor: Anchor) -> Reanchored:
    """Return the truth, whose lines were ``text``, at the place of ``anchor``; its core goes along where it can."""
    span = anchor.span
    new_text = haystack.lines(span.file)[span.start_line - 1 : span.end_line]
    core = _moved_core(truth, split_lines(text), new_text, span)
    moved = (normal_path(truth.span.file), truth.span.start_line, truth.span.end_line) != (
        span.file, span.start_line, span.end_line,
    )  # fmt: skip
    made = replace(truth, span=span, core=core, text="\n".join(new_text))
    return Reanchored(made, anchor.method, anchor.similarity, moved)


def _moved_core(truth: Truth, old: list[str], new: list[str], span: Span) -> tuple[int, int] | None:
    """Return the new lines that stand for the core's old ones, leading and trailing blanks of a line aside."""
    if truth.core is None:
        return None
    first, last = (line - truth.span.start_line for line in truth.core)
    blocks = SequenceMatcher(
        None, [line.strip() for line in old], [line.strip() for line in new], autojunk=False
    ).get_matching_blocks()
    kept = [block.b + i for block in blocks for i in range(block.size) if first <= block.a + i <= last]
    return (span.start_line + kept[0], span.start_line + kept[-1]) if kept else None


def _named(span: Span) -> str:
    return span.file if span.whole_file else f"{span.file}:{span.start_line}-{span.end_line}"
