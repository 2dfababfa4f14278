"""One search: understand → legs → candidates → rank → shape.

All reads of a search happen in one read transaction of the catalog, so every leg is judged by the same generations.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import exp
from pathlib import Path

import numpy as np
import numpy.typing as npt

from devmind.embed.types import Embedder
from devmind.errors import StoreError, UsageError
from devmind.index.catalog import ORDINAL_BITS, Catalog
from devmind.index.lexical import LexicalReader, idf
from devmind.index.snapshot import File, Floats, Snapshot
from devmind.index.snapshot_folder import load_snapshot
from devmind.index.terms import terms
from devmind.index.view import Rows, View
from devmind.retrieve.candidates import defining, words_of
from devmind.retrieve.query import Query, understand
from devmind.retrieve.rank import Ranking, rank
from devmind.types import Filters, Hit, SearchResult, split_lines, stable_id

LEG_DEPTH = 200  # candidates a leg gives; chosen by hand, deeper legs were not tried yet
CACHE_SECONDS = 600.0
CACHE_ENTRIES = 1000
MAX_PER_FILE = 2
MAX_WIDENINGS = 4
VIEWS_KEPT = 4  # of repositories searched together; the arrays of a large one take tens of megabytes
ORDINALS = (1 << ORDINAL_BITS) - 1

Active = dict[int, tuple[str, int, str]]  # repository ids to (name, active generation, commit)


@dataclass(slots=True)
class _Spot:
    """A hit in the making: its place in the ranking, its row, and the lines that its neighbours joined to it."""

    at: int
    row: int
    file: int
    name: int
    start: int
    end: int
    also: list[str] = field(default_factory=list)


class Retriever:
    """Searches one knowledge base folder. Safe to share between threads (searches run one at a time).

    Args:
        kb: the folder.
        embedder: makes the query's vector; must be the one that the index was made with.
        clock: seconds, for the cache.
        cache_seconds: how long a result may be given again; 0 searches each time.
    """

    def __init__(
        self,
        kb: Path,
        embedder: Embedder,
        *,
        clock: Callable[[], float] = time.monotonic,
        cache_seconds: float = CACHE_SECONDS,
    ) -> None:
        self.kb = kb
        self.catalog = Catalog(kb / "catalog.sqlite")
        self.embedder = embedder
        self._reader: LexicalReader | None = None
        self._snapshots: dict[tuple[int, int], Snapshot] = {}
        self._views: OrderedDict[tuple[tuple[int, int], ...], View] = OrderedDict()
        self._active: Active = {}
        self._cache: OrderedDict[tuple[object, ...], tuple[float, SearchResult]] = OrderedDict()
        self._texts: OrderedDict[int, list[str]] = OrderedDict()
        self._clock = clock
        self._cache_seconds = cache_seconds
        self._lock = threading.Lock()

    def close(self) -> None:
        self.catalog.close()

    def search(self, text: str, *, k: int = 10, filters: Filters = Filters()) -> SearchResult:  # noqa: B008
        """Return up to ``k`` hits, best first.

        Raises:
            UsageError: the query is empty, ``k`` is not positive, or a repository of the filter is unknown.
        """
        if not text.strip():
            raise UsageError("the query is empty: say what to look for", code="empty_query")
        if k < 1:
            raise UsageError(f"k is {k}: ask for at least one hit", code="bad_k")
        with self._lock:
            self.catalog.db.execute("BEGIN")
            try:
                return self._search(text, k, filters)
            except StoreError:
                self._reader = None  # it may be mended by the next search
                raise
            finally:
                self.catalog.db.execute("ROLLBACK")

    def _search(self, text: str, k: int, filters: Filters) -> SearchResult:
        started = time.perf_counter()
        active = self._take_up()
        chosen = self._chosen(active, filters)
        key = (" ".join(text.split()), k, filters, tuple(sorted((r, active[r][1]) for r in chosen)))
        known = self._cache.get(key)
        if known is not None and self._clock() - known[0] < self._cache_seconds:
            return known[1]
        query = understand(text, df=self._lexical.df, n_chunks=self._lexical.n_chunks)
        timings = {"understand": _ms(started)}
        view = self._view(chosen, active)
        ranking = self._rank(query, view, chosen, k, filters, timings)
        hits = self._shape(view, ranking, k, active)
        result = SearchResult(
            query=text,
            hits=tuple(hits),
            confidence=self._confidence(query, ranking, hits),
            generations={active[r][0]: active[r][1] for r in chosen},
            timings_ms={**timings, "total": _ms(started)},
            nearest_names=tuple(dict.fromkeys(hit.symbol for hit in hits[:8] if hit.symbol))[:5],
        )
        self._cache[key] = (self._clock(), result)
        while len(self._cache) > CACHE_ENTRIES:
            self._cache.popitem(last=False)
        return result

    # The published state ----------------------------------------------------------------------------------------

    @property
    def _lexical(self) -> LexicalReader:
        """The lexical leg, opened by the first search: all else can be asked without it."""
        if self._reader is None:
            self._reader = LexicalReader(self.kb / "lexical")
        return self._reader

    def _take_up(self) -> Active:
        """Read the active generations; when they moved, see the lexical commits that came before."""
        active = self.catalog.active()
        if active != self._active:
            if self._reader is not None:
                self._reader.refresh()
            self._snapshots = {
                at: s for at, s in self._snapshots.items() if active.get(at[0], ("", -1, ""))[1] == at[1]
            }
            self._views.clear()
            self._active = active
        return active

    def _chosen(self, active: Active, filters: Filters) -> list[int]:
        by_name = {name: repo_id for repo_id, (name, _, _) in active.items()}
        for name in filters.repos:
            if name not in by_name:
                raise self.catalog.unpublished(name)
        return sorted(by_name[name] for name in filters.repos) if filters.repos else sorted(active)

    def snapshot(self, repo_id: int, generation: int) -> Snapshot:
        at = (repo_id, generation)
        if at not in self._snapshots:
            self._snapshots[at] = load_snapshot(self.kb / "vectors", self.catalog, repo_id, generation, self.embedder)
        return self._snapshots[at]

    def _view(self, chosen: Sequence[int], active: Active) -> View:
        at = tuple((repo_id, active[repo_id][1]) for repo_id in chosen)
        if at not in self._views:
            self._views[at] = View([self.snapshot(*one) for one in at])
            while len(self._views) > VIEWS_KEPT:
                self._views.popitem(last=False)
        self._views.move_to_end(at)
        return self._views[at]

    # Legs and ranking -------------------------------------------------------------------------------------------

    def _rank(
        self, query: Query, view: View, chosen: Sequence[int], k: int, filters: Filters, timings: dict[str, float]
    ) -> Ranking:
        mark = time.perf_counter()
        allowed = _allowed(view, filters)
        vector = self.embedder.embed_queries([query.english or query.text])[0]
        near = view.nearest(vector, max(LEG_DEPTH, 4 * k) // 2, allowed)
        timings["dense"] = _ms(mark)
        mark = time.perf_counter()
        found, scores = self._lexical_leg(query, view, chosen, k, allowed)
        timings["lexical"] = _ms(mark)
        mark = time.perf_counter()
        defined, worth = self._definitions(query, view, chosen, allowed)
        timings["symbol"] = _ms(mark)
        mark = time.perf_counter()
        rows = np.unique(np.concatenate([near, found, defined]))
        lexical, defines = np.zeros((2, len(rows)), np.float32)
        lexical[np.searchsorted(rows, found)] = scores
        np.maximum.at(defines, np.searchsorted(rows, defined), worth)
        n = self._lexical.n_chunks
        rarity = {term: idf(self._lexical.df(term), n) for term in query.weights}
        dense = view.cosines(vector, rows)
        ranking = rank(query, view, rows, lexical=lexical, dense=dense, defines=defines, idf=rarity)
        timings["rank"] = _ms(mark)
        return ranking

    def _lexical_leg(
        self, query: Query, view: View, chosen: Sequence[int], k: int, allowed: npt.NDArray[np.bool_] | None
    ) -> tuple[Rows, Floats]:
        """Return the rows that BM25 finds, and their scores; it looks deeper while too few of them may be shown."""
        repo_ids = chosen if len(chosen) < len(self._active) else ()
        depth = max(LEG_DEPTH, 4 * k)
        for _ in range(MAX_WIDENINGS):
            hits = self._lexical.search(query.weights, k=depth, repo_ids=repo_ids)
            rows = view.rows_of(np.array([key for key, _ in hits], np.int64))
            keep = rows >= 0
            if allowed is not None and view.n:
                keep &= allowed[rows]
            if int(keep.sum()) >= 4 * k or len(hits) < depth:
                break
            depth *= 4
        return rows[keep], np.array([score for _, score in hits], np.float32)[keep]

    def _definitions(
        self, query: Query, view: View, chosen: Sequence[int], allowed: npt.NDArray[np.bool_] | None
    ) -> tuple[Rows, Floats]:
        """Return the rows that define a name of the query, and how well (0..1)."""
        keys: list[int] = []
        worth: list[float] = []
        for name in query.identifiers:
            defined = defining(self.catalog, name, set(chosen))
            keys += [key for key, _ in defined]
            worth += [(1.0 if same_case else 0.6) / (1 + 0.1 * len(defined)) for _, same_case in defined]
        rows = view.rows_of(np.array(keys, np.int64))
        keep = rows >= 0
        if allowed is not None and view.n:
            keep &= allowed[rows]
        return rows[keep], np.array(worth, np.float32)[keep]

    # Shape ------------------------------------------------------------------------------------------------------

    def _shape(self, view: View, ranking: Ranking, k: int, active: Active) -> list[Hit]:
        """Collapse duplicates, keep at most two chunks a file, merge what adjoins."""
        columns = (ranking.rows, *(c[ranking.rows] for c in (view.file, view.start, view.end, view.body, view.name)))
        chosen: list[_Spot] = []
        by_body: dict[int, _Spot] = {}
        by_file: dict[int, list[_Spot]] = {}
        for at, (row, file, start, end, body, name) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
            if body in by_body:
                where = view.files[file]
                by_body[body].also.append(f"{active[where.repo_id][0]}/{where.path}:{start}")
                continue
            same_file = by_file.setdefault(file, [])
            beside = [s for s in same_file if name and s.name == name and start <= s.end + 1 and end >= s.start - 1]
            if beside:
                beside[0].start, beside[0].end = min(beside[0].start, start), max(beside[0].end, end)
            elif len(chosen) < k and len(same_file) < MAX_PER_FILE:
                by_body[body] = _Spot(at, row, file, name, start, end)
                same_file.append(by_body[body])
                chosen.append(by_body[body])
        return self._hits(view, ranking, chosen, active)

    def _hits(self, view: View, ranking: Ranking, chosen: Sequence[_Spot], active: Active) -> list[Hit]:
        words = words_of(
            self.catalog, [(view.files[s.file].content_id, int(view.keys[s.row]) & ORDINALS) for s in chosen]
        )
        hits = []
        for place, (spot, told) in enumerate(zip(chosen, words, strict=True), 1):
            file = view.files[spot.file]
            name, generation, commit = active[file.repo_id]
            first, last = int(view.start[spot.row]), int(view.end[spot.row])
            hits.append(
                Hit(
                    rank=place,
                    score=round(float(ranking.scores[spot.at]), 6),
                    repo=name,
                    path=file.path,
                    start_line=spot.start,
                    end_line=spot.end,
                    language=file.language,
                    symbol=told.qualified_name,
                    kind=told.node_type,
                    role=file.role,
                    content="\n".join(self.lines_of(file.content_id)[spot.start - 1 : spot.end]),
                    header=told.header,
                    commit=commit,
                    generation=generation,
                    chunk_id=stable_id(name, file.path, first, last),
                    also_at=tuple(spot.also),
                    why=ranking.why(spot.at),
                )
            )
        return hits

    def lines_of(self, content_id: int) -> list[str]:
        """Return the lines of a content, from a small cache of texts."""
        if content_id not in self._texts:
            self._texts[content_id] = split_lines(self.catalog.text(content_id))
            while len(self._texts) > 256:
                self._texts.popitem(last=False)
        self._texts.move_to_end(content_id)
        return self._texts[content_id]

    def _confidence(self, query: Query, ranking: Ranking, hits: Sequence[Hit]) -> float:
        """Return 0..1: how much of what was asked the best hits hold, and how near their meaning is.

        The telling part of a question about something absent is a term that no good hit holds.
        """
        if not hits or not query.groups:
            return 0.0 if not hits else 0.5
        total = sum(weight for _, weight in query.groups) or 1.0
        covered = []
        everywhere: set[str] = set()
        for hit in hits[:5]:
            here = set(terms(f"{hit.path} {hit.symbol} {hit.header} {hit.content}"))
            everywhere |= here
            covered.append(sum(weight for group, weight in query.groups if group & here) / total)
        together = sum(weight for group, weight in query.groups if group & everywhere) / total
        cosine = float(ranking.features["dense"][:5].max())
        return round(1 / (1 + exp(-(4.0 * max(covered) + 3.0 * together + 3.0 * cosine - 5.0))), 4)


def _allowed(view: View, filters: Filters) -> npt.NDArray[np.bool_] | None:
    """Return which rows the filters let through; None for all."""
    if not (filters.paths or filters.languages or filters.kinds or filters.roles):
        return None
    passing = np.array([_passes(file, filters) for file in view.files], bool)
    allowed: npt.NDArray[np.bool_] = passing[view.file] if view.n else np.empty(0, bool)
    if filters.kinds and view.n:
        allowed &= np.array([kind in filters.kinds for kind in view.kinds])[view.kind]
    return allowed


def _passes(file: File, filters: Filters) -> bool:
    return (
        (not filters.languages or file.language in filters.languages)
        and (not filters.roles or file.role in filters.roles)
        and (
            not filters.paths
            or any(
                fnmatchcase(file.path, glob) or file.path.startswith(glob.rstrip("/") + "/") for glob in filters.paths
            )
        )
    )


def _ms(since: float) -> float:
    return round((time.perf_counter() - since) * 1000, 3)


__all__ = ["CACHE_SECONDS", "Retriever"]
