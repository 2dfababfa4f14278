"""The read path's composition root: one object that front ends ask.

It reads published generations only and never writes to the knowledge base. Each question sees one state of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from devmind.embed.choose import open_embedder
from devmind.embed.types import Embedder
from devmind.errors import StoreError
from devmind.index.catalog import Catalog
from devmind.retrieve import CACHE_SECONDS, Request, Retriever
from devmind.retrieve.paths import lines_told
from devmind.retrieve.query import MAX_CHARS
from devmind.retrieve.rewrites import NO_REWRITES, Rewrites
from devmind.retrieve.weights import Weights
from devmind.service import doctor, export, relations, state
from devmind.service.answering import answered
from devmind.service.embedder import embedder_options
from devmind.service.filters import checked
from devmind.service.freshness import with_freshness
from devmind.service.sources import Sources
from devmind.service.stages import identity, open_reworder, open_second
from devmind.settings import Settings
from devmind.types import NO_FILTERS, Answer, Filters, SearchResult

if TYPE_CHECKING:
    from devmind.retrieve.trace import Trace


class Service:
    """Answers from the knowledge base in ``settings.home``. Safe to share between threads.

    Args:
        cache_seconds: how long the result of a search may be given again; 0 searches each time.
        embedder: the model that the index was made with; the built-in one if none is given.
        weights: to rank by, instead of those of the knowledge base.

    Raises:
        UsageError: there is no knowledge base there.

    Attributes:
        sources: the indexed files, as citations are checked against them.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        cache_seconds: float = CACHE_SECONDS,
        embedder: Embedder | None = None,
        weights: Weights | None = None,
    ) -> None:
        self.settings = settings
        model = embedder or open_embedder(embedder_options(settings))
        self._second = open_second(settings)
        self._reworder = open_reworder(settings, keeps=cache_seconds > 0)
        self.retriever = Retriever(
            settings.home, model, cache_seconds=cache_seconds, weights=weights, second=self._second
        )
        self.catalog = self.retriever.published.catalog
        self.sources = Sources(self.retriever.published)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.retriever.close()
        if self._second is not None:
            self._second.reranker.close()
        if self._reworder is not None:
            self._reworder.close()

    @property
    def stages(self) -> Mapping[str, str]:
        """The optional stages that searches go through, by kind."""
        return identity(self._second, self._reworder)

    @property
    def weights(self) -> Weights:
        """What searches rank by, as it is now; raises as `Retriever.weights`."""
        return self.retriever.weights

    # Questions --------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        filters: Filters = NO_FILTERS,
        narrow: bool = False,
        expand: bool = True,
        rerank: bool = True,
    ) -> SearchResult:
        """Return the best hits; ``narrow`` as in `Request`.

        Args:
            expand: whether the question is reworded, if the settings name a model for it.
            rerank: whether the second stage is asked, if the settings name one.

        Raises:
            UsageError: the query is empty, or a filter names what no indexed file can have.
        """
        rewrites = self._rewrites(query, expand)
        return self._search(Request(query, k=k, filters=filters, narrow=narrow, rewrites=rewrites, rerank=rerank))

    def _search(self, request: Request) -> SearchResult:
        with self.catalog.reading():
            found = self.retriever.search(self._checked(request))
            hits = with_freshness(self.catalog, found.hits)
        return found if all(hit.fresh for hit in hits) else replace(found, hits=hits)

    def trace(self, query: str, *, k: int = 10, filters: Filters = NO_FILTERS, legs: bool = True) -> Trace:
        """Return a search with its intermediate results; see `Retriever.trace`.

        Raises:
            UsageError: as `search`.
        """
        request = Request(query, k=k, filters=filters, rewrites=self._rewrites(query, True))
        with self.catalog.reading():
            return self.retriever.trace(self._checked(request), legs=legs)

    def _checked(self, request: Request) -> Request:
        return replace(request, filters=checked(self.catalog, request.filters))

    def _rewrites(self, query: str, expand: bool) -> Rewrites:
        """Ask for other wordings, before anything is read: a model may take seconds, and others wait for a reading."""
        if self._reworder is None or not expand or not query.strip():
            return NO_REWRITES
        return self._reworder.rewrites(query)

    def ask(
        self, question: str, *, k: int = 5, filters: Filters = NO_FILTERS, expand: bool = True, rerank: bool = True
    ) -> Answer:
        """Return an answer whose citations were checked, or a refusal; takes and raises what `search` does."""
        return self.ask_and_search(question, k=k, filters=filters, expand=expand, rerank=rerank)[1]

    def ask_and_search(
        self, question: str, *, k: int = 5, filters: Filters = NO_FILTERS, expand: bool = True, rerank: bool = True
    ) -> tuple[SearchResult, Answer]:
        """Return what `ask` does, and the search that it answers from."""
        rewrites = self._rewrites(question, expand)
        request = Request(question, k=k, filters=filters, narrow=True, rewrites=rewrites, rerank=rerank)
        with self.catalog.reading():
            found = self._search(request)
            return found, self.answer(found, filters=filters)

    def answer(self, found: SearchResult, *, filters: Filters = NO_FILTERS) -> Answer:
        """Return what `ask` says, from a result that is known already.

        Args:
            filters: that ``found`` was searched with.
        """
        with self.catalog.reading():
            answer = answered(self.catalog, self.sources, found, filters)
        return replace(answer, warnings=found.warnings) if found.warnings else answer

    @staticmethod
    def lines_told(found: SearchResult) -> dict[int, list[int]]:
        """Return, by rank, the lines of the hit's file that the query tells (``a.py:12``, frames of a trace)."""
        return {hit.rank: lines_told(found.query[:MAX_CHARS], hit.path) for hit in found.hits}

    def symbols(self, name: str, *, repo: str | None = None, limit: int = 50) -> list[dict[str, Any]]:
        """See `relations.symbols`."""
        with self.catalog.reading():
            return relations.symbols(self.catalog, name, repo=repo, limit=limit)

    def near_names(self, name: str, *, repo: str | None = None) -> list[str]:
        """Return the defined names that ``name``, which is not defined, may stand for; see `Retriever.near_names`."""
        return self.retriever.near_names(name, () if repo is None else (repo,))

    def graph(self, direction: str, name: str, *, repo: str | None = None, limit: int = 100) -> list[dict[str, Any]]:
        """See `relations.edges`."""
        with self.catalog.reading():
            return relations.edges(self.catalog, direction, name, repo=repo, limit=limit)

    def graph_path(self, a: str, b: str, *, repo: str | None = None) -> list[dict[str, Any]]:
        """See `relations.chain`."""
        with self.catalog.reading():
            return relations.chain(self.catalog, a, b, repo=repo)

    # State ------------------------------------------------------------------------------------------------------

    def status(self, repo: str | None = None) -> list[dict[str, Any]]:
        """See `state.status`."""
        with self.catalog.reading():
            return state.status(self.catalog, repo, ranking=self._ranking())

    def files(self, repo: str, *, skipped: bool = False) -> list[dict[str, Any]]:
        """See `state.files`."""
        with self.catalog.reading():
            return state.files(self.catalog, repo, skipped=skipped)

    def generations(self, repo: str) -> list[dict[str, Any]]:
        """See `state.generations`."""
        with self.catalog.reading():
            return state.generations(self.catalog, repo)

    def export(self, repo: str | None = None) -> Iterator[dict[str, Any]]:
        """See `export.documents`.

        It has a connection of its own: the state that it reads lasts as long as its reader takes, and other questions
        neither wait for it nor see that state.
        """
        with closing(Catalog(self.catalog.path)) as catalog, catalog.reading():
            yield from export.documents(catalog, repo)

    def doctor(self) -> list[dict[str, Any]]:
        """See `doctor.checks`."""
        with self.catalog.reading():
            return doctor.checks(self.settings.home, self.retriever)

    def _ranking(self) -> str:
        """Return which weights searches use; what is published can be told even if those are damaged."""
        try:
            return self.weights.told
        except StoreError as error:
            return f"unusable: {error}"

    def require(self, repo: str) -> None:
        """Check that ``repo`` is a published repository.

        Raises:
            UsageError: it is not; the message lists those that are.
        """
        if repo not in {one.name for one in self.catalog.active().values()}:
            raise self.catalog.unpublished(repo)
