"""One search: understand → legs → candidates → rank → shape. A trace is the same search with all of it kept.

All reads of a search happen in one read transaction of the catalog, so every leg is judged by the same generations.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from devmind.embed.types import Embedder
from devmind.errors import StoreError, UsageError
from devmind.index.catalog import ORDINAL_BITS, Catalog
from devmind.index.lexical import LexicalReader, idf
from devmind.index.snapshot import File, Floats, Snapshot
from devmind.index.snapshot_folder import load_snapshot
from devmind.index.view import Rows, View
from devmind.retrieve.candidates import defining, words_of
from devmind.retrieve.confidence import confidence, evidence
from devmind.retrieve.features import BEST
from devmind.retrieve.query import Query, understand
from devmind.retrieve.rank import Ranking, rank
from devmind.retrieve.shape import Fate, Spot, shape
from devmind.retrieve.trace import DENSE, LEXICAL, SYMBOL, Leg, Trace
from devmind.types import Filters, Hit, SearchResult, split_lines, stable_id

LEG_DEPTH = 200  # candidates a leg gives; 300 and 600 rank no better (docs/retrieval.md)
CACHE_SECONDS = 600.0
CACHE_ENTRIES = 1000
MAX_WIDENINGS = 4
VIEWS_KEPT = 4  # of repositories searched together; the arrays of a large one take tens of megabytes
ORDINALS = (1 << ORDINAL_BITS) - 1

Active = dict[int, tuple[str, int, str]]  # repository ids to (name, active generation, commit)


@dataclass(frozen=True, slots=True)
class _Recall:
    """The candidates of each leg: rows of a view, best first, and scores where ranking needs the leg's own.

    ``scanned`` is the rough cosine of every row of the view.
    """

    vector: Floats
    scanned: Floats
    near: Rows
    found: Rows
    bm25: Floats
    defined: Rows
    worth: Floats


@dataclass(frozen=True, slots=True)
class _Found:
    """A search up to its hits, which are read from the catalog last."""

    query: Query
    view: View
    allowed: npt.NDArray[np.bool_] | None
    recall: _Recall
    idf: Mapping[str, float]
    ranking: Ranking
    spots: list[Spot]
    fates: list[Fate]


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
        with self._reading(text, k):
            return self._search(text, k, filters)

    def trace(self, text: str, *, k: int = 10, filters: Filters = Filters(), legs: bool = True) -> Trace:  # noqa: B008
        """Return what `search` does on the way to its hits, past the cache.

        Args:
            legs: rank the whole view by each leg, too.

        Raises:
            UsageError: as `search`.

        Cost: that of a search; with ``legs`` linear in the number of chunks.
        """
        with self._reading(text, k):
            active = self._take_up()
            chosen = self._chosen(active, filters)
            found = self._find(text, k, filters, chosen, {})
            return Trace(
                query=found.query,
                view=found.view,
                ranking=found.ranking,
                fates=tuple(found.fates),
                hits=tuple(self._hits(found)),
                idf=found.idf,
                repos={repo_id: active[repo_id][0] for repo_id in chosen},
                legs=self._legs(found, chosen) if legs else {},
            )

    @contextmanager
    def _reading(self, text: str, k: int) -> Iterator[None]:
        """Check the question, and hold one read transaction."""
        if not text.strip():
            raise UsageError("the query is empty: say what to look for", code="empty_query")
        if k < 1:
            raise UsageError(f"k is {k}: ask for at least one hit", code="bad_k")
        with self._lock:
            self.catalog.db.execute("BEGIN")
            try:
                yield
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
        timings: dict[str, float] = {}
        found = self._find(text, k, filters, chosen, timings)
        hits = self._hits(found)
        result = SearchResult(
            query=text,
            hits=tuple(hits),
            confidence=self._confidence(found, hits),
            generations={active[r][0]: active[r][1] for r in chosen},
            timings_ms={**timings, "total": _ms(started)},
            nearest_names=tuple(dict.fromkeys(hit.symbol for hit in hits[:8] if hit.symbol))[:5],
        )
        self._cache[key] = (self._clock(), result)
        while len(self._cache) > CACHE_ENTRIES:
            self._cache.popitem(last=False)
        return result

    def _find(self, text: str, k: int, filters: Filters, chosen: Sequence[int], timings: dict[str, float]) -> _Found:
        """Do all of a search but the reading of its hits."""
        mark = time.perf_counter()
        df = cache(self._lexical.df)  # of the same few terms, asked for many times
        query = understand(text, df=df, n_chunks=self._lexical.n_chunks)
        timings["understand"] = _ms(mark)
        view = self._view(chosen, self._active)
        allowed = _allowed(view, filters)
        recall = self._recall(query, view, chosen, k, allowed, timings)
        mark = time.perf_counter()
        rarity = {term: idf(df(term), self._lexical.n_chunks) for term in query.weights}
        ranking = _ranked(query, view, recall, rarity, allowed)
        spots, fates = shape(view, ranking, k=k)
        timings["rank"] = _ms(mark)
        return _Found(query, view, allowed, recall, rarity, ranking, spots, fates)

    def _confidence(self, found: _Found, hits: Sequence[Hit]) -> float:
        if not hits or not found.query.groups:
            return 0.5 if hits else 0.0
        rarest = idf(0, self._lexical.n_chunks)
        return confidence(evidence(found.query, hits, idf=found.idf, rarest=rarest))

    @property
    def n_chunks(self) -> int:
        """Return how many chunks the lexical leg holds."""
        return self._lexical.n_chunks

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

    def _recall(
        self,
        query: Query,
        view: View,
        chosen: Sequence[int],
        k: int,
        allowed: npt.NDArray[np.bool_] | None,
        timings: dict[str, float],
    ) -> _Recall:
        mark = time.perf_counter()
        vector = self.embedder.embed_queries([query.english or query.text])[0]
        scanned = view.scan(vector)
        near = view.nearest(vector, max(LEG_DEPTH, 4 * k) // 2, allowed, scanned=scanned)
        timings["dense"] = _ms(mark)
        mark = time.perf_counter()
        found, bm25 = self._lexical_leg(query, view, chosen, k, allowed)
        timings["lexical"] = _ms(mark)
        mark = time.perf_counter()
        defined, worth = self._definitions(query, view, chosen, allowed)
        timings["symbol"] = _ms(mark)
        return _Recall(vector, scanned, near, found, bm25, defined, worth)

    def _lexical_leg(
        self, query: Query, view: View, chosen: Sequence[int], k: int, allowed: npt.NDArray[np.bool_] | None
    ) -> tuple[Rows, Floats]:
        """Return the rows that BM25 finds, and their scores; it looks deeper while too few of them may be shown."""
        depth = max(LEG_DEPTH, 4 * k)
        for _ in range(MAX_WIDENINGS):
            rows, scores, n_hits = self._by_bm25(query, view, chosen, depth, allowed)
            if len(rows) >= 4 * k or n_hits < depth:
                break
            depth *= 4
        return rows, scores

    def _by_bm25(
        self, query: Query, view: View, chosen: Sequence[int], depth: int, allowed: npt.NDArray[np.bool_] | None
    ) -> tuple[Rows, Floats, int]:
        """Return the rows among the first ``depth`` of BM25 that may be shown, their scores, and how many it found."""
        repo_ids = chosen if len(chosen) < len(self._active) else ()
        hits = self._lexical.search(query.weights, k=depth, repo_ids=repo_ids)
        rows = view.rows_of(np.array([key for key, _ in hits], np.int64))
        keep = rows >= 0
        if allowed is not None and view.n:
            keep &= allowed[rows]
        return rows[keep], np.array([score for _, score in hits], np.float32)[keep], len(hits)

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

    def _legs(self, found: _Found, chosen: Sequence[int]) -> dict[str, Leg]:
        """Return each leg over the whole view, and what of it the search took."""
        query, view, allowed, recall = found.query, found.view, found.allowed, found.recall
        bm25_rows, bm25, _ = self._by_bm25(query, view, chosen, max(1, self._lexical.n_chunks), allowed)
        rows = np.arange(view.n) if allowed is None else np.flatnonzero(allowed)
        cosines = view.cosines(recall.vector, rows)
        nearest = np.lexsort((view.keys[rows], -cosines))
        best = np.lexsort((recall.defined, -recall.worth))
        return {
            LEXICAL: Leg(bm25_rows, bm25, recall.found),
            DENSE: Leg(rows[nearest], cosines[nearest], recall.near),
            SYMBOL: Leg(recall.defined[best], recall.worth[best], recall.defined),
        }

    # Hits -------------------------------------------------------------------------------------------------------

    def _hits(self, found: _Found) -> list[Hit]:
        view, ranking, chosen, active = found.view, found.ranking, found.spots, self._active
        words = words_of(
            self.catalog, [(view.files[s.file].content_id, int(view.keys[s.row]) & ORDINALS) for s in chosen]
        )
        hits = []
        for spot, told in zip(chosen, words, strict=True):
            file = view.files[spot.file]
            name, generation, commit = active[file.repo_id]
            first, last = int(view.start[spot.row]), int(view.end[spot.row])
            also = ((view.files[twin], start) for twin, start in spot.also)
            hits.append(
                Hit(
                    rank=spot.rank,
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
                    also_at=tuple(f"{active[twin.repo_id][0]}/{twin.path}:{start}" for twin, start in also),
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


def _ranked(
    query: Query, view: View, recall: _Recall, rarity: Mapping[str, float], allowed: npt.NDArray[np.bool_] | None
) -> Ranking:
    """Return the candidates of all legs, and what else is near in their files, in order of rank."""
    rows = np.unique(np.concatenate([recall.near, recall.found, recall.defined]))
    rows = np.union1d(rows, _nearest_of_files(view, np.unique(view.file[rows]), recall.scanned, allowed))
    lexical, defines = np.zeros((2, len(rows)), np.float32)
    lexical[np.searchsorted(rows, recall.found)] = recall.bm25
    np.maximum.at(defines, np.searchsorted(rows, recall.defined), recall.worth)
    dense = view.cosines(recall.vector, rows)
    return rank(query, view, rows, lexical=lexical, dense=dense, defines=defines, idf=rarity)


def _nearest_of_files(view: View, files: Rows, scanned: Floats, allowed: npt.NDArray[np.bool_] | None) -> Rows:
    """Return the ``BEST`` rows of each file by rough cosine: a file is judged by them, whatever leg found it."""
    wanted = np.zeros(len(view.files) + 1, bool)
    wanted[files] = True
    rows = np.flatnonzero(wanted[view.file] if allowed is None else wanted[view.file] & allowed)
    order = np.lexsort((-scanned[rows], view.file[rows]))
    of_file = view.file[rows][order]
    nth = np.arange(len(rows)) - np.searchsorted(of_file, of_file)
    return rows[order][nth < BEST]


def _allowed(view: View, filters: Filters) -> npt.NDArray[np.bool_] | None:
    """Return which rows the filters let through; None for all."""
    if not (filters.paths or filters.languages or filters.kinds or filters.roles):
        return None
    passing = np.array([_passes(file, filters) for file in view.files], bool)
    allowed: npt.NDArray[np.bool_] = passing[view.file] if view.n else np.empty(0, bool)
    if filters.kinds and view.n:
        allowed &= view.of_kinds(filters.kinds)
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
