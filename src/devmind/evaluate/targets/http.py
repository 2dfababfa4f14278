"""DevMind over HTTP: topics → ``POST /api/v1/search`` or ``/api/v1/ask`` → hits and answers.

The bodies that are sent: ``{"query", "k", "repos"?}`` and ``{"question", "k", "repos"?}``. What comes back is what
``devmind search --json`` and ``devmind ask --json`` print.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from devmind.evaluate.targets.config import flattened, read_config
from devmind.evaluate.targets.hits import Loose, Rules, number_of, to_hits
from devmind.evaluate.targets.types import OTHER_COMMIT, REPO_NOT_INDEXED, Mode
from devmind.evaluate.types import Response, Span, Topic
from devmind.models.wire import Refusal, Wire, checked_url, key_options

_UNKNOWN_REPO: Final = "unknown_repository"  # the stable code of that error
_OURS: Final = Rules()


class HttpTarget:
    """A DevMind server at ``base_url``.

    Args:
        provenance: What the caller wants to stand in `settings` beside address and mode.
    """

    def __init__(
        self, base_url: str, wire: Wire, *, mode: Mode = "search", name: str = "", provenance: Mapping[str, str]
    ) -> None:
        self._name = name or f"{base_url}#{mode}"
        self._base = base_url
        self._wire = wire
        self._mode = mode
        self._provenance = dict(provenance)
        self._unknown: set[str] = set()  # repositories that the server does not know: asked for once

    @property
    def name(self) -> str:
        return self._name

    def respond(self, topic: Topic, *, k: int) -> Response:
        """See `Target`. A repository that the server does not know is no filter: the response is noted so."""
        if not topic.repo:
            return self._ask(topic, k, {}, ())
        if topic.repo not in self._unknown:
            try:
                return self._ask(topic, k, {"repos": [topic.repo]}, ())
            except Refusal as refusal:
                if _error_code(refusal.body) != _UNKNOWN_REPO:
                    raise
                self._unknown.add(topic.repo)
        return self._ask(topic, k, {}, (REPO_NOT_INDEXED,))

    def close(self) -> None:
        self._wire.close()

    def settings(self) -> Mapping[str, str]:
        return {"base_url": self._base, "mode": self._mode, **self._provenance}

    def _ask(self, topic: Topic, k: int, filters: Mapping[str, Any], notes: tuple[str, ...]) -> Response:
        asking = self._mode == "ask"
        url = f"{self._base}/api/v1/{self._mode}"
        said = self._wire.ask(url, {"question" if asking else "query": topic.query, "k": k, **filters})
        found = said.get("evidence" if asking else "hits") if isinstance(said, dict) else None
        if not isinstance(found, list):
            field = "evidence" if asking else "hits"
            raise self._wire.failure("bad_shape", f"answered without a list {field!r}; is it a DevMind server?", url)
        hits, dropped = to_hits((_loose(hit) for hit in found), _OURS)
        return Response(
            topic.topic_id,
            hits=hits,
            answer=str(said.get("answer", "")) if asking else None,
            cited=tuple(_cited(said.get("citations"))) if asking else (),
            abstained=said.get("abstained") is True,
            confidence=number_of(said.get("confidence")),
            dropped=dropped,
            notes=notes or _commit_notes(topic, found),
        )


def _commit_notes(topic: Topic, found: list[Any]) -> tuple[str, ...]:
    commits = [hit["commit"] for hit in found if isinstance(hit, dict) and isinstance(hit.get("commit"), str)]
    searched = [commit for commit in commits if commit]
    other = topic.repo and topic.commit and searched and not any(c.startswith(topic.commit) for c in searched)
    return (OTHER_COMMIT,) if other else ()


def open_http(config: Path, *, secret: Callable[[str], str], timeout_s: float) -> HttpTarget:
    """Return the target that the configuration describes: ``base_url``, ``mode``, ``api_key_env``.

    Raises:
        UsageError: The configuration is wrong, or the variable that holds the key is not set.
    """
    table = read_config(config)
    base = checked_url(table.text("base_url"), where=table.where("base_url"))
    mode: Mode = "ask" if table.text("mode", "search", one_of=("search", "ask")) == "ask" else "search"
    options = key_options(table.text("api_key_env", ""), secret=secret, timeout_s=timeout_s)
    name = table.text("name", config.stem)
    table.finish()
    return HttpTarget(base, Wire(options), mode=mode, name=name, provenance=flattened(table.values))


def _loose(hit: Any) -> Loose:
    if not isinstance(hit, dict):
        return Loose(text=hit)
    return Loose(
        file=hit.get("path"),
        start=hit.get("start_line"),
        end=hit.get("end_line"),
        text=hit.get("content"),
        score=hit.get("score"),
        symbol=hit.get("symbol"),
    )


def _cited(citations: Any) -> list[Span]:
    places = [
        Loose(file=c.get("path"), start=c.get("start_line"), end=c.get("end_line"))
        for c in (citations if isinstance(citations, list) else [])
        if isinstance(c, dict)
    ]
    hits, _ = to_hits(places, _OURS)
    return [hit.span for hit in hits if hit.span is not None]


def _error_code(body: str) -> str:
    try:
        error = json.loads(body)["error"]
        return str(error["code"])
    except (ValueError, KeyError, TypeError):
        return ""
