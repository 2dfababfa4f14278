"""A process → the processor seconds it has used and the memory it holds.

What is measured: for this process, all its threads and the children that have ended (indexing workers, git); for
another process, that one process and its threads. Memory is the resident set: pages shared with other processes and
the pages of mapped files count, too.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from devmind.errors import UsageError

_STAT_UTIME = 11  # fields 14 and 15 of /proc/PID/stat, counted from the one behind the name
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Usage:
    """``memory_bytes`` is None where the system does not tell it."""

    cpu_s: float
    memory_bytes: int | None


def usage(pid: int | None = None) -> Usage:
    """Return what a process has used so far; this one without ``pid``.

    Raises:
        UsageError: there is no such process, or this system does not tell of others.
    """
    if pid is None:
        children = os.times()
        spent_s = time.process_time() + children.children_user + children.children_system
        return Usage(spent_s, _memory(os.getpid()))
    try:
        fields = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError as error:
        raise UsageError(
            f"process {pid} cannot be watched ({error.strerror}): give the id of a running process of this machine, "
            "or leave --pid out",
            code="no_process",
        ) from error
    ticks = int(fields[_STAT_UTIME]) + int(fields[_STAT_UTIME + 1])
    return Usage(ticks / os.sysconf("SC_CLK_TCK"), _memory(pid))


def stored_bytes(folder: Path) -> int:
    """Return the size of all files below ``folder``."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _memory(pid: int) -> int | None:
    try:
        pages = (_PROC / str(pid) / "statm").read_text(encoding="ascii").split()[1]
    except OSError:  # no /proc on this system
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
