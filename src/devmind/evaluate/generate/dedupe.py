"""Topics → the same without those that ask what an earlier one asks already."""

from __future__ import annotations

from collections.abc import Sequence

from devmind.evaluate.datasets.check import overlap
from devmind.evaluate.datasets.near import SAME, SAME_WITH_COMMON_TRUTH, near_pairs
from devmind.evaluate.types import Topic


def without_duplicates(topics: Sequence[Topic], *, known: Sequence[Topic] = ()) -> tuple[list[Topic], int]:
    """Return the topics that are new, in order, and how many were left out.

    Nearly the same words are the same question; words that are less alike are, if an answer is common to both (as in
    `dataset check`). Topics about different commits have no answer in common.

    Args:
        known: topics that are there already and stay; one of the same id is the same topic.
    """
    ids = {topic.topic_id for topic in known}
    everything = [*known, *(topic for topic in topics if topic.topic_id not in ids)]
    out: set[int] = set()
    pairs = near_pairs([topic.query for topic in everything], threshold=SAME_WITH_COMMON_TRUTH)
    for earlier, later, similarity in pairs:
        same_repo = everything[earlier].repo == everything[later].repo
        if earlier not in out and same_repo and _same(everything[earlier], everything[later], similarity):
            out.add(later)
    kept = [topic for at, topic in enumerate(everything) if at >= len(known) and at not in out]
    return kept, len(topics) - len(kept)


def _same(one: Topic, other: Topic, similarity: float) -> bool:
    if similarity >= SAME:
        return True
    return one.commit == other.commit and any(overlap(a.span, b.span) for a in one.truths for b in other.truths)
