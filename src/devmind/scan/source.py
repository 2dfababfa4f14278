"""What the user names (a folder, a repository, a URL) → a ``Source`` that can be scanned. Reads no file's content."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from devmind.errors import UpstreamError, UsageError
from devmind.scan import git

_SCHEME = re.compile(r"^(?:https?|ssh|git|git\+ssh|file)://", re.IGNORECASE)
_SCP = re.compile(r"^(?:[\w.+-]+@[\w.-]+|[\w.-]{2,}(?=:.*\.git/?$)):(?!//).+", re.DOTALL)
_USERINFO = re.compile(r"^([\w+]+://)([^/@\s]*)@")


@dataclass(frozen=True, slots=True)
class Source:
    """A thing to scan at one state.

    ``location`` opens it again; ``commit`` is hexadecimal, with "-dirty" for a working tree that differs from it, or
    "". ``tree`` is the commit whose blobs are read, "" to read ``folder`` from disk; ``prefix`` is the part of the
    repository that is meant ("" or "sub/folder/").
    """

    name: str
    kind: Literal["folder", "git", "url"]
    location: str
    commit: str = ""
    ref: str = ""
    folder: Path | None = None
    repository: git.Repository | None = None
    tree: str = ""
    prefix: str = ""


def open_source(source: str, *, ref: str | None = None, mirror_dir: Path) -> Source:
    """Find out what ``source`` is and fix the state to be scanned; a URL is mirrored below ``mirror_dir`` first.

    Args:
        source: path of a folder, of a git working tree or a folder in it, of a bare repository, or a git URL.
        ref: branch, tag or commit; None means the files on disk, or HEAD where there are none.
        mirror_dir: where bare mirrors are kept between calls.

    Raises:
        UsageError: the thing does not exist, is no folder, or has no such ref.
        UpstreamError: git is missing or the remote cannot be read.
    """
    if not source.strip():
        raise UsageError("the source is empty: give a folder or a git URL", code="source_empty")
    text = source if os.path.lexists(source.replace("\0", "")) else source.strip()  # a name may end in white space
    if _SCHEME.match(text) or (_SCP.match(text) and not Path(text).exists()):
        return _open_url(text, ref, mirror_dir)
    return _open_path(text, ref)


def _open_url(url: str, ref: str | None, mirror_dir: Path) -> Source:
    location = _without_password(url).rstrip("/")
    repository = git.update_mirror(url, mirror_of(location, mirror_dir), label=location)
    commit = _commit_at(repository, ref, what=location)
    return Source(_name_of(location), "url", location, commit, ref or "", repository=repository, tree=commit)


def mirror_of(location: str, mirror_dir: Path) -> Path:
    """Return where the bare mirror of the URL ``location`` (as a ``Source`` holds it) is kept, whether it is or not."""
    digest = hashlib.blake2b(location.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    label = re.sub(r"[^\w.-]", "_", _name_of(location))[:60]
    return mirror_dir.absolute() / f"{label}-{digest}.git"


def _name_of(location: str) -> str:
    return re.split(r"[/:\\]", location.removesuffix(".git").rstrip("/"))[-1] or "repository"


def _open_path(text: str, ref: str | None) -> Source:
    try:
        folder = Path(text).resolve()
        if not folder.exists():
            raise UsageError(f"{text} does not exist: check the path (tried {folder})", code="source_not_found")
        if not folder.is_dir():
            raise UsageError(f"{text} is not a directory: give the folder that holds it", code="source_not_a_directory")
        location = str(folder)
        location.encode("utf-8")
        os.scandir(folder).close()
        os.stat(f"{folder}/.")  # noqa: PTH116 (pathlib drops the "."): a folder may be listed and yet not entered
    except UnicodeEncodeError as error:
        raise UsageError(
            f"the folder name {text!a} is not UTF-8: rename it or link to it", code="source_name"
        ) from error
    except (OSError, ValueError, RuntimeError) as error:
        raise UsageError(
            f"{text!r} cannot be opened ({error}): check path and rights", code="source_unreadable"
        ) from error
    name = folder.name.removesuffix(".git") or "root"
    repository = git.find_repository(folder)
    if repository is None:
        if ref is not None:
            raise UsageError(
                f"{location} is not in a git repository, so ref {ref!r} means nothing: leave the ref out",
                code="not_a_repository",
            )
        return Source(name, "folder", location, folder=folder)
    prefix = ""
    if repository.work_tree is not None and folder != repository.work_tree:
        prefix = folder.relative_to(repository.work_tree).as_posix() + "/"
    if ref is not None or repository.work_tree is None:
        commit = _commit_at(repository, ref, what=location)
        return Source(name, "git", location, commit, ref or "", repository=repository, tree=commit, prefix=prefix)
    commit = git.resolve_commit(repository, "HEAD")
    if commit and git.is_dirty(repository, folder):
        commit += "-dirty"
    return Source(name, "git", location, commit, folder=folder, repository=repository, prefix=prefix)


def _commit_at(repository: git.Repository, ref: str | None, *, what: str) -> str:
    """Resolve ``ref``, also as a branch of the remote, for a clone in which it was never checked out."""
    wanted = "HEAD" if ref is None else ref
    commit = git.resolve_commit(repository, wanted)
    if not commit and ref:
        commit = git.resolve_commit(repository, f"refs/remotes/origin/{ref}")
    if commit:
        return commit
    if git.is_broken_ref(repository, wanted):
        raise UpstreamError(
            f"{what}: the commit of {wanted!r} cannot be read, the repository is damaged: run `git fsck` there",
            retryable=False,
            code="repository_damaged",
        )
    if wanted == "HEAD":
        raise UsageError(f"{what} has no commits: commit something or name a ref", code="no_commits")
    raise UsageError(f"{what} has no ref {wanted!r}: see `git branch -a` and `git tag`", code="unknown_ref")


def _without_password(url: str) -> str:
    """Return ``url`` as it may be stored and shown: a user alone stays (ssh needs it), a password or token goes."""
    match = _USERINFO.match(url)
    if match is None:
        return url
    user = match[2].partition(":")[0]
    keep = f"{user}@" if "ssh" in match[1].lower() and user else ""
    return match[1] + keep + url[match.end() :]
