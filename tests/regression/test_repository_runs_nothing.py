"""``git status`` ran the filter programs that a repository's own configuration names: whoever packed it ran code."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.parametrize("key", ["clean", "process"])
def test_filters_of_the_repository(
    key: str, repo: Path, tmp_path: Path, git: Callable[..., str], scanned: Callable[..., dict[str, str]]
) -> None:
    (repo / ".gitattributes").write_text("*.py filter=evil\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "attributes")
    proof = tmp_path / "it-ran"
    (tmp_path / "included").write_text(f'[filter "evil"]\n{key} = "touch {proof}; cat"\nrequired = true\n')
    git(repo, "config", "include.path", str(tmp_path / "included"))
    (repo / "a.py").write_text("def A():\n    pass\n")  # of the same size, so that git must read it
    os.utime(repo / "b.py", (1, 1))
    assert scanned(repo) == {".gitattributes": "", "a.py": "", "b.py": ""}
    assert not proof.exists()
