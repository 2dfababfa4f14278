"""Dify: topics → ``/datasets/{id}/retrieve`` (hits) or ``/chat-messages`` (an answer, and its sources if given).

Source: Dify API reference, "Retrieve chunks from a knowledge base", "Send chat message", "Consume streaming responses".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from devmind.evaluate.targets.config import Metadata, Table, flattened, read_config, read_metadata, read_rules
from devmind.evaluate.targets.hits import Loose, Rules, number_of, to_hits
from devmind.evaluate.targets.prose import cited_places, cited_spans, refusal_phrases, refuses
from devmind.evaluate.targets.types import QUERY_TRUNCATED, Target
from devmind.evaluate.types import Response, Topic
from devmind.models.wire import Wire, checked_url, key_options

MAX_QUERY_CHARS: Final = 250  # a longer query is an error of the retrieve endpoint
SEARCH_METHODS: Final = ("keyword_search", "semantic_search", "full_text_search", "hybrid_search")
_USER: Final = "devmind-eval"


class DifyRetrieve:
    """The retrieval test of one knowledge base of Dify.

    Args:
        model: The ``retrieval_model`` to send; ``top_k`` in it is set to the number of hits that are wanted.
    """

    def __init__(
        self,
        url: str,
        wire: Wire,
        *,
        name: str,
        model: Mapping[str, Any],
        rules: Rules,
        metadata: Metadata,
        provenance: Mapping[str, str],
    ) -> None:
        self._url = url
        self._wire = wire
        self._name = name
        self._model = dict(model)
        self._rules = rules
        self._metadata = metadata
        self._provenance = dict(provenance)

    @property
    def name(self) -> str:
        return self._name

    def respond(self, topic: Topic, *, k: int) -> Response:
        """See `Target`. A question that is too long for Dify is cut at a word's end, and noted so."""
        query = cut_at_word(topic.query, MAX_QUERY_CHARS)
        said = self._wire.ask(self._url, {"query": query, "retrieval_model": {**self._model, "top_k": k}})
        records = said.get("records") if isinstance(said, dict) else None
        if not isinstance(records, list):
            raise self._wire.failure("bad_shape", "answered without a list 'records'; is it Dify's API?", self._url)
        hits, dropped = to_hits((_of_record(r, self._metadata) for r in records), self._rules)
        notes = (QUERY_TRUNCATED,) if query != topic.query else ()
        return Response(topic.topic_id, hits=hits, dropped=dropped, notes=notes)

    def close(self) -> None:
        self._wire.close()

    def settings(self) -> Mapping[str, str]:
        return self._provenance


class DifyChat:
    """One chat app of Dify; every topic opens a conversation of its own.

    Args:
        streaming: Read the answer as a stream; agent apps have no other way.
        inputs: The variables of the app.
        cited_as_hits: When the app names no sources, the places that the answer cites count as its hits.
    """

    def __init__(
        self,
        base_url: str,
        wire: Wire,
        *,
        name: str,
        streaming: bool,
        inputs: Mapping[str, Any],
        rules: Rules,
        refusals: tuple[str, ...],
        cited_as_hits: bool,
        provenance: Mapping[str, str],
    ) -> None:
        self._url = f"{base_url}/chat-messages"
        self._wire = wire
        self._name = name
        self._streaming = streaming
        self._inputs = dict(inputs)
        self._rules = rules
        self._refusals = refusals
        self._cited_as_hits = cited_as_hits
        self._provenance = dict(provenance)

    @property
    def name(self) -> str:
        return self._name

    def respond(self, topic: Topic, *, k: int) -> Response:
        """See `Target`. ``k`` is the app's own affair; its surplus is left off by the runner."""
        answer, resources = self._stream(topic.query) if self._streaming else self._block(topic.query)
        hits, dropped = to_hits((_of_resource(r) for r in resources), self._rules)
        places = cited_places(answer, self._rules)
        return Response(
            topic.topic_id,
            hits=places if self._cited_as_hits and not hits else hits,
            answer=answer,
            cited=cited_spans(places),
            abstained=refuses(answer, self._refusals),
            dropped=dropped,
        )

    def close(self) -> None:
        self._wire.close()

    def settings(self) -> Mapping[str, str]:
        return self._provenance

    def _body(self, query: str, mode: str) -> dict[str, Any]:
        return {"query": query, "inputs": self._inputs, "response_mode": mode, "user": _USER}

    def _block(self, query: str) -> tuple[str, list[Any]]:
        said = self._wire.ask(self._url, self._body(query, "blocking"))
        if not isinstance(said, dict) or not isinstance(said.get("answer"), str):
            raise self._wire.failure("bad_shape", "answered without the text 'answer'; is it a chat app?", self._url)
        return said["answer"], _resources(said)

    def _stream(self, query: str) -> tuple[str, list[Any]]:
        pieces: list[str] = []
        by_agent = False
        for event in self._wire.events(self._url, self._body(query, "streaming")):
            kind, text = event.get("event"), str(event.get("answer") or "")
            if kind == "agent_message":
                by_agent = True
                pieces.append(text)
            elif kind == "message_replace" or (kind == "message" and by_agent):
                pieces = [text]  # an agent closes with its whole answer, once more
            elif kind == "message":
                pieces.append(text)
            elif kind == "message_end":
                return "".join(pieces), _resources(event)
            elif kind == "error" or (kind == "workflow_finished" and _status(event) == "failed"):
                raise self._wire.failure("stream_error", f"broke off its answer: {_reason(event)}", self._url)
        raise self._wire.truncated(f"ended its stream without 'message_end', after {len(pieces)} pieces", self._url)


