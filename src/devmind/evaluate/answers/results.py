"""What is known of the answers of a run: values that nothing here computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from devmind.evaluate.agreement import Agreement
from devmind.evaluate.answers.cosines import Cosines
from devmind.evaluate.answers.entailment import Finding
from devmind.evaluate.answers.human import Acceptability
from devmind.evaluate.answers.judge import Duel, Judgement
from devmind.evaluate.answers.material import Outcome
from devmind.evaluate.answers.nulls import Null
from devmind.evaluate.answers.raters import Duels, ScaleAgreement
from devmind.evaluate.answers.scenarios import Calibration, Scenario
from devmind.evaluate.types import Estimate


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of an answer and what the cited text says to it."""

    text: str
    finding: Finding | Null


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """All that is known of one topic's answer. ``forced``: Correctness had to be high, by the angles alone."""

    topic_id: str
    repo: str
    outcome: Outcome
    measures: Mapping[str, float | None]
    cosines: Cosines
    scenario: Scenario | None = None
    forced: bool = False
    statements: tuple[Statement, ...] = ()
    judgement: Judgement | None = None
    duel: Duel | None = None


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """The quality of a run's answers.

    Attributes:
        outcomes: Topics by what became of them.
        measures: Means with 95 % intervals, clustered by repository.
        scenarios: Topics by scenario; those without one are the rest.
        nulls: Instrument (``judge``, ``pairwise``, ``entailment``) → kind of null → how many.
        n_stale: Labels of people that are of another answer.
    """

    system: str
    dataset: str
    dataset_hash: str
    embedder: str
    judge: str
    entailer: str
    outcomes: Mapping[Outcome, int]
    measures: Mapping[str, Estimate]
    calibration: Calibration
    scenarios: Mapping[Scenario, int]
    n_forced: int
    topics: Sequence[AnswerScore]
    nulls: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    repeats: Mapping[str, Agreement] = field(default_factory=dict)
    people: Mapping[str, ScaleAgreement] = field(default_factory=dict)
    acceptability: Acceptability | None = None
    n_stale: int = 0
    other: str = ""
    duels: Duels | None = None
