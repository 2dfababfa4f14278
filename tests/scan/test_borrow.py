"""A repository that borrows another's objects: what is done in it leaves the other alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from devmind.errors import UpstreamError
from devmind.scan.git import Repository, borrow, check_out, find_repository, list_tree, resolve_commit, set_branch
from tests.scan.conftest import run_git


def repository_at(folder: Path) -> Repository:
    found = find_repository(folder)
    assert found is not None
    return found


@pytest.fixture
def history(repo: Path) -> Path:
    for name in ("old.txt", "new.txt"):
        (repo / name).write_text("x\n", encoding="utf-8")
        run_git(repo, "add", "--all")
        run_git(repo, "commit", "--quiet", "-m", name)
    return repo


def test_a_branch_of_its_own_moves_between_commits(history: Path, tmp_path: Path) -> None:
    source = repository_at(history)
    second, first = resolve_commit(source, "HEAD"), resolve_commit(source, "HEAD~1")
    before = run_git(history, "for-each-ref")
    borrowed = borrow(source, tmp_path / "bare", bare=True)
    assert borrowed.work_tree is None and not resolve_commit(borrowed, "moving")
    for commit in (first, second, first):
        set_branch(borrowed, "moving", commit)
        assert resolve_commit(borrowed, "moving") == commit
        assert list_tree(borrowed, "moving") == list_tree(source, commit)
    assert run_git(history, "for-each-ref") == before


def test_a_working_tree_of_its_own_follows_commits(history: Path, tmp_path: Path) -> None:
    source = repository_at(history)
    commit = resolve_commit(source, "HEAD")
    borrowed = borrow(source, tmp_path / "tree", bare=False)
    assert borrowed.work_tree == tmp_path / "tree"
    check_out(borrowed, commit)
    files = {entry.raw.decode(): (tmp_path / "tree" / entry.raw.decode()) for entry in list_tree(source, commit)}
    assert files and all(path.exists() for path in files.values())
    with pytest.raises(UpstreamError, match="git checkout failed"):
        check_out(borrowed, "f" * 40)
