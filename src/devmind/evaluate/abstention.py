"""A dataset and a run → how often the system refuses what does not exist, and what does.

An endpoint that failed, or gave no response, has refused nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from devmind.evaluate.statistics import auroc, mean
from devmind.evaluate.types import Dataset, Response, Run


@dataclass(frozen=True, slots=True)
class Abstention:
    """Rates are None where there is no topic of that kind.

    ``confidence_auroc``: the chance that the system is more confident of a topic that has an answer than of a trap.
    """

    n_traps: int
    refusal_rate: float | None
    n_answerable: int
    false_refusal_rate: float | None
    confidence_auroc: float | None


def refuses_trap(response: Response | None) -> bool:
    """Return whether a trap was refused: the system abstains, or returns nothing at all."""
    if response is None or response.failure is not None:
        return False
    return response.abstained or not response.hits


def refuses_falsely(response: Response | None) -> bool:
    """Return whether the system abstains from a topic that has an answer. No hits alone is a miss, not a refusal."""
    return response is not None and response.failure is None and response.abstained


def abstention(dataset: Dataset, run: Run) -> Abstention:
    """Return the rates over traps and over topics with a truth, and how well confidence tells both apart."""
    traps = [run.responses.get(topic.topic_id) for topic in dataset.topics if topic.is_trap]
    answerable = [run.responses.get(topic.topic_id) for topic in dataset.topics if topic.truths]
    return Abstention(
        n_traps=len(traps),
        refusal_rate=mean([float(refuses_trap(response)) for response in traps]),
        n_answerable=len(answerable),
        false_refusal_rate=mean([float(refuses_falsely(response)) for response in answerable]),
        confidence_auroc=auroc(_confidences(answerable), _confidences(traps)),
    )


def _confidences(responses: list[Response | None]) -> list[float]:
    return [r.confidence for r in responses if r is not None and r.failure is None and r.confidence is not None]
