"""Measured runs → one ``Report``: what is shown first, how runs differ, which topics were won and lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from devmind.evaluate.compare import compare
from devmind.evaluate.measured import Asked, Measured
from devmind.evaluate.measures import FALSE_REFUSAL, REFUSAL, UNMAPPED, depth, lower_is_better
from devmind.evaluate.runner import failures_by_kind
from devmind.evaluate.types import Comparison, Difference, Estimate, Scores

# What a reader looks at first, in this order; "{k}" is the deepest cut-off of the run, "{top}" 5 or the nearest to it.
_SHOWN: Final = (
    "nDCG@{k}", "Recall@{top}", "Recall@{k}", "hit@{top}", "RR@{k}", "file Recall@{k}", "file nDCG@{k}", "AP",
    "Precision@{k}", "line Recall@{k}", "line Precision@{k}", "chain@{k}", "tokens@{k}", REFUSAL, FALSE_REFUSAL,
    UNMAPPED,
)  # fmt: skip
# What is compared when nothing else is asked for: few, because Holm's correction counts them all.
_COMPARED: Final = ("nDCG@{k}", "Recall@{top}", "Recall@{k}", "RR@{k}", "file Recall@{k}", "file nDCG@{k}")
_TOP: Final = 5  # hits that fit on a screen, and into a prompt

MEANINGS: Final[Mapping[str, str]] = {
    "nDCG": "how near the ranking is to the ideal one, strong answers first",
    "Recall": "share of the labelled spans among the first k hits",
    "hit": "share of topics with a right hit among the first k",
    "RR": "1 / rank of the first right hit; its mean is MRR",
    "AP": "precision at each span's rank; its mean is MAP",
    "Precision": "share of right hits among the first k",
    "line Recall": "share of the labelled lines that the first k hits hold",
    "line Precision": "share of labelled lines among the lines of the first k hits",
    "file Recall": "as Recall, by whole files",
    "file nDCG": "as nDCG, by whole files",
    "chain": "share of neighbouring steps that were both found",
    "tokens": "tokens of the first k hits: what a model would have to read",
    REFUSAL: "share of questions about things that do not exist that were refused",
    FALSE_REFUSAL: "share of answerable questions that were refused",
    UNMAPPED: "share of hits whose text was not found in the code",
}


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a report shows. With comparisons, the first run is the baseline and the others follow in order."""

    asked: Asked
    runs: tuple[Measured, ...]
    comparisons: tuple[Comparison, ...]
    measures: tuple[str, ...]  # shown first
    primary: str  # the measure that topics are ordered by
    provenance: Mapping[str, str]


def make_report(
    asked: Asked,
    runs: Sequence[Measured],
    *,
    provenance: Mapping[str, str],
    with_baseline: bool = False,
    measures: Sequence[str] = (),
) -> Report:
    """Return the report over ``runs``, whose names should differ (`with_own_names`).

    Args:
        with_baseline: compare every other run with the first.
        measures: what is compared and shown first; by default the usual ones that the runs have.

    Raises:
        UsageError: the runs are not of one dataset and one rule, or one lacks a measure.
    """
    scores = [measured.scores for measured in runs]
    shown = tuple(measures) or shown_measures(scores)
    compared = list(measures) or list(compared_measures(scores))
    comparisons = tuple(compare(scores[0], other, measures=compared) for other in scores[1:]) if with_baseline else ()
    return Report(asked, tuple(runs), comparisons, shown, primary_measure(scores, shown), provenance)


def shown_measures(scores: Sequence[Scores]) -> tuple[str, ...]:
    """Return the measures that a reader sees first: the usual ones that are defined for some topic of every run."""
    return _chosen(_SHOWN, scores)


def compared_measures(scores: Sequence[Scores]) -> tuple[str, ...]:
    """Return the few measures that are compared unless others are asked for."""
    return _chosen(_COMPARED, scores) or _chosen(_SHOWN, scores)


def primary_measure(scores: Sequence[Scores], shown: Sequence[str]) -> str:
    """Return the measure that topics are ordered by: the first that is shown and defined."""
    defined = (name for name in shown if any(_mean(one, name) is not None for one in scores))
    return next(defined, shown[0] if shown else REFUSAL)


def meaning(measure: str) -> str:
    """Return what a measure says, in a few words; "" for one that is not explained."""
    return MEANINGS.get(measure.partition("@")[0], "")


def shown_groups(scores: Scores) -> dict[str, Mapping[str, Mapping[str, Estimate]]]:
    """Return the groupings that divide the topics; one with a single value says what the whole says."""
    return {name: values for name, values in scores.groups.items() if len(values) > 1}


def outcomes(scores: Scores) -> dict[str, int]:
    """Return how many topics ended how, most frequent first."""
    return dict(Counter(topic.outcome for topic in scores.topics).most_common())


def counted(items: Iterable[str]) -> dict[str, int]:
    return dict(Counter(items).most_common())


def failures(measured: Measured) -> dict[str, int]:
    ids = {topic.topic_id for topic in measured.scores.topics}
    return failures_by_kind({name: r for name, r in measured.run.responses.items() if name in ids})


def extremes(difference: Difference, n: int) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """Return the worst and the best topics of a comparison, (id, candidate minus baseline), the furthest first."""
    sign = -1 if lower_is_better(difference.measure) else 1
    ordered = sorted(difference.by_topic.items(), key=lambda item: (sign * item[1], item[0]))
    worst = [item for item in ordered if sign * item[1] < 0][:n]
    best = [item for item in reversed(ordered) if sign * item[1] > 0][:n]
    return worst, best


def with_own_names(runs: Sequence[Measured], labels: Sequence[str]) -> list[Measured]:
    """Return the runs with names that differ: a name that several have gets the run's label, then its number."""
    names = [measured.run.system for measured in runs]
    seen: Counter[str] = Counter()
    renamed = []
    for measured, name, label in zip(runs, names, labels, strict=True):
        own = f"{name} ({label})" if names.count(name) > 1 and label else name
        seen[own] += 1
        renamed.append(_named(measured, own if seen[own] == 1 else f"{own} #{seen[own]}"))
    return renamed


def _named(measured: Measured, name: str) -> Measured:
    run = replace(measured.placed.run, system=name)
    return replace(
        measured,
        raw=replace(measured.raw, system=name),
        placed=replace(measured.placed, run=run),
        scores=replace(measured.scores, system=name),
    )


def _chosen(templates: Sequence[str], scores: Sequence[Scores]) -> tuple[str, ...]:
    depths = sorted({k for one in scores for name in one.overall if (k := depth(name)) is not None})
    common = [k for k in depths if all(f"nDCG@{k}" in one.overall for one in scores)]
    k = max(common, default=0)
    top = min(common, key=lambda value: (abs(value - _TOP), value), default=0)
    names = dict.fromkeys(template.format(k=k, top=top) for template in templates)
    return tuple(name for name in names if all(_mean(one, name) is not None for one in scores))


def _mean(scores: Scores, measure: str) -> float | None:
    found = scores.overall.get(measure)
    return found.mean if found else None