def cut_at_word(text: str, limit: int) -> str:
    """Return ``text`` if it has at most ``limit`` characters, else what fits of it up to the last end of a word.

    A text without a blank in its second half (Chinese, or one long name) is cut at ``limit``.
    """
    if len(text) <= limit:
        return text
    head = text[:limit]
    if text[limit].isspace():
        return head.rstrip()
    blank = max(head.rfind(mark) for mark in " \t\n\u3000")
    return head[:blank].rstrip() if blank >= limit // 2 else head


def open_dify(config: Path, *, secret: Callable[[str], str], timeout_s: float) -> Target:
    """Return the target that the configuration describes (``docs/evaluation-targets.md``).

    Raises:
        UsageError: The configuration is wrong, or the variable that holds the key is not set.
    """
    table = read_config(config)
    base = checked_url(table.text("base_url"), where=table.where("base_url"))
    mode = table.text("mode", one_of=("retrieve", "chat"))
    wire = Wire(key_options(table.text("api_key_env"), secret=secret, timeout_s=timeout_s))
    rules, provenance = read_rules(table), flattened(table.values)
    if mode == "retrieve":
        target: Target = DifyRetrieve(
            f"{base}/datasets/{table.text('dataset_id')}/retrieve",
            wire,
            name=table.text("name", config.stem),
            model=_read_model(table.table("retrieval_model")),
            rules=rules,
            metadata=read_metadata(table),
            provenance=provenance,
        )
    else:
        target = DifyChat(
            base,
            wire,
            name=table.text("name", config.stem),
            streaming=table.flag("streaming", default=False),
            inputs=table.table("inputs").rest(),
            rules=rules,
            refusals=refusal_phrases(table),
            cited_as_hits=table.flag("cited_as_hits", default=False),
            provenance=provenance,
        )
    table.finish()
    return target


def _read_model(table: Table) -> dict[str, Any]:
    """Return the retrieval model to send; Dify wants the first three keys, and without any would choose ``top_k``."""
    return {
        "search_method": table.text("search_method", one_of=SEARCH_METHODS),
        "reranking_enable": table.flag("reranking_enable", default=False),
        "score_threshold_enabled": table.flag("score_threshold_enabled", default=False),
        **table.rest(),
    }


def _of_record(record: Any, names: Metadata) -> Loose:
    segment = record.get("segment") if isinstance(record, dict) else None
    if not isinstance(segment, dict):
        return Loose()
    document = segment.get("document")
    document = document if isinstance(document, dict) else {}
    known = _metadata(document.get("doc_metadata"))
    return Loose(
        file=known.get(names.file) or document.get("name"),
        start=known.get(names.start),
        end=known.get(names.end),
        text=segment.get("content"),
        score=record.get("score"),
    )


def _of_resource(resource: Any) -> Loose:
    if not isinstance(resource, dict):
        return Loose()
    return Loose(
        file=resource.get("document_name"), text=resource.get("content"), score=number_of(resource.get("score"))
    )


def _metadata(value: Any) -> Mapping[str, Any]:
    """Return metadata by name: Dify gives an object, a list of name and value, or nothing."""
    if isinstance(value, dict):
        return value
    rows: Iterable[Any] = value if isinstance(value, list) else ()
    return {str(row.get("name")): row.get("value") for row in rows if isinstance(row, dict)}


def _resources(said: Mapping[str, Any]) -> list[Any]:
    metadata = said.get("metadata")
    found = metadata.get("retriever_resources") if isinstance(metadata, dict) else None
    return found if isinstance(found, list) else []


def _status(event: Mapping[str, Any]) -> Any:
    data = event.get("data")
    return data.get("status") if isinstance(data, dict) else None


def _reason(event: Mapping[str, Any]) -> str:
    data = event.get("data")
    said = event.get("message") or (data.get("error") if isinstance(data, dict) else None) or "no reason given"
    return f"{event.get('code') or event.get('event')}: {said}"
