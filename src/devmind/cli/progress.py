"""What a command shows while it works; every command that takes time uses it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from devmind.cli.app import Session

if TYPE_CHECKING:
    from devmind.evaluate.types import OnPhase
    from devmind.render.terminal import ProgressBar


def progress_bar(session: Session) -> ProgressBar:
    """Return a bar that says nothing when that was asked for, or when a program reads both streams."""
    from devmind.render.terminal import ProgressBar

    return ProgressBar(quiet=session.quiet or (session.json and not sys.stderr.isatty()))


@contextmanager
def steps(session: Session, label: str) -> Iterator[OnPhase]:
    """Show the steps that the block tells of."""
    began = time.perf_counter()
    with progress_bar(session) as bar:

        def told(phase: str, done: int, total: int) -> None:
            bar.update(label, phase, done=done, total=total, elapsed_s=time.perf_counter() - began)

        yield told
