"""A repository that moves and a system that follows it: DevMind over a branch (no checkout) or a working tree."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol

from devmind.evaluate.targets.devmind import DevMindTarget
from devmind.evaluate.types import Retrieved, Topic
from devmind.evaluate.usage import usage
from devmind.ingest import IngestOptions, Report, Writer
from devmind.scan.git import Repository, borrow, check_out, set_branch
from devmind.settings import Settings

Way = Literal["ref", "checkout"]
WAYS: Final[tuple[Way, ...]] = ("ref", "checkout")
_BRANCH: Final = "followed"
_NAME: Final = "followed"


@dataclass(frozen=True, slots=True)
class Move:
    """One update of the index: to which commit, how long it took, how many of its files it had before.

    ``cpu_s`` includes git and indexing workers.
    """

    commit: str
    seconds: float
    cpu_s: float
    n_files: int
    n_reused: int
    n_chunks: int


class Follower(Protocol):
    """A system that holds one repository as it was at its last update. Not shared between threads."""

    def change(self, commit: str) -> None:
        """Put the repository to ``commit``; the system is not told."""
        ...

    def update(self) -> Move:
        """Bring the system up to date with the repository; when it returns, searches may answer from the new state."""
        ...

    def back(self) -> Move:
        """Make the system what it was after the update before the last one, whatever the repository is."""
        ...

    def search(self, query: str, *, k: int) -> tuple[Retrieved, ...]:
        """Return up to ``k`` hits, best first."""
        ...

    def close(self) -> None: ...


class DevMindFollower:
    """DevMind in process, with a knowledge base of its own and one reader that stays open, as a server's would.

    Args:
        repository: where the commits are; it is only read.
        folder: an empty folder for the knowledge base and the moving repository.
        way: ``ref`` moves a branch and reads git's objects, ``checkout`` changes a working tree and reads its files.
    """

    def __init__(self, repository: Repository, folder: Path, *, way: Way, options: IngestOptions) -> None:
        self._home = folder / "kb"
        self._options = options
        self._way = way
        place = folder / "repository"
        self._moving = borrow(repository, place, bare=way == "ref")
        self._source = str(place)
        self._generations: list[int] = []
        self._target: DevMindTarget | None = None

    def change(self, commit: str) -> None:
        """See `Follower`."""
        if self._way == "ref":
            set_branch(self._moving, _BRANCH, commit)
        else:
            check_out(self._moving, commit)

    def update(self) -> Move:
        """See `Follower`."""
        ref = _BRANCH if self._way == "ref" else None
        return self._timed(lambda writer: writer.add(self._source, name=_NAME, ref=ref))

    def back(self) -> Move:
        """See `Follower`."""
        before = self._generations[-2]
        return self._timed(lambda writer: writer.rollback(_NAME, before))

    def search(self, query: str, *, k: int) -> tuple[Retrieved, ...]:
        """See `Follower`."""
        if self._target is None:
            self._target = DevMindTarget(Settings(home=self._home))
        return self._target.respond(Topic("", query), k=k).hits

    def close(self) -> None:
        if self._target is not None:
            self._target.close()

    def _timed(self, work: _Work) -> Move:
        wall, cpu = time.perf_counter(), usage().cpu_s
        with Writer(self._home, self._options) as writer:
            report = work(writer)
        wall, cpu = time.perf_counter() - wall, usage().cpu_s - cpu
        self._generations.append(report.generation)
        return Move(report.commit, wall, cpu, report.n_indexed, report.n_reused, report.n_chunks)


class _Work(Protocol):
    def __call__(self, writer: Writer, /) -> Report: ...
