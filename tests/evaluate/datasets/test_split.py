"""Halves: divided alike in every category, the same everywhere, kept for ever, and watched."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devmind.errors import UsageError
from devmind.evaluate.datasets import dataset_of, read, write
from devmind.evaluate.datasets.split import assigned, half_of, log_path, logged_uses, read_half
from devmind.evaluate.types import Topic

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


def topics(n: int, *, categories: str = "abc", repos: str = "xyz", prefix: str = "t") -> list[Topic]:
    return [
        Topic(f"{prefix}{i}", "?", category=categories[i % len(categories)], repo=repos[i * 7 // 3 % len(repos)])
        for i in range(n)
    ]


def halves(found: list[Topic]) -> dict[str, str]:
    return {topic.topic_id: topic.labels["split"] for topic in found}


@given(n=st.integers(1, 200), share=st.floats(0.05, 0.95))
def test_each_category_gets_its_share_within_one(n: int, share: float) -> None:
    found = assigned(topics(n), test_share=share)
    for category in "abc":
        members = [topic for topic in found if topic.category == category]
        n_test = sum(topic.labels["split"] == "test" for topic in members)
        assert abs(n_test - share * len(members)) <= 0.5 + 1e-6


@given(n=st.integers(20, 200))
def test_each_repository_of_a_category_is_within_one_and_a_half_of_its_share(n: int) -> None:
    counts = Counter((t.category, t.repo, t.labels["split"]) for t in assigned(topics(n)))
    for category in "abc":
        for repo in "xyz":
            n_test, n_dev = counts[category, repo, "test"], counts[category, repo, "development"]
            assert abs(n_test - 0.2 * (n_test + n_dev)) <= 1.5


@given(order=st.permutations(range(60)))
def test_the_order_in_the_file_does_not_matter(order: list[int]) -> None:
    members = topics(60)
    assert halves(assigned([members[i] for i in order])) == halves(assigned(members))


@given(n_before=st.integers(1, 80), n_after=st.integers(1, 80))
def test_topics_that_are_added_move_none_and_restore_the_balance(n_before: int, n_after: int) -> None:
    before = assigned(topics(n_before))
    after = assigned([*topics(n_after, prefix="new"), *before])
    assert halves(before).items() <= halves(after).items()
    for category in "abc":
        members = [topic for topic in after if topic.category == category]
        n_test = sum(topic.labels["split"] == "test" for topic in members)
        assert abs(n_test - 0.2 * len(members)) <= 1


def test_a_share_that_is_none_is_refused() -> None:
    for share in (0, 1, 2, -1):
        with pytest.raises(UsageError, match="between 0 and 1"):
            assigned(topics(3), test_share=share)


def test_an_undivided_set_is_all_development() -> None:
    dataset = dataset_of("x", topics(4))
    assert half_of(dataset, "development").topics == dataset.topics
    with pytest.raises(UsageError, match="no topic in its test half; divide it with"):
        half_of(dataset, "test")


def test_the_test_half_is_read_for_a_reason_and_each_reading_is_logged(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    write(dataset_of("set", assigned(topics(20))), path)
    development = read_half(path, command="run", reason="", now=NOW)
    assert {topic.labels["split"] for topic in development.topics} == {"development"}
    assert not log_path(path).exists()
    for half in ("test", "all"):
        with pytest.raises(UsageError, match="say why with --reason"):
            read_half(path, half, command="run", reason=" ", now=NOW)
    assert not log_path(path).exists()
    test = read_half(path, "test", command="eval run", reason="release 1.0", now=NOW)
    assert {topic.labels["split"] for topic in test.topics} == {"test"}
    read_half(path, "all", command="dataset export", reason="backup", now=NOW)
    lines = [json.loads(line) for line in log_path(path).read_text().splitlines()]
    assert lines[0] == {
        "date": "2030-01-02T03:04:05+00:00", "command": "eval run", "dataset": "set",
        "dataset_hash": test.content_hash, "reason": "release 1.0",
    }  # fmt: skip
    assert [use.reason for use in logged_uses(path)] == ["release 1.0", "backup"]


def test_without_a_log_the_test_half_stays_closed(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    write(dataset_of("set", assigned(topics(20))), path)
    log_path(path).mkdir()
    with pytest.raises(UsageError, match="cannot log this use"):
        read_half(path, "test", command="run", reason="r", now=NOW)


def test_an_unknown_half_written_by_hand_counts_as_development() -> None:
    odd = [replace(topic, labels={"split": "train"}) for topic in topics(3)]
    assert half_of(dataset_of("x", odd), "development").topics == tuple(odd)


def test_halves_survive_the_file(tmp_path: Path) -> None:
    found = assigned(topics(10))
    write(dataset_of("x", found), tmp_path / "x.csv")
    assert halves(list(read(tmp_path / "x.csv").topics)) == halves(found)
