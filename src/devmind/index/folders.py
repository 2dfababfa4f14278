"""Folders of the recall index: each can be made again, so whatever stands in its place may go."""

from __future__ import annotations

import shutil
from pathlib import Path


def clear(path: Path) -> None:
    """Remove a file or folder, if there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
