"""One search: understand → legs → candidates → rank → shape. A trace is the same search with all of it kept.

All reads of a search happen in one read transaction of the catalog, so every leg is judged by the same generations.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from devmind.embed.types import Embedder
from devmind.errors import StoreError, UsageError
from devmind.index.lexical import idf
from devmind.index.snapshot import Floats
from devmind.index.view import Rows, View
from devmind.retrieve.abbreviations import other_forms
from devmind.retrieve.confidence import NOTHING_ASKED, confidence, evidence
from devmind.retrieve.corpus import Corpus
from devmind.retrieve.features import BEST
from devmind.retrieve.hits import read_hits
from devmind.retrieve.legs import Recall, recall, since_ms, whole_legs
from devmind.retrieve.names import corrected, defined_by
from devmind.retrieve.passing import Mask, passing
from devmind.retrieve.published import Published
from devmind.retrieve.query import Query, understand
from devmind.retrieve.rank import Ranking, rank
from devmind.retrieve.shape import Fate, Spot, shape
from devmind.retrieve.trace import Trace
from devmind.types import NO_FILTERS, Filters, Hit, SearchResult

CACHE_SECONDS = 600.0
CACHE_ENTRIES = 1000
N_NAMES, NAMES_FROM = 5, 8  # nearest names told, and the hits that they are taken from


@dataclass(frozen=True, slots=True)
class _Found:
    """A search up to its hits, which are read from the catalog last."""

    query: Query
    corpus: Corpus
    recall: Recall
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
        self.published = Published(kb, embedder)
        self._cache: OrderedDict[tuple[object, ...], tuple[float, SearchResult]] = OrderedDict()
        self._clock = clock
        self._cache_seconds = cache_seconds

    def close(self) -> None:
        self.published.catalog.close()

    def search(self, text: str, *, k: int = 10, filters: Filters = NO_FILTERS) -> SearchResult:
        """Return up to ``k`` hits, best first.

        Raises:
            UsageError: the query is empty, ``k`` is not positive, or a repository of the filter is unknown.
        """
        with self._reading(text, k):
            started = time.perf_counter()
            active = self.published.take_up()
            chosen = self.published.chosen(filters.repos)
            key = (" ".join(text.split()), k, filters, tuple((r, active[r].generation) for r in chosen))
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
                generations={active[r].name: active[r].generation for r in chosen},
                timings_ms={**timings, "total": since_ms(started)},
                nearest_names=tuple(dict.fromkeys(hit.symbol for hit in hits[:NAMES_FROM] if hit.symbol))[:N_NAMES],
            )
            self._keep(key, result)
            return result

    def trace(self, text: str, *, k: int = 10, filters: Filters = NO_FILTERS, legs: bool = True) -> Trace:
        """Return what `search` does on the way to its hits, past the cache.

        Args:
            legs: rank the whole view by each leg, too.

        Raises:
            UsageError: as `search`.

        Cost: that of a search; with ``legs`` linear in the number of chunks.
        """
        with self._reading(text, k):
            active = self.published.take_up()
            chosen = self.published.chosen(filters.repos)
            found = self._find(text, k, filters, chosen, {})
            return Trace(
                query=found.query,
                view=found.corpus.view,
                ranking=found.ranking,
                fates=tuple(found.fates),
                hits=tuple(self._hits(found)),
                idf=found.idf,
                repos={repo_id: active[repo_id].name for repo_id in chosen},
                legs=whole_legs(found.query, found.corpus, found.recall) if legs else {},
            )

    @contextmanager
    def _reading(self, text: str, k: int) -> Iterator[None]:
        """Check the question, and let all reads of the block see one state."""
        if not text.strip():
            raise UsageError("the query is empty: say what to look for", code="empty_query")
        if k < 1:
            raise UsageError(f"k is {k}: ask for at least one hit", code="bad_k")
        with self.published.catalog.reading():
            try:
                yield
            except StoreError:
                self.published.forget_lexical()
                raise

    def _confidence(self, found: _Found, hits: Sequence[Hit]) -> float:
        if not hits or not found.query.groups:
            return NOTHING_ASKED if hits else 0.0
        rarest = idf(0, self.published.lexical.n_chunks)
        return confidence(evidence(found.query, hits, idf=found.idf, rarest=rarest))

    def _keep(self, key: tuple[object, ...], result: SearchResult) -> None:
        self._cache[key] = (self._clock(), result)
        while len(self._cache) > CACHE_ENTRIES:
            self._cache.popitem(last=False)

    def _find(self, text: str, k: int, filters: Filters, chosen: Sequence[int], timings: dict[str, float]) -> _Found:
        """Do all of a search but the reading of its hits."""
        mark = time.perf_counter()
        lexical = self.published.lexical
        df = cache(lexical.df)  # of the same few terms, asked for many times
        query = understand(text, df=df, n_chunks=lexical.n_chunks)
        timings["understand"] = since_ms(mark)
        corpus = self._corpus(filters, chosen)
        mark = time.perf_counter()
        query = replace(query, weights={**query.weights, **other_forms(query.weights, lexical)})
        named = defined_by(query, corpus)
        query = corrected(query, named.meant)
        timings["symbol"] = since_ms(mark)
        taken = recall(query, corpus, named, k=k, timings=timings)
        mark = time.perf_counter()
        rarity = {term: idf(df(term), lexical.n_chunks) for term in query.weights}
        ranking = _ranked(query, corpus, taken, rarity)
        spots, fates = shape(corpus.view, ranking, k=k)
        timings["rank"] = since_ms(mark)
        return _Found(query, corpus, taken, rarity, ranking, spots, fates)

    def _corpus(self, filters: Filters, chosen: Sequence[int]) -> Corpus:
        published = self.published
        view = published.view(chosen)
        return Corpus(
            view=view,
            allowed=passing(view, filters),
            repo_ids=tuple(chosen),
            is_part=len(chosen) < len(published.active),
            catalog=published.catalog,
            lexical=published.lexical,
            embedder=published.embedder,
            lines_of=published.lines_of,
            names=published.names,
        )

    def _hits(self, found: _Found) -> list[Hit]:
        return read_hits(self.published, found.corpus.view, found.ranking, found.spots)


def _ranked(query: Query, corpus: Corpus, taken: Recall, rarity: Mapping[str, float]) -> Ranking:
    """Return the candidates of all legs, and what else is near in their files, in order of rank."""
    view = corpus.view
    rows = np.unique(np.concatenate([taken.near, taken.found, taken.defined, taken.pointed.rows]))
    rows = np.union1d(rows, _nearest_of_files(view, np.unique(view.file[rows]), taken.scanned, corpus.allowed))
    lexical, defines, pointed = np.zeros((3, len(rows)), np.float32)
    lexical[np.searchsorted(rows, taken.found)] = taken.bm25
    np.maximum.at(defines, np.searchsorted(rows, taken.defined), taken.worth)
    pointed[np.searchsorted(rows, taken.pointed.rows)] = taken.pointed.worth
    dense = view.cosines(taken.vector, rows)
    return rank(query, view, rows, lexical=lexical, dense=dense, defines=defines, pointed=pointed, idf=rarity)


def _nearest_of_files(view: View, files: Rows, scanned: Floats, allowed: Mask | None) -> Rows:
    """Return the ``BEST`` rows of each file by rough cosine: a file is judged by them, whatever leg found it."""
    wanted = np.zeros(len(view.files) + 1, bool)
    wanted[files] = True
    rows = np.flatnonzero(wanted[view.file] if allowed is None else wanted[view.file] & allowed)
    order = np.lexsort((-scanned[rows], view.file[rows]))
    of_file = view.file[rows][order]
    nth = np.arange(len(rows)) - np.searchsorted(of_file, of_file)
    return rows[order][nth < BEST]
