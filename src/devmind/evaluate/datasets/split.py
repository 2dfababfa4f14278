"""The development and the test half of a dataset: who is in which, and a record of each look at the test half.

The half is the label ``split`` of a topic, written into the dataset: what is written never changes, so topics that are
added later move none. New topics are drawn by the hash of their id, so that every machine draws alike.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from devmind.errors import UsageError
from devmind.evaluate.datasets.faults import dataset_of
from devmind.evaluate.datasets.files import dump, read_json_lines
from devmind.evaluate.datasets.formats import read
from devmind.evaluate.types import Dataset, Topic

Half = Literal["development", "test", "all"]
HALVES: Final[tuple[Half, ...]] = ("development", "test", "all")
LABEL: Final = "split"
TEST_SHARE: Final = 0.2


@dataclass(frozen=True, slots=True)
class LoggedUse:
    """One reading of the test half."""

    date: str
    command: str
    dataset: str
    dataset_hash: str
    reason: str


def assigned(topics: Sequence[Topic], *, test_share: float = TEST_SHARE) -> list[Topic]:
    """Give each topic without one its half, so that each category, and in it each repository, is divided alike.

    In every category the test topics are within one of ``test_share`` of it, counting those that had their half
    before; the same topics give the same halves, in whatever order they stand. Where a category has too few topics
    of a repository for a share of their own, neighbouring repositories of the category share.
    """
    if not 0 < test_share < 1:
        raise UsageError(f"the test share is {test_share}; it must lie between 0 and 1, such as 0.2")
    by_category: dict[str, list[Topic]] = defaultdict(list)
    for topic in topics:
        by_category[topic.category].append(topic)
    chosen = {name for members in by_category.values() for name in _drawn(members, test_share)}
    return [
        topic
        if topic.labels.get(LABEL)
        else replace(topic, labels={**topic.labels, LABEL: "test" if topic.topic_id in chosen else "development"})
        for topic in topics
    ]


def _drawn(members: Sequence[Topic], test_share: float) -> set[str]:
    """Return the ids to draw: repository by repository, a topic is drawn when the share owed so far reaches one."""
    free_by_repo: dict[str, list[Topic]] = defaultdict(list)
    owed_by_repo: dict[str, float] = defaultdict(float)
    for topic in members:
        owed_by_repo[topic.repo] += test_share
        if topic.labels.get(LABEL) == "test":
            owed_by_repo[topic.repo] -= 1
        elif not topic.labels.get(LABEL):
            free_by_repo[topic.repo].append(topic)
    n_owed = math.floor(sum(owed_by_repo.values()) + 0.5)  # the category's, whatever its repositories owe each other
    chosen: list[str] = []
    rest: list[str] = []
    owed = 0.5
    for repo in sorted(owed_by_repo, key=_order):
        owed += owed_by_repo[repo]
        for topic in sorted(free_by_repo[repo], key=lambda topic: _order(topic.topic_id)):
            (chosen if owed >= 1 else rest).append(topic.topic_id)
            owed -= 1 if owed >= 1 else 0
    return set([*chosen, *sorted(rest, key=_order)][: max(0, n_owed)])


def _order(text: str) -> tuple[bytes, str]:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), text


def counts(topics: Sequence[Topic]) -> Mapping[str, Mapping[str, int]]:
    """Return how many topics of each category are in each half; "" is the half of those that have none."""
    found: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for topic in topics:
        found[topic.category][topic.labels.get(LABEL, "")] += 1
    return {category: dict(halves) for category, halves in sorted(found.items())}


def half_of(dataset: Dataset, half: Half) -> Dataset:
    """Return the topics of a half. A topic that was never drawn is in the development half.

    Raises:
        UsageError: the half is empty.
    """
    if half == "all":
        return dataset
    topics = [topic for topic in dataset.topics if (topic.labels.get(LABEL) == "test") == (half == "test")]
    if not topics:
        raise UsageError(
            f"{dataset.name} has no topic in its {half} half; divide it with 'devmind dataset split'",
            code="empty_half",
        )
    return dataset_of(dataset.name, topics)


def read_half(
    path: str | Path, half: Half = "development", *, format: str = "auto", command: str, reason: str, now: datetime
) -> Dataset:
    """Read one half of a dataset; each reading that holds test topics is logged before anything is handed out.

    Args:
        command: what reads it, for the log.
        reason: why the test half is looked at; needed for it, and for ``all`` of a divided dataset.
        now: the time of the log entry.

    Raises:
        UsageError: the reason is missing, the half is empty, or the log cannot be written.
    """
    dataset = half_of(read(path, format), half)
    if any(topic.labels.get(LABEL) == "test" for topic in dataset.topics):
        if not reason.strip():
            raise UsageError(
                f"{path}: to read the test half, say why with --reason; each use is logged, because a half that is "
                "looked at often is no longer a test",
                code="no_reason",
            )
        use = LoggedUse(now.isoformat(timespec="seconds"), command, dataset.name, dataset.content_hash, reason.strip())
        _log(log_path(path), use)
    return dataset


def log_path(path: str | Path) -> Path:
    """Return where the uses of a dataset's test half are logged: beside the dataset."""
    return Path(path).with_name(Path(path).name + ".test-uses.jsonl")


def _log(path: Path, use: LoggedUse) -> None:
    entry = {name: getattr(use, name) for name in ("date", "command", "dataset", "dataset_hash", "reason")}
    try:
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(dump(entry) + "\n")
    except OSError as error:
        raise UsageError(
            f"cannot log this use of the test half in {path}: {error.strerror}; it is not read without",
            code="unwritable",
        ) from error


def logged_uses(path: str | Path) -> list[LoggedUse]:
    """Return the logged uses of a dataset's test half, oldest first."""
    log = log_path(path)
    if not log.exists():
        return []
    return [LoggedUse(**entry) for _, entry in read_json_lines(log)]
