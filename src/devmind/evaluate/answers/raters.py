"""Grades of judge and people → how far they agree; duels → wins, and how far position alone decided.

A judge is worth what its agreement with people is worth: grades without it are a rumour.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from devmind.evaluate.agreement import Agreement, cohen_kappa, krippendorff_alpha, raw_agreement
from devmind.evaluate.answers.judge import Duel, Judgement, Preference
from devmind.evaluate.answers.nulls import Null
from devmind.evaluate.answers.rubric import CRITERIA, HIGHEST, LOWEST
from devmind.evaluate.statistics import estimate, sign_flip
from devmind.evaluate.types import Estimate

SCALE: Final = tuple(range(LOWEST, HIGHEST + 1))
_WON: Final[Mapping[Preference, float]] = {"ours": 1.0, "theirs": 0.0, "tie": 0.5}
_ORDER: Final[tuple[Preference, ...]] = ("theirs", "tie", "ours")


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """Two raters over the items that both rated."""

    first: str
    second: str
    raw: Agreement
    kappa: Agreement
    kappa_quadratic: Agreement


@dataclass(frozen=True, slots=True)
class ScaleAgreement:
    """All raters of one scale: Krippendorff's ordinal α, and each two."""

    alpha: Agreement
    pairs: tuple[RaterAgreement, ...]


@dataclass(frozen=True, slots=True)
class Duels:
    """Two runs in a judge's eyes.

    Attributes:
        win_rate: Share of topics where ours is better, a tie counts half.
        p: Two-sided, that ours and theirs win equally often (sign flips over topics).
        position_bias: -1 to 1: how much more often the first position was chosen than the second, whatever stood there;
            0 for a judge that does not look at the position, 1 for one that always takes the first.
        flip_share: Of the pairs of calls with a verdict, those that took the same position both times.
    """

    n_ours: int
    n_theirs: int
    n_ties: int
    n_null: int
    win_rate: Estimate
    p: float | None
    position_bias: Estimate
    flip_share: float | None
    repeat_agreement: Agreement


def rate_agreement(ratings: Mapping[str, Sequence[int | None]], scale: Sequence[int]) -> ScaleAgreement:
    """Return how far the raters agree; None is an item that a rater did not rate."""
    names = list(ratings)
    alpha = krippendorff_alpha([ratings[name] for name in names], level="ordinal", categories=scale)
    pairs = tuple(
        RaterAgreement(
            first,
            second,
            raw_agreement(ratings[first], ratings[second]),
            cohen_kappa(ratings[first], ratings[second], categories=scale),
            cohen_kappa(ratings[first], ratings[second], weights="quadratic", categories=scale),
        )
        for first, second in combinations(names, 2)
    )
    return ScaleAgreement(alpha, pairs)


def repeat_agreement(judgements: Sequence[Judgement]) -> dict[str, Agreement]:
    """Return by criterion the ordinal α of the repeats over all topics."""
    found = {}
    n = max((len(judgement.repeats) for judgement in judgements), default=0)
    for criterion in CRITERIA:
        rows = [
            [None if isinstance(grades := judged.repeats[number], Null) else grades[criterion] for judged in judgements]
            for number in range(n)
        ]
        found[criterion] = krippendorff_alpha(rows, level="ordinal", categories=SCALE)
    return found


def with_people(
    judgements: Sequence[Judgement], people: Mapping[str, Mapping[str, Mapping[str, int]]], *, judge: str
) -> dict[str, ScaleAgreement]:
    """Return by criterion how far the judge's mean grade, rounded half up, agrees with each person's.

    Args:
        people: Annotator → topic → criterion → grade.
        judge: What the judge is called beside them.
    """
    topics = list(dict.fromkeys([j.topic_id for j in judgements] + [t for said in people.values() for t in said]))
    by_topic = {judgement.topic_id: judgement for judgement in judgements}
    found = {}
    for criterion in CRITERIA:
        rows: dict[str, list[int | None]] = {
            judge: [_rounded(by_topic[t].mean(criterion) if t in by_topic else None) for t in topics]
        }
        for name, said in people.items():
            grades = [said.get(topic, {}).get(criterion) for topic in topics]
            if any(grade is not None for grade in grades):
                rows[name] = grades
        if len(rows) > 1:
            found[criterion] = rate_agreement(rows, SCALE)
    return found


def duels(found: Sequence[Duel], repos: Sequence[str]) -> Duels:
    """Return wins and position bias over topics; intervals are clustered by repository."""
    preferences = [duel.preference for duel in found]
    signs = [2 * _WON[p] - 1 for p in preferences if p is not None]
    rounds = [_both(duel, at) for duel in found for at in range(0, len(duel.choices), 2)]
    pairs = [pair for pair in rounds if pair is not None]
    flipped = sum(pair in (("first", "first"), ("second", "second")) for pair in pairs)
    return Duels(
        n_ours=preferences.count("ours"),
        n_theirs=preferences.count("theirs"),
        n_ties=preferences.count("tie"),
        n_null=preferences.count(None),
        win_rate=estimate(
            [None if p is None else {"ours": 1.0, "theirs": 0.0, "tie": 0.5}[p] for p in preferences], repos
        ),
        p=sign_flip(signs) if signs else None,
        position_bias=estimate([_bias(duel) for duel in found], repos),
        flip_share=flipped / len(pairs) if pairs else None,
        repeat_agreement=_rounds_agreement(found),
    )


def _rounds_agreement(found: Sequence[Duel]) -> Agreement:
    def number_of(said: Preference | Null) -> int | None:
        return None if isinstance(said, Null) else _ORDER.index(said)

    rounds = [[number_of(said) for said in duel.rounds] for duel in found]
    return krippendorff_alpha(list(zip(*rounds, strict=True)), level="ordinal", categories=range(len(_ORDER)))


def _both(duel: Duel, at: int) -> tuple[str, str] | None:
    first, second = duel.choices[at : at + 2]
    return None if isinstance(first, Null) or isinstance(second, Null) else (first, second)


def _bias(duel: Duel) -> float | None:
    """Return the mean over both orders, so that a better answer cancels out; None unless an order pair is whole."""
    pairs = [pair for at in range(0, len(duel.choices), 2) if (pair := _both(duel, at)) is not None]
    if not pairs:
        return None
    said = [{"first": 1.0, "second": -1.0, "tie": 0.0}[choice] for pair in pairs for choice in pair]
    return sum(said) / len(said)


def _rounded(value: float | None) -> int | None:
    return None if value is None else math.floor(value + 0.5)
