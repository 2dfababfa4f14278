"""OpenAI-compatible endpoints: topics → vector-store search (hits) or a chat completion (an answer that cites).

Source: OpenAI API reference, "Search vector store" and "Create chat completion".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from devmind.evaluate.targets.config import Metadata, flattened, read_config, read_metadata, read_rules
from devmind.evaluate.targets.hits import Loose, Rules, to_hits
from devmind.evaluate.targets.prose import cited_places, cited_spans, refusal_phrases, refuses
from devmind.evaluate.targets.types import ANSWER_CUT, K_LIMITED, Target
from devmind.evaluate.types import Response, Topic
from devmind.models.wire import Wire, checked_url, key_options

MAX_RESULTS: Final = 50  # the most that the search gives
# The form of a citation is asked for, or no answer of a general model could be checked.
SYSTEM: Final = (
    "You answer questions about a code repository. Cite every place that supports your answer as "
    "`path:symbol (L10-L20)`, with the path relative to the repository's root. If the repository does not hold the "
    'answer, begin with "Not found in the indexed code".'
)


class VectorStore:
    """The search of one vector store.

    Args:
        extra: Further keys of the body, such as ``filters`` or ``rewrite_query``.
    """

    def __init__(
        self,
        url: str,
        wire: Wire,
        *,
        name: str,
        extra: Mapping[str, Any],
        rules: Rules,
        metadata: Metadata,
        provenance: Mapping[str, str],
    ) -> None:
        self._url = url
        self._wire = wire
        self._name = name
        self._extra = dict(extra)
        self._rules = rules
        self._metadata = metadata
        self._provenance = dict(provenance)

    @property
    def name(self) -> str:
        return self._name

    def respond(self, topic: Topic, *, k: int) -> Response:
        """See `Target`. More hits than the endpoint gives are not asked for, and the response is noted so."""
        body = {"query": topic.query, "max_num_results": min(k, MAX_RESULTS), **self._extra}
        said = self._wire.ask(self._url, body)
        data = said.get("data") if isinstance(said, dict) else None
        if not isinstance(data, list):
            raise self._wire.failure("bad_shape", "answered without a list 'data'; is it a vector store?", self._url)
        hits, dropped = to_hits((_of_result(item, self._metadata) for item in data), self._rules)
        return Response(topic.topic_id, hits=hits, dropped=dropped, notes=(K_LIMITED,) if k > MAX_RESULTS else ())

    def close(self) -> None:
        self._wire.close()

    def settings(self) -> Mapping[str, str]:
        return self._provenance


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How a chat model is asked, and its name. ``extra`` are further keys of the body, such as ``temperature``."""

    name: str
    model: str
    system: str = SYSTEM
    extra: Mapping[str, Any] = field(default_factory=dict)
    refusals: tuple[str, ...] = ()
    cited_as_hits: bool = True


class Chat:
    """A chat model, or whatever stands behind an endpoint of that form."""

    def __init__(
        self, base_url: str, wire: Wire, options: ChatOptions, *, rules: Rules, provenance: Mapping[str, str]
    ) -> None:
        self._url = f"{base_url}/chat/completions"
        self._wire = wire
        self._options = options
        self._rules = rules
        self._provenance = dict(provenance)

    @property
    def name(self) -> str:
        return self._options.name

    def respond(self, topic: Topic, *, k: int) -> Response:
        """See `Target`. Such an endpoint lists no hits; unless told otherwise, the places it cites stand for them."""
        options = self._options
        messages = [{"role": "user", "content": topic.query}]
        if options.system:
            messages.insert(0, {"role": "system", "content": options.system})
        said = self._wire.ask(self._url, {"model": options.model, "messages": messages, **options.extra})
        choice = self._choice(said)
        answer, refused = _content(choice)
        if answer is None:
            raise self._wire.failure("bad_shape", "answered without text in choices[0].message.content", self._url)
        places = cited_places(answer, self._rules)
        return Response(
            topic.topic_id,
            hits=places if options.cited_as_hits else (),
            answer=answer,
            cited=cited_spans(places),
            abstained=refused or refuses(answer, options.refusals),
            notes=(ANSWER_CUT,) if choice.get("finish_reason") == "length" else (),
        )

    def close(self) -> None:
        self._wire.close()

    def settings(self) -> Mapping[str, str]:
        return self._provenance

    def _choice(self, said: Any) -> Mapping[str, Any]:
        choices = said.get("choices") if isinstance(said, dict) else None
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            raise self._wire.failure("bad_shape", "answered without 'choices'; is it a chat endpoint?", self._url)
        return choices[0]


def open_openai(config: Path, *, secret: Callable[[str], str], timeout_s: float) -> Target:
    """Return the target that the configuration describes (``docs/evaluation-targets.md``).

    Raises:
        UsageError: The configuration is wrong, or the variable that holds the key is not set.
    """
    table = read_config(config)
    base = checked_url(table.text("base_url"), where=table.where("base_url"))
    mode = table.text("mode", one_of=("vector_store", "chat"))
    wire = Wire(key_options(table.text("api_key_env", ""), secret=secret, timeout_s=timeout_s))
    rules, extra = read_rules(table), table.table("body").rest()
    if mode == "vector_store":
        target: Target = VectorStore(
            f"{base}/vector_stores/{table.text('vector_store_id')}/search",
            wire,
            name=table.text("name", config.stem),
            extra=extra,
            rules=rules,
            metadata=read_metadata(table),
            provenance=flattened(table.values),
        )
    else:
        options = ChatOptions(
            name=table.text("name", config.stem),
            model=table.text("model"),
            system=table.text("system", SYSTEM),
            extra=extra,
            refusals=refusal_phrases(table),
            cited_as_hits=table.flag("cited_as_hits", default=True),
        )
        provenance = {**flattened(table.values), "system": options.system}
        target = Chat(base, wire, options, rules=rules, provenance=provenance)
    table.finish()
    return target


def _of_result(item: Any, names: Metadata) -> Loose:
    if not isinstance(item, dict):
        return Loose()
    attributes = item.get("attributes")
    attributes = attributes if isinstance(attributes, dict) else {}
    return Loose(
        file=attributes.get(names.file) or item.get("filename"),
        start=attributes.get(names.start),
        end=attributes.get(names.end),
        text=_joined(item.get("content")),
        score=item.get("score"),
    )


def _joined(content: Any) -> Any:
    """Return the text of the parts of a result, or what is there instead of parts."""
    if not isinstance(content, list):
        return content
    return "\n".join(p["text"] for p in content if isinstance(p, dict) and isinstance(p.get("text"), str))


def _content(choice: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Return the text of a choice and whether it is the model's own refusal."""
    message = choice.get("message")
    if not isinstance(message, dict):
        return None, False
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        return refusal, True
    content = message.get("content")
    return (content if isinstance(content, str) else None), False
