"""Run from a git hook, the variables that git sets there led to another repository's list of files."""

import json
import os
from collections.abc import Callable
from pathlib import Path


def test_another_repositorys_index(
    repo: Path, tmp_path: Path, git: Callable[..., str], devmind: Callable[..., object]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    (other / "foreign.py").write_text("x = 1\n")
    git(other, "add", "-A")
    hook = {"GIT_INDEX_FILE": str(other / ".git" / "index"), "GIT_DIR": str(other / ".git"), "GIT_PREFIX": "sub/"}
    done = devmind("add", str(repo), "--json", env={**os.environ, **hook})
    report = json.loads(done.stdout)["reports"][0]  # type: ignore[attr-defined]
    assert (report["n_files"], report["n_indexed"]) == (2, 2)
