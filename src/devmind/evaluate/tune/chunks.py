"""Topics with labelled lines → the constants that order the chunks of a file and weigh them against other files.

They decide what a search shows, not only in which order files come, so they are judged by whole searches: half by the
right lines (nDCG@10), half by the right files. One constant after the other takes the best of a few values, if it is
better by more than chance would make it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from devmind.evaluate.score import score_topic
from devmind.evaluate.statistics import mean
from devmind.evaluate.targets.devmind import DevMindTarget
from devmind.evaluate.tune.choose import is_surely_better
from devmind.evaluate.tune.examples import K, Matrix
from devmind.evaluate.types import OnStep, Topic
from devmind.retrieve.weights import Weights
from devmind.settings import Settings

OBJECTIVE: Final = (f"nDCG@{K}", f"file nDCG@{K}")
# What each constant may be. In this order, since the penalty of further chunks decides most (docs/evaluation.md).
GRID: Final = (
    ("second_of_file", (0.75, 1.5, 3.0, 5.0)),
    ("chunk_share", (0.0, 0.25, 0.5, 1.0)),
    ("dense_sentence", (0.4, 0.55, 0.7, 0.85)),
    ("dense_symbolic", (0.1, 0.2, 0.4)),
)
SURE: Final = 0.01  # the p at which a value counts as better: a dozen are tried
MIN_TOPICS: Final = 20  # with labelled lines

Judge = Callable[[Weights], Matrix]


def has_lines(topic: Topic) -> bool:
    return any(not truth.span.whole_file for truth in topic.truths)


def choose_chunks(start: Weights, judge: Judge, *, progress: OnStep = lambda done, total: None) -> Weights:
    """Return ``start`` with the constants that ``judge`` finds surely better, topic by topic."""
    steps = sum(len(values) for _, values in GRID)
    done, weights, now = 0, start, judge(start)
    for name, values in GRID:
        tried = {}
        for value in values:
            if value != getattr(weights, name):
                other = _with(weights, name, value)
                tried[value] = (other, judge(other))
            done += 1
            progress(done, steps)
        better = {
            value: (other, found) for value, (other, found) in tried.items() if is_surely_better(found - now, sure=SURE)
        }
        if better:
            weights, now = max(better.values(), key=lambda item: float(item[1].mean()))
    return weights


def _with(weights: Weights, name: str, value: float) -> Weights:
    changed: dict[str, Any] = {name: value}
    return replace(weights, **changed)


def judge_of(settings: Settings, topics: Sequence[Topic]) -> Judge:
    """Return what searches every topic by some weights, and says what the hits are worth (n_topics,)."""

    def judge(weights: Weights) -> Matrix:
        target = DevMindTarget(settings, weights=weights)
        try:
            scored = [score_topic(topic, target.respond(topic, k=K), ks=[K]).measures for topic in topics]
        finally:
            target.close()
        return np.array([objective([measures[name] for name in OBJECTIVE]) for measures in scored])

    return judge


def objective(values: Sequence[float | None]) -> float:
    """Return the mean of the measures of `OBJECTIVE` that are defined: whole files have no right lines."""
    return mean(values) or 0.0
