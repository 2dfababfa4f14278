"""A repository whose commit cannot be read was said to have no commits, which nobody can act upon."""

from collections.abc import Callable
from pathlib import Path

import pytest

from devmind.errors import UpstreamError, UsageError


@pytest.mark.parametrize("ref", ["HEAD", "main", "v1"])
def test_a_missing_commit(
    ref: str, repo: Path, git: Callable[..., str], scanned: Callable[..., dict[str, str]]
) -> None:
    git(repo, "tag", "v1")
    commit = git(repo, "rev-parse", "HEAD")
    (repo / ".git" / "objects" / commit[:2] / commit[2:]).unlink()
    with pytest.raises(UpstreamError, match=r"damaged.*git fsck") as caught:
        scanned(repo, ref)
    assert caught.value.code == "repository_damaged"


@pytest.mark.parametrize("ref", ["nope", "f" * 40, "HEAD~9", "HEAD:a.py", "", "--all"])
def test_what_is_no_ref_is_still_the_callers_fault(
    ref: str, repo: Path, scanned: Callable[..., dict[str, str]]
) -> None:
    with pytest.raises(UsageError, match="has no ref"):
        scanned(repo, ref)
