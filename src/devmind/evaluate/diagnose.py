"""A trace of a search, the code that was expected and what the store knows of it → where it was lost, and what helps.

The stages are gone through in the order of a search, and the first that explains the loss is the cause:

============ ======================================================================================================
not_indexed  the file is not in the index
stale        the index holds other lines than the ones that were meant
diversity    good enough, but the same text is a hit already, or its file had its share
vocabulary   the query and the chunk share next to no telling word
split        the telling words lie in several chunks, none of which holds most of them
no_leg       no leg gave it (low recall)
fusion       a leg gave it, and the features of others weighed more (low rank)
============ ======================================================================================================

Features count by what each adds to the score, whatever features there are. Nothing here does I/O.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from devmind.render.figures import percent
from devmind.retrieve.rank import Ranking
from devmind.retrieve.trace import DENSE, LEXICAL, Trace
from devmind.types import Hit

Cause = Literal["not_indexed", "stale", "diversity", "vocabulary", "split", "no_leg", "fusion"]
Kind = Literal["found", "low_recall", "low_rank"]
Lines = tuple[int, int]

DIVERSITY: Final = "nth_of_file"  # a feature that is no evidence: it holds back what is good enough
# Of 445 labelled spans in flask, requests and pytest (2026-11-30), the best chunk has less than this share of the
# query's telling words for .5 % of those that were found, 10 % of lost candidates, 47 % of those that no leg gave, and
# for 85 % of chunks drawn at random: below it, the words say no more than those of any chunk.
VOCABULARY_SHARE: Final = 0.1
# Of the spans in several chunks there, the chunks together have this many times the share of the best one for less
# than 5 % of those that were found.
SPLIT_GAIN: Final = 1.5
MIN_COST: Final = 0.005  # of a feature, in units of the score: less is not worth a line

LEVERS: Final[Mapping[Cause, str]] = {
    "not_indexed": "indexing",
    "stale": "syncing",
    "diversity": "diversity rules",
    "vocabulary": "query expansion",
    "split": "chunking",
    "no_leg": "embedder",
    "fusion": "reranker",
}
GRAPH: Final = "graph"


@dataclass(frozen=True, slots=True)
class Expected:
    """The code that should have been found: any of ``spans`` of a file, all of it if there are none."""

    repo: str
    path: str
    spans: tuple[Lines, ...] = ()
    symbol: str = ""

    def held_by(self, first: int, last: int) -> bool:
        """Return whether ``first..last`` of the file shares a line with it."""
        return not self.spans or any(first <= end and start <= last for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The best hit that uses the expected code (``uses``), or whose definition the expected code uses (``used by``)."""

    rank: int
    relation: Literal["uses", "used by"]
    name: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What the store, the disk and the labels say of the expected code.

    Attributes:
        missing: why the file is not in the index, as a sentence; empty if it is.
        missing_code: the reason of the skip, ``absent``, ``new`` (on disk only) or ``no_repository``.
        stale: in which way the index holds other lines than those meant, as a sentence; empty if it does not.
        terms: of each chunk that holds some of the expected code, by row.
    """

    missing: str = ""
    missing_code: str = ""
    stale: str = ""
    terms: Mapping[int, Collection[str]] | None = None
    neighbour: Neighbour | None = None


@dataclass(frozen=True, slots=True)
class LegRank:
    """Where a leg ranks the expected chunk among all it can rank (None: nowhere), and how many it hands on."""

    leg: str
    rank: int | None
    score: float | None
    n_taken: int
    taken: bool


@dataclass(frozen=True, slots=True)
class Cost:
    """A feature of the expected chunk and of the last hit, and by how much it held the chunk back in the score."""

    feature: str
    expected: float
    last_hit: float
    cost: float


@dataclass(frozen=True, slots=True)
class Words:
    """The telling words of the query, most telling first: those that the expected chunk has, and those it lacks.

    ``share`` is the part of their weight that it has.
    """

    shared: tuple[str, ...]
    lacking: tuple[str, ...]
    share: float


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What became of the expected code in one search.

    Attributes:
        rank: of the first hit that holds some of it.
        cause: None when it was found; ``code`` says more within the cause (reason of a skip, ``duplicate``, …).
        lines: of the chunk that came furthest; ``n_chunks`` hold some of the expected code.
        place: of that chunk among ``n_candidates``.
        costs: most costly feature first, those that cost nothing left out; empty unless it was a candidate.
    """

    kind: Kind
    rank: int | None = None
    cause: Cause | None = None
    code: str = ""
    reason: str = ""
    lever: str = ""
    lines: Lines | None = None
    n_chunks: int = 0
    place: int | None = None
    n_candidates: int = 0
    legs: tuple[LegRank, ...] = ()
    words: Words | None = None
    costs: tuple[Cost, ...] = ()
    neighbour: Neighbour | None = None


