"""A dataset and the published repositories → the topics to fit on, those to judge by, and why others are neither."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from devmind.errors import UsageError
from devmind.evaluate.datasets.faults import dataset_of
from devmind.evaluate.datasets.split import LABEL, assigned, read_half
from devmind.evaluate.types import Dataset, Topic

# With 30 topics to fit on the mean gain was .002 already (docs/retrieval.md): with fewer than 20 there is nothing to
# expect, and a difference over fewer than 5 held out says nothing.
MIN_DEVELOPMENT: Final = 20
MIN_HELD_OUT: Final = 5


@dataclass(frozen=True, slots=True)
class Halves:
    """``left_out``: how many topics were left out, by reason."""

    development: Dataset
    held_out: Dataset
    whole: Dataset
    left_out: Mapping[str, int]


def read_halves(
    path: Path, *, form: str, split: str, reason: str, now: datetime, known: Collection[str], repos: Sequence[str]
) -> Halves:
    """Read the topics that can be used, in two parts.

    Args:
        split: ``development``: the development half alone, of which a fifth is held out; the test half stays closed.
            ``all``: fit on the development half, judge by the test half, whose reading is logged.
        reason: why the test half is read.
        known: names of the published repositories.
        repos: take topics about these only, all if empty.

    Raises:
        UsageError: the dataset cannot be read, ``split`` is neither, or there are too few topics.
    """
    if split == "development":
        whole = read_half(path, "development", format=form, command="tune", reason=reason, now=now)
        topics = [replace(topic, labels={**topic.labels, LABEL: ""}) for topic in whole.topics]
    elif split == "all":
        whole = read_half(path, "all", format=form, command="tune", reason=reason, now=now)
        topics = list(whole.topics)
    else:
        raise UsageError(
            f"--split {split!r}: choose development (fit on four fifths of the development half, judge by the rest) or "
            "all (fit on the development half, judge by the test half)"
        )
    reasons = {topic.topic_id: _unusable(topic, known, repos) for topic in topics}
    usable = assigned([topic for topic in topics if not reasons[topic.topic_id]])
    left_out = Counter(why for why in reasons.values() if why)
    parts = {held: [topic for topic in usable if (topic.labels[LABEL] == "test") == held] for held in (False, True)}
    _refuse_few(whole, topics, parts, left_out=left_out, known=known, split=split)
    development, held_out = (dataset_of(whole.name, parts[held]) for held in (False, True))
    return Halves(development, held_out, whole, dict(left_out))


def _unusable(topic: Topic, known: Collection[str], repos: Sequence[str]) -> str:
    if topic.status != "accepted":
        return "not accepted"
    if not topic.truths:
        return "no ground truth"
    if repos and topic.repo not in repos:
        return "other repository"
    return "repository not indexed" if topic.repo and topic.repo not in known else ""


def _refuse_few(
    whole: Dataset,
    topics: Sequence[Topic],
    parts: Mapping[bool, Sequence[Topic]],
    *,
    left_out: Mapping[str, int],
    known: Collection[str],
    split: str,
) -> None:
    n_fit, n_held = len(parts[False]), len(parts[True])
    if n_fit >= MIN_DEVELOPMENT and n_held >= MIN_HELD_OUT:
        return
    told = f"{whole.name} has {n_fit} topics to fit on and {n_held} to judge by"
    told += f"; needed are {MIN_DEVELOPMENT} and {MIN_HELD_OUT}, with truths, about indexed repositories"
    if left_out:
        told += "; left out: " + ", ".join(f"{why} {n}" for why, n in left_out.items())
    absent = sorted({topic.repo for topic in topics if topic.repo and topic.repo not in known})
    if absent:
        told += f" (the dataset names {_few(absent)}, indexed are {_few(sorted(known))})"
    told += "; label more questions"
    if split == "development":
        told += ", or judge by the test half instead of a fifth of the others: --split all --reason TEXT"
    raise UsageError(told, code="too_few_topics")


def _few(names: Sequence[str]) -> str:
    return (
        ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "") if names else "none"
    )
