"""Changes applied under a system: what is noticed of one that follows them, and of one that does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devmind.errors import UpstreamError, UsageError
from devmind.evaluate.freshness import (
    WAYS,
    DevMindFollower,
    Follower,
    Histories,
    Move,
    Outcome,
    Way,
    measure_freshness,
    read_cases,
    summarise,
)
from devmind.evaluate.freshness.checks import examine, vanished
from devmind.evaluate.types import Retrieved, Span
from devmind.ingest import IngestOptions
from devmind.scan.git import Repository

Git = Callable[..., str]
OPTIONS = IngestOptions(n_workers=1)
OLD = '''"""The cart of one customer."""


def total_price(items):
    """Sum of all prices."""
    return sum(item.price for item in items)
'''
NEW = '''"""The cart of one customer."""


def total_price(items, discount=0):
    """Sum of all prices, after the discount."""
    whole = sum(item.price for item in items)
    return whole * (1 - discount)
'''


@pytest.fixture
def shop_history(tmp_path: Path, git: Git) -> tuple[Path, str, str]:
    """A repository whose last commit changes ``cart.py``; another file stays."""
    folder = tmp_path / "history" / "shop"
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    commits = []
    for text in (OLD, NEW):
        (folder / "cart.py").write_text(text, encoding="utf-8")
        (folder / "login.py").write_text('def sign_in(user):\n    """Let a user in."""\n', encoding="utf-8")
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "-m", "change")
        commits.append(git(folder, "rev-parse", "HEAD"))
    return folder, commits[0], commits[1]


def case_of(history: tuple[Path, str, str], **changed: Any) -> dict[str, Any]:
    return {
        "id": "c1",
        "repo": "shop",
        "commit_a": history[1],
        "commit_b": history[2],
        "file": "cart.py",
        "new_lines": [[4, 7]],
        "added": ["def total_price(items, discount=0):", "return whole * (1 - discount)"],
        "removed": ["return sum(item.price for item in items)"],
        "query": "How is a discount taken off the total?",
        **changed,
    }


def write_cases(tmp_path: Path, *cases: Any) -> Path:
    path = tmp_path / "changes.jsonl"
    path.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    return path


def measured(history: tuple[Path, str, str], tmp_path: Path, follower: Any, **options: Any) -> list[Outcome]:
    cases = read_cases(write_cases(tmp_path, case_of(history)))
    return measure_freshness(cases, Histories({"shop": history[0]}), follower, **options)


@pytest.mark.parametrize("way", WAYS)
def test_devmind_answers_from_what_is_there_now(way: Way, shop_history: tuple[Path, str, str], tmp_path: Path) -> None:
    def open_follower(repository: Repository, folder: Path) -> Follower:
        return DevMindFollower(repository, folder, way=way, options=OPTIONS)

    [outcome] = measured(shop_history, tmp_path, open_follower, rollback=True)
    assert outcome.fresh and outcome.proven and outcome.new_found and outcome.gone_before and not outcome.failure
    assert outcome.measures["Recall@1"] == 1.0
    assert outcome.at_b is not None and outcome.at_b.n_hits > 3 and outcome.at_b.n_without_text == 0
    assert outcome.at_a is not None and (outcome.at_a.n_stale, outcome.at_a.n_gone) == (0, 0)
    assert outcome.second is not None and (outcome.second.n_files, outcome.second.n_reused) == (2, 1)
    assert outcome.second.commit == shop_history[2]
    assert outcome.third is not None and outcome.third.n_reused == 2
    assert outcome.visible_s is not None and outcome.visible_s >= outcome.second.seconds > 0


def test_the_repository_of_the_user_is_left_alone(
    shop_history: tuple[Path, str, str], tmp_path: Path, git: Git
) -> None:
    folder = shop_history[0]
    (folder / "cart.py").write_text("half finished\n", encoding="utf-8")
    before = (git(folder, "status", "--porcelain"), git(folder, "for-each-ref"), git(folder, "rev-parse", "HEAD"))
    for way in WAYS:
        measured(shop_history, tmp_path, lambda r, f, way=way: DevMindFollower(r, f, way=way, options=OPTIONS))
    assert (git(folder, "status", "--porcelain"), git(folder, "for-each-ref"), git(folder, "rev-parse", "HEAD")) == (
        before
    )


class Stale(DevMindFollower):
    """A system that takes the change in only when ``updates`` are over: it answers from A."""

    def __init__(self, repository: Repository, folder: Path, *, updates: int = 1) -> None:
        super().__init__(repository, folder, way="ref", options=OPTIONS)
        self._left = updates
        self._last: Move | None = None

    def update(self) -> Move:
        if self._left or self._last is None:
            self._left -= 1
            self._last = super().update()
        return self._last

    def back(self) -> Move:
        assert self._last is not None
        return self._last


def test_a_system_that_answers_from_before_the_change_is_caught(
    shop_history: tuple[Path, str, str], tmp_path: Path
) -> None:
    outcomes = measured(shop_history, tmp_path, Stale)
    assert not outcomes[0].fresh and not outcomes[0].proven and outcomes[0].new_found is False
    assert outcomes[0].at_b is not None and outcomes[0].at_b.n_stale > 0 and outcomes[0].at_b.n_gone > 0
    summary = summarise(outcomes)
    assert (summary.n_stale_cases, summary.n_unproven, summary.n_failed) == (1, 1, 0)
    assert summary.estimates["fresh"].mean == 0
    assert "seconds until visible" not in summary.estimates


def test_a_system_that_does_not_go_back_is_caught(shop_history: tuple[Path, str, str], tmp_path: Path) -> None:
    def open_follower(repository: Repository, folder: Path) -> Follower:
        return Stale(repository, folder, updates=2)

    assert measured(shop_history, tmp_path, open_follower)[0].fresh
    [outcome] = measured(shop_history, tmp_path, open_follower, rollback=True)
    assert not outcome.fresh and outcome.at_a is not None and outcome.at_a.n_gone > 0
    assert outcome.at_b is not None and outcome.at_b.n_stale == 0


class Silent(DevMindFollower):
    """Shows nothing once the repository has moved."""

    def search(self, query: str, *, k: int) -> tuple[Retrieved, ...]:
        return super().search(query, k=k) if len(self._generations) < 2 else ()


def test_a_system_that_shows_nothing_is_not_stale_and_proves_nothing(
    shop_history: tuple[Path, str, str], tmp_path: Path
) -> None:
    [outcome] = measured(shop_history, tmp_path, lambda r, f: Silent(r, f, way="ref", options=OPTIONS))
    assert outcome.fresh and not outcome.proven and outcome.gone_before and outcome.new_found is False
    assert outcome.measures["Recall@10"] == 0.0
    assert summarise([outcome]).n_unproven == 1


class Broken(DevMindFollower):
    def update(self) -> Move:
        raise UpstreamError("the index is on fire", retryable=False, code="on_fire")


def test_a_case_that_fails_is_told_and_the_others_go_on(shop_history: tuple[Path, str, str], tmp_path: Path) -> None:
    cases = read_cases(write_cases(tmp_path, case_of(shop_history), case_of(shop_history, id="c2")))
    opened: list[Follower] = []

    def open_follower(repository: Repository, folder: Path) -> Follower:
        kind = DevMindFollower if opened else Broken
        opened.append(kind(repository, folder, way="ref", options=OPTIONS))
        return opened[-1]

    told: list[Outcome] = []
    outcomes = measure_freshness(cases, Histories({"shop": shop_history[0]}), open_follower, done=told.append)
    assert [outcome.fresh for outcome in outcomes] == [False, True] and told == outcomes
    assert outcomes[0].failure == "on_fire: the index is on fire"
    summary = summarise(outcomes)
    assert (summary.n_failed, summary.n_stale_cases, summary.estimates["Recall@1"].mean) == (1, 0, 0.5)


def test_hits_are_held_against_the_files_of_the_commit() -> None:
    files = {"a.py": "one\ntwo\nthree\n"}
    hits = [
        Retrieved(Span("a.py", 1, 2), text="one\ntwo"),
        Retrieved(Span("a.py", 1, 2), text="one\nzwei\n"),  # another text
        Retrieved(Span("a.py", 3, 9), text="three"),  # lines past the end show what is there
        Retrieved(Span("gone.py", 1, 1), text="x"),  # no such file
        Retrieved(Span("a.py"), text="one\ntwo\nthree"),
        Retrieved(None, text="two\nthree", file="a.py"),
        Retrieved(None, text="three\ntwo", file="a.py"),  # never stood so
        Retrieved(Span("a.py", 1, 1)),  # no text to compare
    ]
    found = examine(hits, files.get, file="a.py", gone={"zwei"})
    assert (found.n_hits, found.n_stale, found.n_gone, found.n_without_text) == (8, 3, 1, 1)
    assert vanished(["two", "zwei"], files["a.py"]) == {"zwei"}
    assert vanished(["two"], None) == {"two"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"new_lines": [[9, 4]]}, "lines 9-4 are reversed"),
        ({"new_lines": [[1]]}, "two whole numbers"),
        ({"new_lines": [], "removed": []}, "changes nothing"),
        ({"added": [3]}, "added[0]"),
        ({"commit_b": ""}, "commit_b"),
        ({"query": None}, "query"),
    ],
)
def test_a_case_that_cannot_be_read_is_named(
    changed: dict[str, Any], said: str, shop_history: tuple[Path, str, str], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="c1") as caught:
        read_cases(write_cases(tmp_path, case_of(shop_history, **changed)))
    assert said in str(caught.value)


def test_files_of_cases(shop_history: tuple[Path, str, str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no cases"):
        read_cases(write_cases(tmp_path))
    case = case_of(shop_history)
    with pytest.raises(UsageError, match="'c1' twice"):
        read_cases(write_cases(tmp_path, case, case))
    many = write_cases(
        tmp_path, case, {**case, "id": "c2"}, {**case, "id": "d1", "repo": "other"}, {**case, "id": "c3"}
    )
    assert [found.case_id for found in read_cases(many, limit=2)] == ["c1", "d1"]
    with pytest.raises(UsageError, match="limit is 0"):
        read_cases(many, limit=0)


def test_unknown_commits_and_repositories_are_named_before_anything_is_measured(
    shop_history: tuple[Path, str, str], tmp_path: Path
) -> None:
    def never(repository: Repository, folder: Path) -> Follower:
        raise AssertionError("nothing may be measured")

    good, bad = case_of(shop_history), case_of(shop_history, id="c2", commit_b="f" * 40)
    cases = read_cases(write_cases(tmp_path, good, bad))
    with pytest.raises(UsageError, match=f"'c2': commit_b '{'f' * 40}' is no commit of 'shop'"):
        measure_freshness(cases, Histories({}, root=shop_history[0].parent), never)
    with pytest.raises(UsageError, match=r"no repository 'shop'.*--source shop=GIT"):
        measure_freshness(cases, Histories({}, root=tmp_path), never)
    with pytest.raises(UsageError, match="is no git repository"):
        measure_freshness(cases, Histories({"shop": tmp_path}), never)
    with pytest.raises(UsageError, match="--repos"):
        Histories({})


@pytest.mark.parametrize("place", ["acme/shop", "acme+shop/anything", "acme__shop", "shop.git"])
def test_repositories_are_found_by_their_names(
    place: str, shop_history: tuple[Path, str, str], tmp_path: Path, git: Git
) -> None:
    root = tmp_path / "root"
    (root / place).parent.mkdir(parents=True)
    git(tmp_path, "clone", "--quiet", "--bare", str(shop_history[0]), str(root / place))
    assert Histories({}, root=root)("acme/shop").git_dir == (root / place).resolve()