def found_at(hits: Sequence[Hit], expected: Expected) -> int | None:
    """Return the rank of the first hit that shares a line with the expected code."""
    for hit in hits:
        if (hit.repo, hit.path) == (expected.repo, expected.path) and expected.held_by(hit.start_line, hit.end_line):
            return hit.rank
    return None


def expected_rows(trace: Trace, expected: Expected) -> list[int]:
    """Return the rows of the chunks that hold some of the expected code, in the order of their lines."""
    view = trace.view
    files = [
        at
        for at, file in enumerate(view.files)
        if file.path == expected.path and trace.repos.get(file.repo_id) == expected.repo
    ]
    rows = np.flatnonzero(np.isin(view.file, files))
    found = [int(row) for row in rows if expected.held_by(int(view.start[row]), int(view.end[row]))]
    return sorted(found, key=lambda row: int(view.start[row]))


def diagnose(trace: Trace, expected: Expected, *, facts: Facts) -> Diagnosis:
    """Return what became of the expected code. ``trace`` needs its legs unless the code was found."""
    rank = found_at(trace.hits, expected)
    if rank is not None:
        return Diagnosis("found", rank)
    if facts.missing:
        return Diagnosis(
            "low_recall", None, "not_indexed", facts.missing_code, facts.missing, lever=LEVERS["not_indexed"]
        )
    rows = expected_rows(trace, expected)
    if facts.stale or not rows:
        reason = facts.stale or f"no indexed chunk of {expected.path} holds lines that were meant"
        return Diagnosis("low_recall", None, "stale", "", reason, lever=LEVERS["stale"])
    return _lost(trace, expected, facts=facts, rows=rows)


def _lost(trace: Trace, expected: Expected, *, facts: Facts, rows: Sequence[int]) -> Diagnosis:
    """Return where code that is in the index was lost."""
    at_by_row = {int(row): at for at, row in enumerate(trace.ranking.rows)}
    places = sorted(at_by_row[row] for row in rows if row in at_by_row)
    held_back = next((at for at in places if trace.fates[at].what != "beyond_k"), None)
    at = held_back if held_back is not None else next(iter(places), None)
    row = int(trace.ranking.rows[at]) if at is not None else _nearest(trace, rows)
    terms = facts.terms or {}
    words = _words(trace, terms.get(row, ()))
    legs = tuple(_leg_rank(trace, name, row) for name in trace.legs)
    costs = _costs(trace, at) if at is not None else ()
    cause, code, reason = _cause(trace, expected, terms=terms, rows=rows, at=at, legs=legs, costs=costs)
    return Diagnosis(
        kind="low_recall" if at is None else "low_rank",
        cause=cause,
        code=code,
        reason=reason,
        lever=GRAPH if facts.neighbour and cause in ("vocabulary", "no_leg") else LEVERS[cause],
        lines=(int(trace.view.start[row]), int(trace.view.end[row])),
        n_chunks=len(rows),
        place=None if at is None else at + 1,
        n_candidates=len(trace.ranking.rows),
        legs=legs,
        words=words,
        costs=costs,
        neighbour=facts.neighbour,
    )


def _cause(
    trace: Trace,
    expected: Expected,
    *,
    terms: Mapping[int, Collection[str]],
    rows: Sequence[int],
    at: int | None,
    legs: Sequence[LegRank],
    costs: Sequence[Cost],
) -> tuple[Cause, str, str]:
    """Return the cause, a code within it, and the reason as a sentence."""
    if at is not None:
        cut = _held_back(trace, at)
        if cut:
            return cut
    best = max((_words(trace, terms.get(row, ())).share for row in rows), default=0.0)
    if best < VOCABULARY_SHARE:
        return "vocabulary", "", "the query and the code share next to no telling word"
    if expected.spans and len(rows) > 1 and not _whole_in_one(trace, expected, rows):
        together = _words(trace, {term for row in rows for term in terms.get(row, ())}).share
        if together >= SPLIT_GAIN * best:
            share = f"{percent(together)} of the query's telling words, the best alone {percent(best)}"
            return "split", "", f"the {len(rows)} chunks that hold it have together {share}"
    if at is None:
        return "no_leg", "", _no_leg(legs)
    named = [cost.feature for cost in costs]
    most = next((name for name in named if name != DIVERSITY), named[0] if named else "")  # that alone did not do it
    place = f"it is candidate {at + 1} of {len(trace.ranking.rows)}"
    return "fusion", most, place + (f"; {most} cost most" if most else "")


