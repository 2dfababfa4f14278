"""DevMind in this process: topics → the hits or the answer of `Service`, over a knowledge base as it is published.

Every question is searched anew: a result from the cache would show a speed that no first question has.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping

from devmind import __version__
from devmind.embed.types import Embedder
from devmind.errors import DevMindError, UpstreamError
from devmind.evaluate.targets.types import OTHER_COMMIT, REPO_NOT_INDEXED, STAGE_FAILED, Mode
from devmind.evaluate.types import Response, Retrieved, Span, Topic
from devmind.retrieve.weights import Weights
from devmind.service import Service
from devmind.settings import Settings
from devmind.types import Answer, Filters, Hit, SearchResult, stable_id

_log = logging.getLogger(__name__)


class DevMindTarget:
    """The knowledge base of ``settings``. A topic that names a repository is asked of that repository, if it is there.

    Args:
        embedder: the model that the index was made with; the built-in one if none is given.
        weights: to rank by, instead of those of the knowledge base.

    Raises:
        UsageError: There is no knowledge base.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        mode: Mode = "search",
        embedder: Embedder | None = None,
        weights: Weights | None = None,
        narrow: bool = False,
    ) -> None:
        self._service = Service(settings, cache_seconds=0, embedder=embedder, weights=weights)
        self._mode = mode
        self._narrow = narrow or mode == "ask"
        rows = self._service.status()
        self._commits = {row["repo"]: row.get("commit", "") for row in rows}
        self._repos = {row["repo"]: f"{row['generation']}@{row.get('commit', '')}" for row in rows}
        self._strategy = settings.strategy
        self._embedder = self._service.retriever.published.embedder.name

    @property
    def name(self) -> str:
        return f"devmind:{self._mode}"

    def respond(self, topic: Topic, *, k: int) -> Response:
        """See `Target`. In mode ``ask`` the hits are the evidence that the answer was made from, five at most."""
        repos = (topic.repo,) if topic.repo in self._repos else ()
        notes = self._notes(topic)
        try:
            found = self._service.search(topic.query, k=k, filters=Filters(repos=repos), narrow=self._narrow)
            notes += (STAGE_FAILED,) if found.warnings else ()
            if self._mode == "search":
                return _searched(topic, found, notes)
            return _answered(topic, found, self._service.answer(found), notes)
        except DevMindError:
            raise
        except Exception as error:  # the edge of the system that is measured: its faults are results
            _log.exception("devmind failed on topic %s", topic.topic_id)
            raise UpstreamError(
                f"devmind failed: {type(error).__name__}: {error}", retryable=False, code="crash"
            ) from error

    def _notes(self, topic: Topic) -> tuple[str, ...]:
        if topic.repo and topic.repo not in self._repos:
            return (REPO_NOT_INDEXED,)
        indexed = self._commits.get(topic.repo, "")
        return (OTHER_COMMIT,) if topic.commit and indexed and not indexed.startswith(topic.commit) else ()

    def close(self) -> None:
        self._service.close()

    def settings(self) -> Mapping[str, str]:
        return {
            "devmind": __version__,
            "mode": self._mode,
            "strategy": self._strategy,
            "embedder": self._embedder,
            **self._service.stages,
            "repos": json.dumps(self._repos, sort_keys=True, ensure_ascii=False),
            **self._tuned(),
        }

    def _tuned(self) -> Mapping[str, str]:
        """Name weights that are not the shipped ones: runs of different weights are different runs."""
        weights = self._service.weights
        return {"ranking": f"{weights.told} ({stable_id(repr(weights.key))[:8]})"} if weights.about else {}


def _searched(topic: Topic, found: SearchResult, notes: tuple[str, ...]) -> Response:
    hits = tuple(_retrieved(hit) for hit in found.hits)
    return Response(topic.topic_id, hits=hits, confidence=found.confidence, notes=notes, spent=found.spent)


def _answered(topic: Topic, found: SearchResult, answer: Answer, notes: tuple[str, ...]) -> Response:
    return Response(
        topic.topic_id,
        hits=tuple(_retrieved(hit) for hit in answer.evidence),
        answer=answer.answer,
        cited=tuple(Span(c.path, c.start_line, c.end_line) for c in answer.citations),
        abstained=answer.abstained,
        confidence=found.confidence,
        notes=notes,
        spent=found.spent,
    )


def _retrieved(hit: Hit) -> Retrieved:
    return Retrieved(
        span=Span(hit.path, hit.start_line, hit.end_line),
        text=hit.content,
        score=hit.score,
        symbol=hit.symbol,
        why=hit.why,
        file=hit.path,
    )
