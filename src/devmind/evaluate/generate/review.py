"""A person's decisions about generated topics: accepted, rejected, or still open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from devmind.errors import UsageError
from devmind.evaluate.datasets.faults import dataset_of
from devmind.evaluate.types import Dataset, Topic


def decided(topics: Sequence[Topic], *, accept: Sequence[str], reject: Sequence[str]) -> list[Topic]:
    """Return the topics with their new status; a decision may be taken back by another one.

    Raises:
        UsageError: an id is unknown, or both accepted and rejected.
    """
    ids = {topic.topic_id for topic in topics}
    unknown = [one for one in (*accept, *reject) if one not in ids]
    if unknown:
        raise UsageError(f"no topic has the id {unknown[0]!r}; 'devmind eval review FILE' lists those that are open")
    both = sorted(set(accept) & set(reject))
    if both:
        raise UsageError(f"topic {both[0]!r} cannot be both accepted and rejected: decide")
    accepted, rejected = set(accept), set(reject)
    return [
        replace(topic, status="accepted")
        if topic.topic_id in accepted
        else replace(topic, status="rejected")
        if topic.topic_id in rejected
        else topic
        for topic in topics
    ]


def counts(topics: Sequence[Topic]) -> dict[str, int]:
    found = Counter(topic.status for topic in topics)
    return {status: found[status] for status in ("accepted", "rejected", "pending")}


def accepted_only(dataset: Dataset) -> Dataset:
    """Return the dataset with the topics that a person accepted.

    Raises:
        UsageError: there is none: a measurement over no topics would say nothing.
    """
    kept = [topic for topic in dataset.topics if topic.status == "accepted"]
    if not kept:
        found = counts(dataset.topics)
        raise UsageError(
            f"dataset '{dataset.name}' has no accepted topic ({found['pending']} pending, "
            f"{found['rejected']} rejected): read them with 'devmind eval review FILE' and accept those that are right",
            code="none_accepted",
        )
    return dataset_of(dataset.name, kept)
