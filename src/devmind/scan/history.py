"""A repository's git log → commits with the files that each changed, newest first. Reads no file's content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from devmind.scan.git import Repository, read_log
from devmind.scan.rules import shown

_RECORD = re.compile(rb"\x02(?=[0-9a-f]{40,64}\x1f)")  # no message holds this by chance


@dataclass(frozen=True, slots=True)
class Change:
    """A file that a commit changed; an oid of zeros stands for "not there". ``status``: A, D, M or T."""

    path: str
    status: str
    old_oid: str
    new_oid: str


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; ``parent`` is its first one, "" for a root."""

    commit: str
    parent: str
    message: str
    changes: tuple[Change, ...]


def commits(repository: Repository, commit: str, folder: Path | None, *, limit: int) -> Iterator[Commit]:
    """Yield the last ``limit`` commits up to ``commit`` that are no merges.

    Args:
        folder: count only what is below it; paths are relative to it. None for a bare repository.

    Raises:
        UpstreamError: git cannot read the history.
    """
    for record in _RECORD.split(read_log(repository, commit, folder, limit=limit))[1:]:
        name, parents, rest = record.split(b"\x1f", 2)
        message, _, raw = rest.rpartition(b"\x1f")
        yield Commit(
            name.decode("ascii"),
            parents.decode("ascii").partition(" ")[0],
            message.decode("utf-8", "replace").strip(),
            tuple(_changes(raw)),
        )


def _changes(raw: bytes) -> Iterator[Change]:
    fields = [field for field in raw.split(b"\0") if field]
    for meta, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, new_mode, old_oid, new_oid, status = meta.decode("ascii").lstrip("\n:").split(" ")
        if {old_mode[:3], new_mode[:3]} <= {"100", "000"}:  # neither links nor submodules
            yield Change(shown(path), status[0], old_oid, new_oid)
