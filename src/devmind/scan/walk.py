"""A source → the files in it, each as an entry to read or as a skip. Lists and stats; content is read elsewhere."""

# ruff: noqa: PTH114, PTH118 (paths are bytes here, which pathlib has not)
from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from devmind.scan import git
from devmind.scan.rules import DEVMINDIGNORE, GITIGNORE, Gate, ScanRules, shown
from devmind.types import Skipped, SkipReason

_MAX_IGNORE_FILE = 1_000_000
_READ_STEP = 1 << 16
_MAX_LINKS = 40  # as Linux: more hops are a loop


@dataclass(frozen=True, slots=True)
class Entry:
    """A regular file that may be read: from disk by ``raw``, or from git by ``oid``."""

    raw: bytes
    size_bytes: int
    last_modified: float | None = None
    oid: str = ""


def read_file(path: bytes, *, expected: int, limit: int) -> bytes:
    """Return at most ``limit`` bytes of a regular file that had ``expected`` bytes when listed.

    Raises:
        OSError: it is gone, may not be read or is a link now; a FIFO put in its place cannot block us.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        data = os.read(descriptor, min(expected + 1, limit))
        if len(data) == expected:  # one byte more was asked for: this is the end
            return data
        parts = [data]
        left = limit - len(data)
        while left > 0 and (more := os.read(descriptor, min(left, _READ_STEP))):
            parts.append(more)
            left -= len(more)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def walk_folder(folder: Path, rules: ScanRules) -> Iterator[Entry | Skipped]:
    """Walk a plain folder, pruned by nested ``.gitignore`` and ``.devmindignore`` files, in order of names."""
    root = os.fsencode(folder)
    gate = Gate(rules, read_ignore=_disk_ignores(root), names=(GITIGNORE, DEVMINDIGNORE))
    pending: list[bytes] = [b""]
    while pending:
        inside = pending.pop()
        place = os.path.join(root, inside) if inside else root
        try:
            with os.scandir(place) as found:
                children = sorted(found, key=lambda child: child.name)
        except OSError as error:
            yield Skipped(shown(inside) + "/", _code(error), _why(error))
            continue
        folders = []
        for child in children:
            raw = inside + b"/" + child.name if inside else child.name
            if child.name == b".git":
                continue
            if child.is_dir(follow_symlinks=False):
                closed = gate.folder(raw)
                if closed is None:
                    folders.append(raw)
                else:
                    yield closed
            else:
                yield gate.path(raw) or _stat_entry(root, raw)
        pending.extend(reversed(folders))


def walk_work_tree(
    folder: Path, repository: git.Repository, prefix: str, rules: ScanRules
) -> Iterator[Entry | Skipped]:
    """List a working tree as git sees it: a tracked file is never ignored by ``.gitignore``, only by ours."""
    root = os.fsencode(folder)
    top = os.fsencode(repository.work_tree or folder)
    raw_prefix = os.fsencode(prefix)
    gate = Gate(
        rules,
        read_ignore=_disk_ignores(top),
        names=(DEVMINDIGNORE,),
        prefix=raw_prefix,
        is_link=lambda raw: os.path.islink(os.path.join(top, raw)),
    )
    tracked = git.list_tracked(repository, folder)
    left_out = {entry.raw for entry in tracked if entry.left_out}
    found: dict[bytes, str] = {entry.raw: entry.mode for entry in tracked}
    for raw in git.list_untracked(repository, folder, ignored=False):
        found.setdefault(raw.rstrip(b"/"), "160000" if raw.endswith(b"/") else "file")
    for raw in git.list_untracked(repository, folder, ignored=True):
        found.setdefault(raw.rstrip(b"/"), "ignored/" if raw.endswith(b"/") else "ignored")
    told: set[str] = set()
    for raw, mode in sorted(found.items()):
        closed = gate.folder(raw if mode == "ignored/" else raw.rpartition(b"/")[0])
        if closed is not None:
            if closed.path not in told:
                told.add(closed.path)
                yield closed
        elif mode == "ignored/":
            if raw:  # an ignored folder that was itself asked for is listed as "./"
                yield Skipped(shown(raw) + "/", "ignored", "git ignores this folder")
        elif mode == "ignored":
            yield Skipped(shown(raw), "ignored", "git ignores it")
        elif mode == "160000":
            yield _submodule(raw)
        elif raw in left_out and not os.path.lexists(os.path.join(root, raw)):
            yield Skipped(shown(raw), "excluded", "outside the sparse checkout")
        else:
            yield gate.path(raw) or _stat_entry(root, raw)


def walk_tree(repository: git.Repository, commit: str, prefix: str, rules: ScanRules) -> Iterator[Entry | Skipped]:
    """List a commit without checking it out."""
    raw_prefix = os.fsencode(prefix)
    everything = git.list_tree(repository, commit)
    entries = sorted(
        (entry for entry in everything if entry.raw.startswith(raw_prefix)),
        key=lambda entry: entry.raw[len(raw_prefix) :],
    )
    ignore_name = DEVMINDIGNORE.encode()
    special = [
        entry
        for entry in everything
        if 0 <= entry.size_bytes <= _MAX_IGNORE_FILE
        and (entry.mode == "120000" or entry.raw.rpartition(b"/")[2] == ignore_name)
    ]
    contents = dict(
        zip((entry.raw for entry in special), git.read_blobs(repository, [e.oid for e in special]), strict=True)
    )
    gate = Gate(
        rules,
        read_ignore=lambda inside, name: contents.get(inside + b"/" + name.encode() if inside else name.encode()),
        names=(DEVMINDIGNORE,),
        prefix=raw_prefix,
    )
    cut = len(raw_prefix)
    links = {e.raw[cut:]: contents.get(e.raw) or b"" for e in entries if e.mode == "120000"}
    present = {entry.raw[cut:] for entry in entries}
    for raw in list(present):
        while raw := raw.rpartition(b"/")[0]:
            present.add(raw)
    told: set[str] = set()
    for entry in entries:
        raw = entry.raw[cut:]
        closed = gate.folder(raw.rpartition(b"/")[0])
        if closed is not None:
            if closed.path not in told:
                told.add(closed.path)
                yield closed
        elif entry.mode == "160000":
            yield _submodule(raw)
        elif skipped := gate.path(raw):
            yield skipped
        elif entry.mode == "120000":
            yield _link_in_tree(raw, links, present)
        elif entry.size_bytes < 0:
            yield Skipped(shown(raw), "unreadable", "git has no content for it: fetch again")
        else:
            yield Entry(raw, entry.size_bytes, None, entry.oid)


def unreadable(raw: bytes, error: OSError, size_bytes: int = 0) -> Skipped:
    """Return the skip for a file on which the system gave up."""
    return Skipped(shown(raw), _code(error), _why(error), size_bytes)


def _stat_entry(root: bytes, raw: bytes) -> Entry | Skipped:
    path = os.path.join(root, raw)
    try:
        status = os.lstat(path)
    except OSError as error:
        return unreadable(raw, error)
    if stat.S_ISREG(status.st_mode):
        return Entry(raw, status.st_size, status.st_mtime)
    if stat.S_ISLNK(status.st_mode):
        return _link_on_disk(root, raw, status.st_size)
    if stat.S_ISDIR(status.st_mode):
        return Skipped(shown(raw), "vanished", "a folder stands where git has a file")
    return Skipped(shown(raw), "not_regular", "a pipe, socket or device")


def _link_on_disk(root: bytes, raw: bytes, size_bytes: int) -> Skipped:
    path = os.path.join(root, raw)
    base = os.path.realpath(root)
    try:
        target = os.path.realpath(path, strict=True)
    except (FileNotFoundError, NotADirectoryError):
        loose = os.path.realpath(path)
        inside = loose == base or loose.startswith(base.rstrip(b"/") + b"/")
        return _link(raw, "symlink_broken" if inside else "symlink_outside", size_bytes)
    except OSError:
        return _link(raw, "symlink_loop", size_bytes)
    if target == base:
        return _link(raw, "symlink_loop", size_bytes)
    if not target.startswith(base.rstrip(b"/") + b"/"):
        return _link(raw, "symlink_outside", size_bytes)
    if os.path.join(base, raw).startswith(target + b"/"):
        return _link(raw, "symlink_loop", size_bytes)
    return _link(raw, "symlink", size_bytes)


def _link_in_tree(raw: bytes, links: Mapping[bytes, bytes], present: set[bytes]) -> Skipped:
    size_bytes = len(links[raw])
    place = raw
    for _ in range(_MAX_LINKS):
        place = posixpath.normpath(posixpath.join(posixpath.dirname(place), links[place]))
        if place.startswith((b"/", b"../")) or place == b"..":
            return _link(raw, "symlink_outside", size_bytes)
        if place == b"." or raw.startswith(place + b"/"):
            return _link(raw, "symlink_loop", size_bytes)
        parts = place.split(b"/")
        over = next((b"/".join(parts[:n]) for n in range(1, len(parts)) if b"/".join(parts[:n]) in links), None)
        if over is not None:
            return _link(raw, "symlink", size_bytes)
        if place not in links:
            return _link(raw, "symlink" if place in present else "symlink_broken", size_bytes)
    return _link(raw, "symlink_loop", size_bytes)


_LINK_DETAILS: Mapping[SkipReason, str] = {
    "symlink": "a link to something that is indexed at its own path",
    "symlink_outside": "a link that leaves the source",
    "symlink_loop": "a link that leads back to itself",
    "symlink_broken": "a link to nothing",
}


def _link(raw: bytes, reason: SkipReason, size_bytes: int) -> Skipped:
    return Skipped(shown(raw), reason, _LINK_DETAILS[reason], size_bytes)


def _submodule(raw: bytes) -> Skipped:
    return Skipped(shown(raw), "submodule", "a repository of its own: add it as a source if it is wanted")


def _code(error: OSError) -> SkipReason:
    return "vanished" if isinstance(error, FileNotFoundError | NotADirectoryError) else "unreadable"


def _why(error: OSError) -> str:
    return error.strerror or str(error)


def _disk_ignores(root: bytes) -> Callable[[bytes, str], bytes | None]:
    """Return a reader of ignore files below ``root``; one that is no regular file or fails counts as absent."""

    def read(inside: bytes, name: str) -> bytes | None:
        path = os.path.join(root, inside, os.fsencode(name))
        try:
            status = os.lstat(path)
            if not stat.S_ISREG(status.st_mode):
                return None
            return read_file(path, expected=status.st_size, limit=_MAX_IGNORE_FILE)
        except OSError:
            return None

    return read
