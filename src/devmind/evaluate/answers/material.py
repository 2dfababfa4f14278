"""A dataset and a run → what each topic gives to measure: its outcome, its three texts, the spans that it cites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from devmind.errors import UsageError
from devmind.evaluate.answers.citations import Cited, read_cited
from devmind.evaluate.answers.cosines import CONTEXT_HITS, Texts
from devmind.evaluate.datasets.formats import Texts as Code
from devmind.evaluate.types import Dataset, Response, Run, Topic

Outcome = Literal["answered", "abstained", "failed", "missing", "no answer", "trap"]


@dataclass(frozen=True, slots=True)
class Material:
    """What one topic gives. Only an answered topic has an answer and cited spans."""

    topic: Topic
    outcome: Outcome
    texts: Texts
    cited: tuple[Cited, ...] = ()


def gather(dataset: Dataset, run: Run, code: Code | None) -> list[Material]:
    """Return the material of each topic, in order.

    Raises:
        UsageError: The run has no answer to any topic of the dataset.
    """
    _check_has_answers(dataset, run)
    return [_material(topic, run.responses.get(topic.topic_id), code) for topic in dataset.topics]


def answer_to(topic: Topic, run: Run) -> str:
    """Return the answer of ``run``, "" where it gave none or refused."""
    response = run.responses.get(topic.topic_id)
    return (response.answer or "") if response is not None and _outcome(topic, response) == "answered" else ""


def _material(topic: Topic, response: Response | None, code: Code | None) -> Material:
    """A refusal is no answer, but what was retrieved for it counts. A trap has nothing that could be compared."""
    outcome = _outcome(topic, response)
    if outcome == "trap":
        return Material(topic, outcome, Texts("", "", ""))
    if response is None or response.failure is not None:
        return Material(topic, outcome, Texts("", "", topic.reference_answer))
    retrieved = "\n".join(hit.text for hit in response.hits[:CONTEXT_HITS])
    if outcome != "answered":
        return Material(topic, outcome, Texts(retrieved, "", topic.reference_answer))
    texts = Texts(retrieved, response.answer or "", topic.reference_answer)
    return Material(topic, outcome, texts, read_cited(topic, response, code))


def _outcome(topic: Topic, response: Response | None) -> Outcome:
    if topic.is_trap:
        return "trap"
    if response is None:
        return "missing"
    if response.failure is not None:
        return "failed"
    if response.abstained:
        return "abstained"
    return "answered" if response.answer and response.answer.strip() else "no answer"


def _check_has_answers(dataset: Dataset, run: Run) -> None:
    known: Sequence[Response] = [r for topic in dataset.topics if (r := run.responses.get(topic.topic_id)) is not None]
    if not known:
        raise UsageError(
            f"run of {run.system!r} over dataset {run.dataset!r} has no topic of {dataset.name!r}: "
            "score it against its own dataset"
        )
    if all(not response.answer for response in known):
        raise UsageError(
            f"run of {run.system!r} has no answers, only hits: measure a target that answers, such as devmind:ask",
            code="no_answers",
        )
