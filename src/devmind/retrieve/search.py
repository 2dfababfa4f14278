"""One search: understand → legs → candidates → rank → shape. A trace is the same search with all of it kept.

All reads of a search happen in one read transaction of the catalog, so every leg is judged by the same generations.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from devmind.embed.types import Embedder
from devmind.errors import StoreError, UsageError
from devmind.index.lexical import idf
from devmind.index.snapshot import Floats
from devmind.index.view import Rows, View, grouped, opens
from devmind.retrieve.abbreviations import other_forms
from devmind.retrieve.confidence import HITS, NOTHING_ASKED, confidence, evidence
from devmind.retrieve.corpus import Corpus
from devmind.retrieve.features import BEST
from devmind.retrieve.hits import read_hits
from devmind.retrieve.legs import Recall, since_ms, whole_legs
from devmind.retrieve.names import corrected, defined_by
from devmind.retrieve.passing import Mask, passing
from devmind.retrieve.published import Published
from devmind.retrieve.query import Query
from devmind.retrieve.rank import SHIPPED, Ranking, rank
from devmind.retrieve.rewrites import NO_REWRITES, Rewrites, widened
from devmind.retrieve.second import SecondStage, Staged, staged
from devmind.retrieve.shape import Fate, Spot, shape
from devmind.retrieve.steps import STEPS, Steps
from devmind.retrieve.trace import Trace
from devmind.retrieve.weights import KbWeights, Weights
from devmind.types import NO_FILTERS, Filters, Hit, SearchResult

CACHE_SECONDS = 600.0
CACHE_ENTRIES = 1000
FILES = 50  # candidates for what stands in them as a whole, wherever the legs looked
N_NAMES, NAMES_FROM = 5, 8  # nearest names told, and the hits that they are taken from


@dataclass(frozen=True, slots=True)
class _Asked:
    """One search as its caller wants it."""

    text: str
    k: int
    filters: Filters
    narrow: bool
    weights: Weights
    rewrites: Rewrites
    second: SecondStage | None

    def key(self, shown: tuple[tuple[int, int], ...]) -> tuple[object, ...]:
        """Return what a cached result is known by; ``shown`` are the repositories searched and their generations."""
        stages = (self.weights.key, self.rewrites.identity, self.second.name if self.second else "")
        return " ".join(self.text.split()), self.k, self.filters, self.narrow, stages, shown


@dataclass(frozen=True, slots=True)
class _Found:
    """A search up to its hits, which are read from the catalog last."""

    query: Query
    corpus: Corpus
    recall: Recall
    idf: Mapping[str, float]
    staged: Staged
    spots: list[Spot]
    fates: list[Fate]

    @property
    def ranking(self) -> Ranking:
        return self.staged.ranking


class Retriever:
    """Searches one knowledge base folder. Safe to share between threads (searches run one at a time).

    Args:
        kb: the folder.
        embedder: makes the query's vector; must be the one that the index was made with.
        clock: seconds, for the cache.
        cache_seconds: how long a result may be given again; 0 searches each time.
        weights: to rank by, whatever the knowledge base says; without them by its own.
        steps: how a question becomes candidates.
        second: reorders the first candidates; None for no second stage.
    """

    def __init__(
        self,
        kb: Path,
        embedder: Embedder,
        *,
        clock: Callable[[], float] = time.monotonic,
        cache_seconds: float = CACHE_SECONDS,
        weights: Weights | None = None,
        steps: Steps = STEPS,
        second: SecondStage | None = None,
    ) -> None:
        self._steps = steps
        self.published = Published(kb, embedder)
        self._weights = weights or KbWeights(kb, SHIPPED)
        self._cache: OrderedDict[tuple[object, ...], tuple[float, SearchResult]] = OrderedDict()
        self._clock = clock
        self._cache_seconds = cache_seconds
        self._second = second

    def close(self) -> None:
        self.published.catalog.close()

    @property
    def weights(self) -> Weights:
        """What searches rank by, as it is now.

        Raises:
            StoreError: the knowledge base has weights of its own, and they are damaged.
        """
        return self._weights if isinstance(self._weights, Weights) else self._weights.now()

    def search(
        self,
        text: str,
        *,
        k: int = 10,
        filters: Filters = NO_FILTERS,
        narrow: bool = False,
        rewrites: Rewrites = NO_REWRITES,
        rerank: bool = True,
    ) -> SearchResult:
        """Return up to ``k`` hits, best first.

        Args:
            narrow: show of each hit its focus alone, not what stands around it.
            rewrites: other wordings of the question, which are searched too.
            rerank: whether the second stage, if there is one, is asked.

        Raises:
            UsageError: the query is empty, ``k`` is not positive, or a repository of the filter is unknown.
        """
        second = self._second if rerank else None
        with self._reading(text, k):
            started = time.perf_counter()
            active = self.published.take_up()
            chosen = self.published.chosen(filters.repos)
            asked = _Asked(text, k, filters, narrow, self.weights, rewrites, second)
            key = asked.key(tuple((r, active[r].generation) for r in chosen))
            known = self._cache.get(key)
            if known is not None and self._clock() - known[0] < self._cache_seconds:
                return known[1]
            timings = {"expand": round(rewrites.seconds * 1000, 3)} if rewrites.spent else {}
            found = self._find(asked, chosen, timings)
            hits = self._hits(found)
            result = SearchResult(
                query=text,
                hits=tuple(hits),
                confidence=self._confidence(found, hits),
                generations={active[r].name: active[r].generation for r in chosen},
                timings_ms={**timings, "total": round(since_ms(started) + timings.get("expand", 0.0), 3)},
                nearest_names=tuple(dict.fromkeys(hit.symbol for hit in hits[:NAMES_FROM] if hit.symbol))[:N_NAMES],
                warnings=(*rewrites.warnings, *found.staged.warnings),
                rewrites=rewrites.texts,
                spent=_spent(rewrites, found.staged),
            )
            if not result.warnings:  # what failed may work the next time
                self._keep(key, result)
            return result

    def trace(
        self,
        text: str,
        *,
        k: int = 10,
        filters: Filters = NO_FILTERS,
        legs: bool = True,
        narrow: bool = False,
        rewrites: Rewrites = NO_REWRITES,
        rerank: bool = True,
    ) -> Trace:
        """Return what `search` does on the way to its hits, past the cache; takes what it does.

        Args:
            legs: rank the whole view by each leg, too.

        Raises:
            UsageError: as `search`.

        Cost: that of a search; with ``legs`` linear in the number of chunks.
        """
        with self._reading(text, k):
            active = self.published.take_up()
            chosen = self.published.chosen(filters.repos)
            second = self._second if rerank else None
            found = self._find(_Asked(text, k, filters, narrow, self.weights, rewrites, second), chosen, {})
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
        return confidence(evidence(found.query, [hit.focused() for hit in hits[:HITS]], idf=found.idf, rarest=rarest))

    def _keep(self, key: tuple[object, ...], result: SearchResult) -> None:
        self._cache[key] = (self._clock(), result)
        while len(self._cache) > CACHE_ENTRIES:
            self._cache.popitem(last=False)

    def _find(self, asked: _Asked, chosen: Sequence[int], timings: dict[str, float]) -> _Found:
        """Do all of a search but the reading of its hits."""
        mark = time.perf_counter()
        lexical = self.published.lexical
        df = cache(lexical.df)  # of the same few terms, asked for many times
        n_chunks = lexical.n_chunks
        understood = partial(self._steps.understand, df=df, n_chunks=n_chunks)
        others = [understood(one) for one in asked.rewrites.texts]
        query = widened(understood(asked.text), others, weight=asked.rewrites.weight)
        timings["understand"] = since_ms(mark)
        corpus = self._corpus(asked.filters, chosen)
        mark = time.perf_counter()
        query = replace(query, weights={**query.weights, **other_forms(query.weights, lexical)})
        named = defined_by(query, corpus)
        query = corrected(query, named.meant)
        timings["symbol"] = since_ms(mark)
        taken = self._steps.recall(query, corpus, named, k=asked.k, timings=timings)
        mark = time.perf_counter()
        rarity = {term: idf(df(term), n_chunks) for term in query.weights}
        after = Staged(_ranked(query, corpus, taken, rarity, asked.weights))
        if asked.second is not None:
            timings["rank"] = since_ms(mark)
            mark = time.perf_counter()
            after = staged(asked.second, self.published, corpus.view, text=query.text, ranking=after.ranking)
            timings["rerank"] = since_ms(mark)
            mark = time.perf_counter()
        near = None if asked.narrow or query.symbolic else taken.scanned
        spots, fates = shape(corpus.view, after.ranking, k=asked.k, near=near, allowed=corpus.allowed)
        timings["rank"] = round(timings.get("rank", 0.0) + since_ms(mark), 3)
        return _Found(query, corpus, taken, rarity, after, spots, fates)

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


def _spent(rewrites: Rewrites, after: Staged) -> dict[str, int]:
    """Return the calls of models and their tokens; empty where no model was asked."""
    n_calls = rewrites.spent.get("calls", 0) + after.n_calls
    return {"calls": n_calls, "tokens": rewrites.spent.get("tokens", 0) + after.n_tokens} if n_calls else {}


def _ranked(query: Query, corpus: Corpus, taken: Recall, rarity: Mapping[str, float], weights: Weights) -> Ranking:
    """Return the candidates of all legs, and what else is near in their files, in order of rank."""
    view = corpus.view
    rows, _ = grouped(np.sort(np.concatenate([taken.near, taken.found, taken.defined, taken.pointed.rows])))
    files, _ = grouped(np.sort(np.concatenate([view.file[rows], _best(taken.whole)])))
    near = _nearest_of_files(view, files, taken.scanned, corpus.allowed)
    rows, _ = grouped(np.sort(np.concatenate([rows, *near])))
    lexical, defines, pointed = np.zeros((3, len(rows)), np.float32)
    lexical[np.searchsorted(rows, taken.found)] = taken.bm25
    np.maximum.at(defines, np.searchsorted(rows, taken.defined), taken.worth)
    pointed[np.searchsorted(rows, taken.pointed.rows)] = taken.pointed.worth
    dense = view.cosines(taken.vector, rows)
    return rank(
        query,
        view,
        rows,
        lexical=lexical,
        dense=dense,
        defines=defines,
        pointed=pointed,
        whole=taken.whole,
        idf=rarity,
        weights=weights,
    )


def _best(whole: Floats) -> Rows:
    """Return the first `FILES` files by ``whole``, without those that hold no word of the question."""
    first = np.argpartition(-whole, FILES)[:FILES] if len(whole) > FILES else np.arange(len(whole))
    return first[whole[first] > 0]


def _nearest_of_files(view: View, files: Rows, scanned: Floats, allowed: Mask | None) -> list[Rows]:
    """Return the ``BEST`` rows of each file by rough cosine, the nearest of all files, the second nearest and so on.

    A file is judged by them, whatever leg found it. The last row of a file with fewer comes again.
    """
    rows = view.rows_of_files(files)
    rows = rows if allowed is None else rows[allowed[rows]]
    near, (_, file_of) = scanned[rows], grouped(view.file[rows])
    counts = np.bincount(file_of)
    first = np.cumsum(counts) - counts
    found = []
    for _ in range(BEST if len(rows) else 0):
        nearest = np.flatnonzero(near == np.repeat(np.fmax.reduceat(near, first), counts))
        nearest = nearest[opens(file_of[nearest])]  # of equals the first
        near[nearest] = -np.inf
        found.append(rows[nearest])
    return found
