"""A path nested deeper than Python recurses ended the scan of a git tree with a RecursionError."""

import subprocess
from collections.abc import Callable
from pathlib import Path

LEVELS = 1500


def git_in(folder: Path, *arguments: str, text: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], input=text, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_git_tree_of_1500_levels(repo: Path, git: Callable[..., str], scanned: Callable[..., dict[str, str]]) -> None:
    blob = git_in(repo, "hash-object", "-w", "--stdin", text="def deep():\n    pass\n")
    tree = git_in(repo, "mktree", text=f"100644 blob {blob}\tf.py\n")
    for _ in range(LEVELS):
        tree = git_in(repo, "mktree", text=f"040000 tree {tree}\td\n")
    git(repo, "update-ref", "refs/heads/deep", git(repo, "commit-tree", "-m", "deep", tree))
    assert scanned(repo, "deep") == {"d/" * LEVELS + "f.py": ""}
    git(repo, "read-tree", "deep")  # in the index, and not on disk
    assert scanned(repo)["d/" * LEVELS + "f.py"] == "vanished"
