"""Any JSON endpoint, by configuration: a request with the question put in, and JSONPath to what the answer holds.

Source: RFC 9535 (JSONPath).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit

from devmind.errors import UsageError
from devmind.evaluate.targets.config import Table, flattened, read_config, read_rules
from devmind.evaluate.targets.hits import Loose, Rules, number_of, to_hits
from devmind.evaluate.targets.prose import cited_places, cited_spans, refusal_phrases, refuses
from devmind.evaluate.targets.template import PER_TOPIC, as_it_is, fill, in_json, in_url, placeholders, resolve_secrets
from devmind.evaluate.types import Response, Topic
from devmind.models.wire import Wire, WireOptions, checked_url

if TYPE_CHECKING:
    from jsonpath import JSONPath

METHODS: Final = ("GET", "POST", "PUT")
HIT_FIELDS: Final = ("file", "start", "end", "text", "score", "symbol")
# Where a key would stand; its value must come from the environment.
_SECRET_NAMES: Final = frozenset(
    {"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "apikey", "api_key", "key", "token",
     "access_token", "x-auth-token"}
)  # fmt: skip
# A question that breaks a body in which a placeholder stands at a wrong place.
_HARD_QUERY: Final = 'a "quoted"\n\\ {line} 中'


@dataclass(frozen=True, slots=True)
class Request:
    """Templates of one request. ``body`` is JSON once its placeholders are filled; empty for none."""

    url: str
    method: str
    body: str


@dataclass(frozen=True, slots=True)
class Reading:
    """Paths into the answer. ``hit_fields`` start at one hit, the others at the whole answer; absent: not given."""

    hits: JSONPath | None
    hit_fields: Mapping[str, JSONPath]
    answer: JSONPath | None
    confidence: JSONPath | None
    abstained: JSONPath | None
    refusals: tuple[str, ...]
    cited_as_hits: bool


class Generic:
    """A system that the configuration describes."""

    def __init__(
        self,
        request: Request,
        reading: Reading,
        wire: Wire,
        *,
        name: str,
        secrets: Mapping[str, str],
        rules: Rules,
        provenance: Mapping[str, str],
    ) -> None:
        self._request = request
        self._reading = reading
        self._wire = wire
        self._name = name
        self._secrets = dict(secrets)
        self._rules = rules
        self._provenance = dict(provenance)

    @property
    def name(self) -> str:
        return self._name

    def respond(self, topic: Topic, *, k: int) -> Response:
        """See `Target`."""
        values = {"query": topic.query, "k": str(k), "repo": topic.repo, **self._secrets}
        url = fill(self._request.url, values, escape=in_url)
        body = fill(self._request.body, values, escape=in_json) if self._request.body else None
        said = self._wire.ask(url, body, method=self._request.method)
        reading = self._reading
        hits, dropped = to_hits((self._loose(item) for item in self._items(said, url)), self._rules)
        answer = self._answer(said, url)
        places = cited_places(answer, self._rules) if answer is not None else ()
        return Response(
            topic.topic_id,
            hits=places if reading.cited_as_hits and reading.hits is None else hits,
            answer=answer,
            cited=cited_spans(places),
            abstained=self._abstained(said, answer),
            confidence=number_of(_first(reading.confidence, said)),
            dropped=dropped,
        )

    def close(self) -> None:
        self._wire.close()

    def settings(self) -> Mapping[str, str]:
        return self._provenance

    def _items(self, said: Any, url: str) -> list[Any]:
        """Return the hits: what the path finds, or the members of the one array that it finds."""
        path = self._reading.hits
        if path is None:
            return []
        if not isinstance(said, dict | list):
            raise self._wire.failure(
                "bad_shape", f"answered {self._wire.shown(said)}, neither an object nor a list", url
            )
        found = path.findall(said)
        if len(found) == 1 and isinstance(found[0], list):
            return list(found[0])
        if not found and path.singular_query():  # a list that may be empty finds nothing, an absent key is a fault
            raise self._wire.failure("bad_shape", f"answered without {path}; check the path in response.list", url)
        return list(found)

    def _loose(self, item: Any) -> Loose:
        return Loose(**{field: _first(path, item) for field, path in self._reading.hit_fields.items()})

    def _answer(self, said: Any, url: str) -> str | None:
        if self._reading.answer is None:
            return None
        answer = _first(self._reading.answer, said)
        if not isinstance(answer, str):
            problem = f"answered without text at {self._reading.answer}; check the path in response.answer"
            raise self._wire.failure("bad_shape", problem, url)
        return answer

    def _abstained(self, said: Any, answer: str | None) -> bool:
        if self._reading.abstained is not None:
            return _first(self._reading.abstained, said) is True
        return answer is not None and refuses(answer, self._reading.refusals)


def open_generic(config: Path, *, secret: Callable[[str], str], timeout_s: float) -> Generic:
    """Return the target that the configuration describes (``docs/evaluation-targets.md``).

    Raises:
        UsageError: The configuration is wrong, holds a secret, or a variable that it names is not set.
    """
    table = read_config(config)
    url = table.text("url")
    method = table.text("method", "POST", one_of=METHODS)
    body = _read_body(table)
    request = Request(url=url, method=method, body=body)
    headers = _read_headers(table.table("headers"))
    named = [(table.where("url"), url), (table.where("body"), body)]
    secrets = resolve_secrets([*named, *((f"{config}: headers.{k}", v) for k, v in headers.items())], secret=secret)
    _check_request(request, table)
    rules, reading = read_rules(table), _read_reading(table)
    name = table.text("name", config.stem)
    table.finish()
    options = WireOptions(
        timeout_s=timeout_s,
        headers={key: fill(value, secrets, escape=as_it_is) for key, value in headers.items()},
        secrets=tuple(secrets.values()),
    )
    provenance = flattened(table.values)
    return Generic(request, reading, Wire(options), name=name, secrets=secrets, rules=rules, provenance=provenance)


def _read_body(table: Table) -> str:
    """Return the template of the body: text as it is, a table as JSON in which ``{{k}}`` is a number."""
    body = table.any("body", "")
    if isinstance(body, str):
        return body
    if not isinstance(body, dict):
        raise table.error("body", body, "must be a table, or text that is JSON once its placeholders are filled")
    return json.dumps(body, ensure_ascii=False).replace('"{{k}}"', "{{k}}")


def _read_headers(table: Table) -> dict[str, str]:
    headers = table.rest()
    for name, value in headers.items():
        if not isinstance(value, str):
            raise table.error(name, value, "must be a string")
        if set(placeholders(value)) & PER_TOPIC:
            raise table.error(name, value, "may hold {{env:NAME}} only; the question goes into url or body")
        if name.lower() in _SECRET_NAMES and not placeholders(value):
            raise _literal_secret(table.where(name))
    return headers


def _check_request(request: Request, table: Table) -> None:
    if "query" not in placeholders(request.url) + placeholders(request.body):
        raise table.error("url", request.url, "the question is sent nowhere: put {{query}} into url or body")
    if request.method == "GET" and request.body:
        raise table.error("body", request.body, "a GET request has none; put {{query}} into url, or set method")
    sample = dict.fromkeys(placeholders(request.url) + placeholders(request.body), _HARD_QUERY) | {"k": "10"}
    checked_url(fill(request.url, sample, escape=in_url), where=table.where("url"))
    for name, value in parse_qsl(urlsplit(request.url).query):
        if name.lower() in _SECRET_NAMES and not placeholders(value):
            raise _literal_secret(f"{table.where('url')}, parameter {name}")
    try:
        json.loads(fill(request.body, sample, escape=in_json) or "null")
    except ValueError as error:
        problem = f'is not JSON once its placeholders are filled ({error}); write "{{{{query}}}}" inside quotes'
        raise table.error("body", request.body, problem) from error


def _literal_secret(where: str) -> UsageError:
    problem = "a configuration holds no secrets: write {{env:NAME}}, the name of an environment variable that holds it"
    return UsageError(f"{where}: {problem}", code="bad_config")


def _read_reading(table: Table) -> Reading:
    response = table.table("response")
    hits, answer = _compiled(response, "list"), _compiled(response, "answer")
    if hits is None and answer is None:
        raise UsageError(
            f"{response.where('list')} is missing: give the path of the list of hits, or response.answer",
            code="bad_config",
        )
    fields = {field: path for field in HIT_FIELDS if (path := _compiled(response, field)) is not None}
    if hits is not None and not {"file", "text"} & fields.keys():
        raise UsageError(f"{response.where('file')} is missing: say where a hit's file or text is", code="bad_config")
    return Reading(
        hits=hits,
        hit_fields=fields,
        answer=answer,
        confidence=_compiled(response, "confidence"),
        abstained=_compiled(response, "abstained"),
        refusals=refusal_phrases(table),
        cited_as_hits=table.flag("cited_as_hits", default=True),
    )


def _compiled(table: Table, key: str) -> JSONPath | None:
    text = table.text(key, "")
    if not text:
        return None
    from jsonpath import JSONPath, JSONPathEnvironment, JSONPathError  # 0.14 s to import

    try:
        path = JSONPathEnvironment(strict=True).compile(text)
    except JSONPathError as error:
        reason = str(error).partition("\n")[0]
        raise table.error(key, text, f"is no JSONPath ({reason}); such as $.results[*] or $.path") from error
    assert isinstance(path, JSONPath), "unions are refused above: RFC 9535 has none"
    return path


def _first(path: JSONPath | None, value: Any) -> Any:
    if path is None:
        return None
    if not isinstance(value, dict | list):  # the library would read a string as JSON
        return value if path.empty() else None
    match = path.match(value)
    return None if match is None else match.value
