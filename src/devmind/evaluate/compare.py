"""The scores of two runs over one dataset → by how much they differ in each measure, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from devmind.errors import UsageError
from devmind.evaluate.measures import lower_is_better
from devmind.evaluate.statistics import Floats, effect_size, estimates, holm, sign_flips
from devmind.evaluate.types import Comparison, Difference, Scores

_TIE = 1e-12  # a difference that rounding alone makes is a tie


def compare(baseline: Scores, candidate: Scores, *, measures: Sequence[str] | None = None) -> Comparison:
    """Return candidate minus baseline by measure, paired by topic.

    Args:
        measures: which to compare; Holm's correction is over these, so name few (`measures.HEADLINE`). By default
            all that both scores have.

    Raises:
        UsageError: the scores are of different datasets, topics or rules of matching, or lack a measure.
    """
    _check_comparable(baseline, candidate)
    names = _common_measures(baseline, candidate, measures)
    differences = _differences(baseline, candidate, names)
    found = estimates(differences, [topic.repo for topic in baseline.topics])
    ps = sign_flips(differences)
    made = {}
    for i, (name, p_holm) in enumerate(zip(names, holm(ps), strict=True)):
        by_topic = {
            topic.topic_id: float(value)
            for topic, value in zip(baseline.topics, differences[:, i], strict=True)
            if not math.isnan(value)
        }
        better = [-value if lower_is_better(name) else value for value in by_topic.values()]
        n_wins, n_losses = sum(value > _TIE for value in better), sum(value < -_TIE for value in better)
        made[name] = Difference(
            measure=name,
            baseline=baseline.overall[name].mean,
            candidate=candidate.overall[name].mean,
            estimate=found[i],
            p=ps[i],
            p_holm=p_holm,
            effect_size=effect_size(list(by_topic.values())),
            n_wins=n_wins,
            n_losses=n_losses,
            n_ties=len(better) - n_wins - n_losses,
            by_topic=by_topic,
        )
    return Comparison(baseline.system, candidate.system, made)


def _check_comparable(baseline: Scores, candidate: Scores) -> None:
    names = f"baseline {baseline.system!r} and candidate {candidate.system!r}"
    if baseline.match != candidate.match:
        raise UsageError(f"{names} match by {baseline.match!r} and {candidate.match!r}: score both by one rule")
    if baseline.dataset_hash != candidate.dataset_hash:
        hashes = f"{baseline.dataset_hash!r} and {candidate.dataset_hash!r}"
        raise UsageError(f"{names} are of different datasets ({hashes}): score both against one", code="other_dataset")
    ours = {topic.topic_id for topic in baseline.topics}
    theirs = {topic.topic_id for topic in candidate.topics}
    if ours != theirs:
        example = min(ours ^ theirs)
        side = "baseline" if example in ours else "candidate"
        raise UsageError(f"{names}: only the {side} has topic {example!r}; score both over one dataset")


def _common_measures(baseline: Scores, candidate: Scores, measures: Sequence[str] | None) -> list[str]:
    if measures is None:
        return [name for name in baseline.overall if name in candidate.overall]
    for name in measures:
        for scores in (baseline, candidate):
            if name not in scores.overall:
                raise UsageError(f"scores of {scores.system!r} have no measure {name!r}: use one of theirs")
    return list(dict.fromkeys(measures))


def _differences(baseline: Scores, candidate: Scores, names: Sequence[str]) -> Floats:
    """Return shape (n_topics, n_measures), topics as in the baseline; NaN where one side is not defined."""
    theirs = {topic.topic_id: topic.measures for topic in candidate.topics}
    rows = []
    for topic in baseline.topics:
        other = theirs[topic.topic_id]
        rows.append([_minus(other.get(name), topic.measures.get(name)) for name in names])
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(names))


def _minus(candidate: float | None, baseline: float | None) -> float:
    return math.nan if candidate is None or baseline is None else candidate - baseline
