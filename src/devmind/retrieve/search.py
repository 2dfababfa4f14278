"""One search: understand → legs → candidates → rank → shape. A trace is the same search with all of it kept.

All reads of a search happen in one read transaction of the catalog, so every leg is judged by the same generations.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from devmind.embed.types import Embedder
from devmind.errors import StoreError, UsageError
from devmind.index.lexical import idf
from devmind.retrieve.candidates import candidates_of
from devmind.retrieve.confidence import HITS, NOTHING_ASKED, confidence, evidence
from devmind.retrieve.corpus import Corpus
from devmind.retrieve.hits import read_hits
from devmind.retrieve.legs import Recall, since_ms, whole_legs
from devmind.retrieve.names import near_names
from devmind.retrieve.passing import passing
from devmind.retrieve.published import Published
from devmind.retrieve.query import Query
from devmind.retrieve.rank import SHIPPED, Ranking, rank
from devmind.retrieve.request import Request
from devmind.retrieve.rewrites import Rewrites
from devmind.retrieve.second import SecondStage, Staged, staged
from devmind.retrieve.shape import Fate, Spot, shape
from devmind.retrieve.steps import STEPS, Steps
from devmind.retrieve.trace import Trace
from devmind.retrieve.understanding import understood
from devmind.retrieve.weights import KbWeights, Weights
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

    def search(self, request: Request) -> SearchResult:
        """Return the hits, best first.

        Raises:
            UsageError: the query is empty, ``k`` is not positive, or a repository of the filter is unknown.
        """
        with self._reading(request):
            started = time.perf_counter()
            active = self.published.take_up()
            chosen = self.published.chosen(request.filters.repos)
            weights, rewrites = self.weights, request.rewrites
            key = self._key(request, weights, tuple((r, active[r].generation) for r in chosen))
            known = self._cache.get(key)
            if known is not None and self._clock() - known[0] < self._cache_seconds:
                return known[1]
            timings = {"expand": round(rewrites.seconds * 1000, 3)} if rewrites.spent else {}
            found = self._find(request, weights, chosen, timings)
            hits = self._hits(found)
            result = SearchResult(
                query=request.text,
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

    def trace(self, request: Request, *, legs: bool = True) -> Trace:
        """Return what `search` does on the way to its hits, past the cache.

        Args:
            legs: rank the whole view by each leg, too.

        Raises:
            UsageError: as `search`.

        Cost: that of a search; with ``legs`` linear in the number of chunks.
        """
        with self._reading(request):
            active = self.published.take_up()
            chosen = self.published.chosen(request.filters.repos)
            found = self._find(request, self.weights, chosen, {})
            hits = self._hits(found)
            return Trace(
                query=found.query,
                view=found.corpus.view,
                ranking=found.ranking,
                fates=tuple(found.fates),
                hits=tuple(hits),
                idf=found.idf,
                repos={repo_id: active[repo_id].name for repo_id in chosen},
                legs=whole_legs(found.query, found.corpus, found.recall) if legs else {},
                evidence=self._evidence(found, hits),
            )

    def near_names(self, name: str, repos: Sequence[str]) -> list[str]:
        """Return the defined names that ``name``, which is not defined, may stand for, nearest first.

        Raises:
            UsageError: a repository is unknown.
        """
        with self.published.catalog.reading():
            self.published.take_up()
            return near_names(name, self._corpus(NO_FILTERS, self.published.chosen(repos)))

    @contextmanager
    def _reading(self, request: Request) -> Iterator[None]:
        """Check the question, and let all reads of the block see one state."""
        if not request.text.strip():
            raise UsageError("the query is empty: say what to look for", code="empty_query")
        if request.k < 1:
            raise UsageError(f"k is {request.k}: ask for at least one hit", code="bad_k")
        with self.published.catalog.reading():
            try:
                yield
            except StoreError:
                self.published.forget_lexical()
                raise

    def _confidence(self, found: _Found, hits: Sequence[Hit]) -> float:
        if not hits or not found.query.groups:
            return NOTHING_ASKED if hits else 0.0
        return confidence(self._evidence(found, hits))

    def _evidence(self, found: _Found, hits: Sequence[Hit]) -> dict[str, float]:
        terms = sorted(frozenset[str]().union(*(group for group, _ in found.query.groups)))
        return evidence(
            found.query,
            [hit.focused() for hit in hits[:HITS]],
            files=found.corpus.view.terms_in([spot.file for spot in found.spots[:HITS]], terms),
            idf=found.idf,
            rarest=idf(0, self.published.lexical.n_chunks),
        )

    def _key(self, request: Request, weights: Weights, shown: tuple[tuple[int, int], ...]) -> tuple[object, ...]:
        """Return what a cached result is known by; ``shown`` are the repositories searched and their generations."""
        second = self._second_of(request)
        stages = (weights.key, request.rewrites.identity, second.name if second else "")
        return " ".join(request.text.split()), request.k, request.filters, request.narrow, stages, shown

    def _second_of(self, request: Request) -> SecondStage | None:
        return self._second if request.rerank else None

    def _keep(self, key: tuple[object, ...], result: SearchResult) -> None:
        self._cache[key] = (self._clock(), result)
        while len(self._cache) > CACHE_ENTRIES:
            self._cache.popitem(last=False)

    def _find(self, request: Request, weights: Weights, chosen: Sequence[int], timings: dict[str, float]) -> _Found:
        """Do all of a search but the reading of its hits."""
        corpus = self._corpus(request.filters, chosen)
        known = understood(request.text, request.rewrites, corpus, read=self._steps.understand, timings=timings)
        query = known.query
        taken = self._steps.recall(query, corpus, known.named, k=request.k, timings=timings)
        mark = time.perf_counter()
        found = candidates_of(taken, corpus.view, corpus.allowed)
        after = Staged(rank(query, corpus.view, found, idf=known.idf, weights=weights))
        second = self._second_of(request)
        if second is not None:
            timings["rank"] = since_ms(mark)
            mark = time.perf_counter()
            after = staged(second, self.published, corpus.view, text=query.text, ranking=after.ranking)
            timings["rerank"] = since_ms(mark)
            mark = time.perf_counter()
        near = None if request.narrow or query.symbolic else taken.scanned
        spots, fates = shape(corpus.view, after.ranking, k=request.k, near=near, allowed=corpus.allowed)
        timings["rank"] = round(timings.get("rank", 0.0) + since_ms(mark), 3)
        return _Found(query, corpus, taken, known.idf, after, spots, fates)

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
