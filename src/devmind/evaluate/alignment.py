"""Hits × truths → which truths each hit found, and how many lines both share.

A rule of matching says when a hit finds a truth. Finding is many-to-many set cover: one hit may find several truths,
and a hit that finds only what an earlier one found keeps its rank but gains nothing. Nothing here reads text or scores.

========== =========================================================================================================
overlap    hit and truth share a line
contain    the hit holds the whole truth
nested     one of the two holds the other
iouNN      shared lines over all lines of both ≥ NN/100, as in ``iou50``
core       the hit shares a line with the truth's core; with the truth, where it has none
function   the hit holds the whole truth; only truths that name a symbol count
path       overlap, and a truth that is a whole file is found by any hit in that file
========== =========================================================================================================

Under every rule but ``path`` a truth that is a whole file has no lines to match and is left out. A hit that is a whole
file holds every line of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from devmind.errors import UsageError
from devmind.evaluate.types import GAIN, Span, Truth

WHOLE_END = 10**9  # stands for the unknown last line of a whole file; no file has as many lines

LineTest = Callable[[int, int, int, int], bool]  # first and last line of the hit, then of the truth


@dataclass(frozen=True, slots=True)
class MatchRule:
    """When a hit finds a truth in the same file, and which truths the rule is defined for."""

    name: str
    test: LineTest
    uses_core: bool = False
    needs_symbol: bool = False
    takes_whole_files: bool = False

    def applies_to(self, truth: Truth) -> bool:
        if truth.span.whole_file:
            return self.takes_whole_files
        return bool(truth.symbol) or not self.needs_symbol


@dataclass(frozen=True, slots=True)
class Cover:
    """What each hit found, by rank. Truths are numbered as they stand in ``truths``.

    ``matched[r]``: the hit of rank r + 1 finds some truth. ``new[r]``: the truths that it is the first to find.
    """

    truths: tuple[Truth, ...]
    matched: tuple[bool, ...]
    new: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class LineCounts:
    """Distinct lines of hits, of truths, and of both. ``n_hit`` is None when a whole file of unknown length is hit."""

    n_hit: int | None
    n_truth: int
    n_shared: int


def normal_path(path: str) -> str:
    """Return ``path`` with ``/`` between its parts and without a leading ``./`` or ``/``."""
    path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path.lstrip("/")


def lines_of(span: Span) -> tuple[int, int]:
    return (1, WHOLE_END) if span.whole_file else (span.start_line, span.end_line)


def iou(first: Span, second: Span) -> float:
    """Return the lines that both spans hold over the lines that either holds (Jaccard); 0 in different files."""
    if normal_path(first.file) != normal_path(second.file):
        return 0.0
    (a, b), (c, d) = lines_of(first), lines_of(second)
    shared = max(0, min(b, d) - max(a, c) + 1)
    return shared / ((b - a + 1) + (d - c + 1) - shared)


def match_rule(name: str) -> MatchRule:
    """Return the rule of that name.

    Raises:
        UsageError: no rule has that name.
    """
    if name in _RULES:
        return _RULES[name]
    percent = re.fullmatch(r"iou([1-9]\d?|100)", name)
    if percent is None:
        raise UsageError(f"match rule {name!r} does not exist: use {', '.join(_RULES)}, or iou1 to iou100")
    return MatchRule(name, _iou_test(int(percent[1])))


def distinct(truths: Iterable[Truth], rule: MatchRule) -> tuple[Truth, ...]:
    """Return the truths that ``rule`` is defined for, in order; of several with one span, the one of highest grade."""
    by_span: dict[tuple[str, int, int], Truth] = {}
    for truth in truths:
        if rule.applies_to(truth):
            key = (normal_path(truth.span.file), truth.span.start_line, truth.span.end_line)
            known = by_span.get(key)
            if known is None or GAIN[truth.grade] > GAIN[known.grade]:
                by_span[key] = truth
    return tuple(by_span.values())


def cover(hits: Sequence[Span | None], truths: Iterable[Truth], rule: MatchRule) -> Cover:
    """Return what each hit found. A hit without a span (text that could not be aligned) finds nothing."""
    kept = distinct(truths, rule)
    targets: dict[str, list[tuple[int, int, int]]] = {}
    for i, truth in enumerate(kept):
        start, end = truth.core if rule.uses_core and truth.core else lines_of(truth.span)
        targets.setdefault(normal_path(truth.span.file), []).append((start, end, i))
    found: set[int] = set()
    matched: list[bool] = []
    new: list[tuple[int, ...]] = []
    for hit in hits:
        here = () if hit is None else _found_by(hit, targets.get(normal_path(hit.file), ()), rule.test)
        fresh = tuple(i for i in here if i not in found)
        found.update(fresh)
        matched.append(bool(here))
        new.append(fresh)
    return Cover(kept, tuple(matched), tuple(new))


def file_cover(hits: Sequence[Span | None], truths: Iterable[Truth]) -> Cover:
    """Return the same for files: hits and truths are reduced to distinct files, in order of first appearance.

    A file's truth has the highest grade of the truths in it. A hit without a span keeps a rank of its own.
    """
    best: dict[str, Truth] = {}
    for truth in truths:
        file = normal_path(truth.span.file)
        if file not in best or GAIN[truth.grade] > GAIN[best[file].grade]:
            best[file] = Truth(Span(file), truth.grade)
    ranked: dict[str | int, None] = dict.fromkeys(
        rank if hit is None else normal_path(hit.file) for rank, hit in enumerate(hits)
    )
    index = {file: i for i, file in enumerate(best)}
    new = tuple((index[file],) if isinstance(file, str) and file in index else () for file in ranked)
    return Cover(tuple(best.values()), tuple(map(bool, new)), new)


def count_lines(hits: Iterable[Span | None], truths: Iterable[Truth]) -> LineCounts:
    """Count the distinct lines of ``hits``, of ``truths`` (whole files left out) and of both."""
    hit = _union(span for span in hits if span is not None)
    truth = _union(t.span for t in truths if not t.span.whole_file)
    n_hit = _size(hit)
    shared = sum(_shared(lines, hit.get(file, ())) for file, lines in truth.items())
    return LineCounts(n_hit if n_hit < WHOLE_END else None, _size(truth), shared)


def _found_by(hit: Span, targets: Sequence[tuple[int, int, int]], test: LineTest) -> tuple[int, ...]:
    first, last = lines_of(hit)
    return tuple(i for start, end, i in targets if test(first, last, start, end))


def _union(spans: Iterable[Span]) -> dict[str, list[tuple[int, int]]]:
    """Return disjoint (start, end) by file, in order."""
    by_file: dict[str, list[tuple[int, int]]] = {}
    for span in spans:
        by_file.setdefault(normal_path(span.file), []).append(lines_of(span))
    for file, ranges in by_file.items():
        merged: list[tuple[int, int]] = []
        for start, end in sorted(ranges):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        by_file[file] = merged
    return by_file


def _size(union: dict[str, list[tuple[int, int]]]) -> int:
    return sum(end - start + 1 for ranges in union.values() for start, end in ranges)


def _shared(first: Sequence[tuple[int, int]], second: Sequence[tuple[int, int]]) -> int:
    return sum(max(0, min(b, d) - max(a, c) + 1) for a, b in first for c, d in second)


def _overlap(first: int, last: int, start: int, end: int) -> bool:
    return first <= end and start <= last


def _contain(first: int, last: int, start: int, end: int) -> bool:
    return first <= start and end <= last


def _nested(first: int, last: int, start: int, end: int) -> bool:
    return _contain(first, last, start, end) or _contain(start, end, first, last)


def _iou_test(percent: int) -> LineTest:
    def test(first: int, last: int, start: int, end: int) -> bool:
        shared = min(last, end) - max(first, start) + 1
        if shared <= 0:
            return False
        either = (last - first + 1) + (end - start + 1) - shared
        return shared * 100 >= percent * either  # whole numbers: exactly at the threshold counts

    return test


_RULES = {
    "overlap": MatchRule("overlap", _overlap),
    "contain": MatchRule("contain", _contain),
    "nested": MatchRule("nested", _nested),
    "core": MatchRule("core", _overlap, uses_core=True),
    "function": MatchRule("function", _contain, needs_symbol=True),
    "path": MatchRule("path", _overlap, takes_whole_files=True),
}