def _held_back(trace: Trace, at: int) -> tuple[Cause, str, str] | None:
    """Return the rule that kept out a candidate which was good enough; None if it was not."""
    fate = trace.fates[at]
    if fate.what == "duplicate":
        return "diversity", "duplicate", f"hit {fate.hit} is the same text at another place"
    if fate.what == "over_file_limit":
        return "diversity", "file_limit", "its file has as many hits as one file may have"
    place = _place_without(trace.ranking, at, DIVERSITY)
    if place <= len(trace.hits) <= at:
        return "diversity", DIVERSITY, f"it is candidate {at + 1}, and would be {place} without the feature {DIVERSITY}"
    return None


def _place_without(ranking: Ranking, at: int, feature: str) -> int:
    """Return the place (from 1) that a candidate would have if no candidate had this feature."""
    scores = ranking.scores.astype(np.float64) - ranking.parts()[feature]
    return int((scores > scores[at]).sum()) + 1


def _nearest(trace: Trace, rows: Sequence[int]) -> int:
    """Return the row that came nearest to being a candidate of some leg."""

    def distance(row: int) -> float:
        ranks = [(leg.rank_of(row), max(1, len(leg.taken))) for leg in trace.legs.values()]
        return min((rank / taken for rank, taken in ranks if rank is not None), default=float("inf"))

    return min(rows, key=lambda row: (distance(row), row))


def _leg_rank(trace: Trace, name: str, row: int) -> LegRank:
    leg = trace.legs[name]
    rank = leg.rank_of(row)
    score = None if rank is None else round(float(leg.scores[rank - 1]), 4)
    return LegRank(name, rank, score, len(leg.taken), bool((leg.taken == row).any()))


def _no_leg(legs: Sequence[LegRank]) -> str:
    # That a chunk is not asked for by its name or place explains nothing.
    told = (_told(leg) for leg in legs if leg.leg in (LEXICAL, DENSE))
    return "; ".join(told) or "no leg gave it"


def _told(leg: LegRank) -> str:
    name = "BM25" if leg.leg == LEXICAL else "the vector leg"
    return f"{name} ranks it {leg.rank:,} and gives {leg.n_taken:,}" if leg.rank else f"{name} does not find it"


def _costs(trace: Trace, at: int) -> tuple[Cost, ...]:
    """Return what held the candidate back, compared with the last hit."""
    ranking = trace.ranking
    last = next((i for i, fate in enumerate(trace.fates) if fate == ("kept", len(trace.hits))), None)
    if last is None:
        return ()
    found = [
        Cost(
            name,
            round(float(ranking.features[name][at]), 4),
            round(float(ranking.features[name][last]), 4),
            round(float(part[last] - part[at]), 4),
        )
        for name, part in ranking.parts().items()
    ]
    return tuple(sorted((cost for cost in found if cost.cost > MIN_COST), key=lambda cost: (-cost.cost, cost.feature)))


def _words(trace: Trace, held: Collection[str]) -> Words:
    """Return which things asked for the terms ``held`` have; Chinese that no glossary knows counts as itself."""
    query = trace.query
    held = set(held)
    asked = [(group, weight) for group, weight in query.groups if group & query.weights.keys()]  # a long text is cut
    named = {term for group, _ in asked for term in group}
    groups = asked or [(frozenset([term]), trace.idf.get(term, 1.0) * weight) for term, weight in query.weights.items()]
    own = [term for term in query.weights if term not in named]
    ordered = sorted(groups, key=lambda group: (-group[1], sorted(group[0])))
    shared = [group for group in ordered if group[0] & held]
    total = sum(weight for _, weight in groups)
    share = sum(weight for _, weight in shared) / total if total else 0.0
    in_own_script = sum(term in held for term in own) / len(own) if own else 0.0
    return Words(
        shared=tuple(_label(group) for group, _ in shared) + tuple(term for term in own if term in held and named),
        lacking=tuple(_label(group) for group, _ in ordered if not group & held),
        share=round(max(share, in_own_script), 4),
    )


def _label(group: Collection[str]) -> str:
    return "/".join(sorted(group))


def _whole_in_one(trace: Trace, expected: Expected, rows: Sequence[int]) -> bool:
    """Return whether some chunk holds one of the expected spans whole."""
    held = [(int(trace.view.start[row]), int(trace.view.end[row])) for row in rows]
    return any(first <= start and end <= last for first, last in held for start, end in expected.spans)
