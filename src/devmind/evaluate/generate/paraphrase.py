"""Topics × a chat model → the same questions in other words, or in the other language. Optional.

A model that fails, answers with something else, or changes what is asked gives null: it is counted, and the run goes
on.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from devmind.errors import DevMindError
from devmind.evaluate.generate.features import features
from devmind.evaluate.generate.sentences import is_chinese
from devmind.evaluate.generate.topics import Lang, with_leak
from devmind.evaluate.runner import Clocks, RunOptions, ask
from devmind.evaluate.targets.config import read_config
from devmind.evaluate.targets.hits import Rules
from devmind.evaluate.targets.openai import Chat, ChatOptions
from devmind.evaluate.targets.types import Target
from devmind.evaluate.types import Topic
from devmind.models.wire import Wire, checked_url, key_options

SYSTEM: Final = (
    "You reword questions that programmers ask about a code repository. Keep the meaning exactly. Keep every "
    "identifier, path, route and product name letter for letter. Add no identifier, and do not answer the question. "
    'Reply with one JSON object and nothing else: {"question": "…"}'
)
_LANGUAGE: Final = {"en": "English", "zh": "Chinese"}
_IN_TICKS = re.compile(r"`([^`]+)`")
_MAX_CHARS: Final = 600
_ONE_RUN: Final = RunOptions()
_CLOCKS: Final = Clocks()


@dataclass(frozen=True, slots=True)
class Paraphrased:
    """The new topics, and how many questions gave none, by reason."""

    topics: tuple[Topic, ...]
    n_null: dict[str, int]


def open_paraphraser(config: Path, *, secret: Callable[[str], str], timeout_s: float = 60.0) -> Target:
    """Return the chat model that a configuration describes: ``base_url``, ``model``, ``api_key_env``, ``[body]``.

    Raises:
        UsageError: the configuration is wrong, or the variable that holds the key is not set.
    """
    table = read_config(config)
    base = checked_url(table.text("base_url"), where=table.where("base_url"))
    table.text("mode", "chat", one_of=("chat",))
    model = table.text("model")
    wire = Wire(key_options(table.text("api_key_env", ""), secret=secret, timeout_s=timeout_s))
    options = ChatOptions(
        name=table.text("name", config.stem),
        model=model,
        system=SYSTEM,
        extra=table.table("body").rest(),
        cited_as_hits=False,
    )
    table.finish()
    return Chat(base, wire, options, rules=Rules(), provenance={"model": model, "base_url": base})


def paraphrased(
    topics: Sequence[Topic],
    model: Target,
    *,
    langs: Sequence[Lang],
    n_at_once: int = 4,
    options: RunOptions = _ONE_RUN,
    clocks: Clocks = _CLOCKS,
) -> Paraphrased:
    """Ask for each topic in each language once; the answers are topics of their own, with the same labels.

    The order is that of the topics, whatever the model's speed.
    """
    wanted = [(topic, lang) for topic in topics for lang in langs]

    def reworded(pair: tuple[Topic, Lang]) -> Topic | str:
        return _reworded(*pair, model, options, clocks)

    with ThreadPoolExecutor(max_workers=max(1, n_at_once)) as pool:
        found = list(pool.map(reworded, wanted))
    n_null = Counter(one for one in found if isinstance(one, str))
    return Paraphrased(tuple(one for one in found if isinstance(one, Topic)), dict(sorted(n_null.items())))


def _reworded(topic: Topic, lang: Lang, model: Target, options: RunOptions, clocks: Clocks) -> Topic | str:
    prompt = f"Reword this question in {_LANGUAGE[lang]}:\n{topic.query}"
    try:
        response = ask(model, replace(topic, query=prompt), k=1, options=options, clocks=clocks)
    except DevMindError as error:
        return error.code
    if response is None or response.failure is not None:
        return response.failure.kind if response and response.failure else "missing"
    query = _question(response.answer or "")
    if not query:
        return "not_json"
    if not _same_meaning(topic, query, lang):
        return "changed_meaning"
    made = replace(
        topic,
        topic_id=f"{topic.topic_id}-p-{lang}",
        query=query,
        labels={**topic.labels, "query_lang": lang, "paraphrase": "yes"},
        provenance={**topic.provenance, "paraphrase_of": topic.topic_id, "model": model.settings().get("model", "")},
        status="pending",
    )
    return with_leak(made)


def _question(answer: str) -> str:
    """Return the question in a model's answer, which may stand in a fence or between other words; "" if none."""
    try:
        value = json.loads(answer[max(0, answer.find("{")) : answer.rfind("}") + 1])
    except (ValueError, RecursionError):
        return ""
    question = value.get("question") if isinstance(value, dict) else None
    return " ".join(question.split()) if isinstance(question, str) else ""


def _same_meaning(topic: Topic, query: str, lang: Lang) -> bool:
    """Return whether the question kept its names, is in the language that was asked for, and is another one."""
    folded = query.casefold()
    if folded == topic.query.casefold() or len(query) > _MAX_CHARS or is_chinese(query) != (lang == "zh"):
        return False
    if not all(any(name.casefold() in folded for name in names) for names in _kept_names(topic)):
        return False
    return topic.is_trap or not _gives_away(topic, query)


def _kept_names(topic: Topic) -> Iterator[Iterable[str]]:
    """Yield what must stand in every wording, as alternatives."""
    yield from ([name] for name in _IN_TICKS.findall(topic.query))
    what = topic.provenance.get("what", "")
    feature = next((one for one in features() if one.english == what), None)
    if feature:
        yield (feature.english, feature.chinese, *feature.names)
    elif what:
        yield [what]


def _gives_away(topic: Topic, query: str) -> bool:
    before = topic.labels.get("leak", "none")
    after = with_leak(replace(topic, query=query)).labels["leak"]
    return before == "none" and after != "none"
