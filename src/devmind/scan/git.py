"""The only module that runs git: repository → commits, file lists, blobs, mirrors.

Never checks out in a working tree of the user's, never prompts, never runs a repository's hooks or monitors. The
repository is always named by ``--git-dir``, so a ``GIT_DIR`` left in the environment (a hook that calls us) cannot lead
elsewhere.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from devmind.errors import UpstreamError, UsageError

_QUIET = (
    "-c", "core.askPass=true", "-c", "credential.interactive=false",
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false",
    "-c", "protocol.ext.allow=never", "-c", "gc.auto=0", "-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60",
)  # fmt: skip
# 256 requests are some 10 kB: below any pipe's buffer, so writing them all before reading cannot block both sides.
_WINDOW = 256
_PERMANENT = re.compile(
    r"not found|does not exist|not appear to be a git|Authentication failed|could not read (?:Username|Password)"
    r"|Permission denied|Host key verification failed|access denied|not valid: is this a git"
    r"|Unable to find remote helper|transport '.*' not allowed",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Repository:
    """A git directory, and the root of its working tree (None if bare)."""

    git_dir: Path
    work_tree: Path | None


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A path in git: ``mode`` as six octal digits, ``size_bytes`` -1 if git was not asked or lacks the blob.

    ``left_out`` marks what a sparse checkout does not put on disk.
    """

    raw: bytes
    mode: str
    oid: str
    size_bytes: int = -1
    left_out: bool = False


def _run(arguments: Sequence[str | Path], *, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", *_QUIET, "--no-optional-locks", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=cwd,
            check=False,
            start_new_session=True,  # no controlling terminal to prompt on
        )
    except OSError as error:
        if cwd is not None and not os.access(cwd, os.X_OK):  # the system names the program, not the folder
            raise UpstreamError(
                f"{cwd} is gone or may not be entered any more: check path and rights, then run this again",
                retryable=True,
                code="source_vanished",
            ) from error
        raise UpstreamError(
            f"git cannot be started ({error}): install git and put it on PATH, then try again",
            retryable=False,
            code="git_missing",
        ) from error


def _of(repository: Repository) -> list[str | Path]:
    arguments: list[str | Path] = [f"--git-dir={repository.git_dir}"]
    if repository.work_tree is not None:
        arguments.append(f"--work-tree={repository.work_tree}")
    return arguments


def _must(repository: Repository, *arguments: str, cwd: Path | None = None) -> bytes:
    done = _run([*_of(repository), *arguments], cwd=cwd)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise UpstreamError(
            f"git {arguments[0]} failed in {repository.git_dir}: {said}; run `git fsck` there", retryable=False
        )
    return done.stdout


def find_repository(folder: Path) -> Repository | None:
    """Return the repository that ``folder`` lies in (or is, if bare), or None; a broken ``.git`` counts as none.

    A folder that its repository ignores counts as plain: whoever adds it by name wants what is in it.
    """
    for place in (folder, *folder.parents):
        if (place / ".git").exists():
            found = Repository(place / ".git", place)
            break
    else:
        if not ((folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()):
            return None
        found = Repository(folder, None)
    if _run([*_of(found), "rev-parse", "--git-dir"]).returncode != 0:
        return None
    if found.work_tree not in (None, folder):
        inside = folder.relative_to(place).as_posix()
        tracked = _run([*_of(found), "ls-files", "-z", "--", "."], cwd=folder)
        ignored = _run([*_of(found), "check-ignore", "-q", "--", inside], cwd=place)
        if ignored.returncode == 0 and not tracked.stdout:
            return None
    return found


def resolve_commit(repository: Repository, ref: str) -> str:
    """Return the full hash of the commit that ``ref`` names, or "" if it names none."""
    done = _run([*_of(repository), "rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"])
    return done.stdout.decode("ascii").strip() if done.returncode == 0 else ""


def is_broken_ref(repository: Repository, ref: str) -> bool:
    """Return whether ``ref`` is a branch, a tag or HEAD whose object is missing or cannot be read."""
    name = _run([*_of(repository), "rev-parse", "--symbolic-full-name", "--end-of-options", ref])
    lines = name.stdout.decode("utf-8", "replace").split()
    if name.returncode != 0 or not lines or (lines[-1] != "HEAD" and not lines[-1].startswith("refs/")):
        return False
    found = _run([*_of(repository), "rev-parse", "--verify", "--quiet", "--end-of-options", ref])
    if found.returncode != 0:
        return False
    return _run([*_of(repository), "cat-file", "-e", found.stdout.decode("ascii").strip()]).returncode != 0


def is_dirty(repository: Repository, folder: Path) -> bool:
    """Return whether ``folder`` in the working tree differs from HEAD; untracked files count."""
    status = ("status", "--porcelain", "-z", "--ignore-submodules=dirty", "--", ".")
    return bool(_must(repository, *_without_filters(repository), *status, cwd=folder))


def _without_filters(repository: Repository) -> list[str]:
    """Return the options that switch off the filters which the repository's own configuration defines.

    ``git status`` runs them on changed files, so a repository from elsewhere could run any program. Those of the
    user's and the system's configuration (Git LFS) stay.
    """
    asked = [
        "config",
        "--includes",
        "--show-scope",
        "-z",
        "--name-only",
        "--get-regexp",
        r"^filter\..*\.(clean|process)$",
    ]
    found = _run([*_of(repository), *asked]).stdout.decode("utf-8", "surrogateescape").split("\0")
    options: list[str] = []
    for scope, key in zip(found[0::2], found[1::2], strict=False):
        if scope in ("local", "worktree"):
            options += ["-c", f"{key}=", "-c", f"{key.rpartition('.')[0]}.required=false"]
    return options


def list_tracked(repository: Repository, folder: Path) -> list[TreeEntry]:
    """Return the files of the index below ``folder``, paths relative to it, each once."""
    entries: dict[bytes, TreeEntry] = {}
    for record in _must(repository, "ls-files", "-z", "--stage", "-t", cwd=folder).split(b"\0"):
        if record:
            meta, _, raw = record.partition(b"\t")
            tag, mode, oid, _ = meta.decode("ascii").split(" ")
            entries[raw] = TreeEntry(raw, mode, oid, left_out=tag == "S")
    return list(entries.values())


def list_untracked(repository: Repository, folder: Path, *, ignored: bool) -> list[bytes]:
    """Return untracked paths below ``folder``. A path that ends in "/" is a nested repository or an ignored folder."""
    arguments = ["ls-files", "-z", "--others", "--exclude-standard"]
    if ignored:
        arguments += ["--ignored", "--directory"]
    return [raw for raw in _must(repository, *arguments, cwd=folder).split(b"\0") if raw]


def list_tree(repository: Repository, commit: str) -> list[TreeEntry]:
    """Return all entries of ``commit``, in git's order, with sizes."""
    entries = []
    for record in _must(repository, "ls-tree", "-r", "-z", "-l", "--full-tree", commit).split(b"\0"):
        if record:
            meta, _, raw = record.partition(b"\t")
            mode, _, oid, size = meta.decode("ascii").split()
            entries.append(TreeEntry(raw, mode, oid, int(size) if size.isdigit() else -1))
    return entries


def read_blobs(repository: Repository, oids: Sequence[str]) -> Iterator[bytes | None]:
    """Yield the content of each blob in order, None for one that is missing. One process for all."""
    if not oids:
        return
    with subprocess.Popen(
        ["git", *_QUIET, *map(str, _of(repository)), "cat-file", "--batch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        requests, replies = process.stdin, process.stdout
        assert requests is not None and replies is not None
        try:
            rest = iter(oids)
            while window := list(itertools.islice(rest, _WINDOW)):
                try:
                    requests.write("".join(f"{oid}\n" for oid in window).encode("ascii"))
                    requests.flush()
                except BrokenPipeError as error:
                    raise _stopped_early(repository) from error
                for _ in window:
                    head = replies.readline().split()
                    if not head:
                        raise _stopped_early(repository)
                    if len(head) == 3:
                        content = replies.read(int(head[2]))
                        replies.read(1)
                        yield content
                    else:
                        yield None
        finally:
            process.kill()
            with contextlib.suppress(BrokenPipeError):  # requests that nobody read any more
                requests.close()


def _stopped_early(repository: Repository) -> UpstreamError:
    return UpstreamError(
        f"git cat-file stopped early in {repository.git_dir}: check that it is still there, run `git fsck` in it",
        retryable=True,
    )


def read_log(repository: Repository, commit: str, folder: Path | None, *, limit: int) -> bytes:
    """Return the last ``limit`` commits up to ``commit`` that are no merges, newest first, with the files they changed.

    Args:
        folder: only what is below it, paths relative to it; None for all of a bare repository.

    Returns:
        For each commit ``\\x02 hash \\x1f parents \\x1f message \\x1f`` and git's raw diff, NUL-separated.
    """
    form = "--format=%x02%H%x1f%P%x1f%B%x1f"
    below = ["--relative", "--", "."] if folder is not None else []
    flags = ["--no-merges", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-show-signature", "--encoding=UTF-8"]
    return _must(repository, "log", *flags, f"--max-count={limit}", form, commit, *below, cwd=folder)


def update_mirror(url: str, mirror: Path, *, label: str) -> Repository:
    """Clone ``url`` bare into ``mirror``, or fetch it again. ``label`` is the URL without credentials.

    Credentials in ``url`` are used and not kept. A clone that fails leaves nothing behind.

    Raises:
        UpstreamError: the remote cannot be read; ``retryable`` unless git's words say that it never will.
    """
    repository = Repository(mirror, None)
    if (mirror / "HEAD").is_file():
        refs = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        _remote(
            url, label, [*_of(repository), "fetch", "--quiet", "--prune", "--no-write-fetch-head", "--", url, *refs]
        )
        head = _remote(url, label, ["ls-remote", "--symref", "--", url, "HEAD"])
        named = re.search(rb"^ref: (refs/heads/\S+)\tHEAD$", head, re.MULTILINE)
        if named:
            _must(repository, "symbolic-ref", "HEAD", os.fsdecode(named[1]))
        return repository
    try:
        mirror.parent.mkdir(parents=True, exist_ok=True)
        _sweep(mirror.parent)
        attempt = Path(tempfile.mkdtemp(prefix=f".cloning-{os.getpid()}-", dir=mirror.parent))
    except OSError as error:
        raise UsageError(f"the mirror folder {mirror.parent} cannot be written ({error}): choose another") from error
    try:
        _remote(url, label, ["clone", "--quiet", "--mirror", "--", url, str(attempt / "clone")])
        _must(Repository(attempt / "clone", None), "config", "remote.origin.url", label)
        try:
            (attempt / "clone").rename(mirror)
        except OSError:
            if not (mirror / "HEAD").is_file():  # else another process cloned it meanwhile: as good as ours
                raise
    finally:
        shutil.rmtree(attempt, ignore_errors=True)
    return repository


def _sweep(folder: Path) -> None:
    """Remove what clones left behind whose process was killed."""
    for attempt in folder.glob(".cloning-*"):
        owner = re.match(r"\.cloning-(\d+)-", attempt.name)
        try:
            if owner:
                os.kill(int(owner[1]), 0)
        except ProcessLookupError:
            shutil.rmtree(attempt, ignore_errors=True)
        except (PermissionError, OverflowError):  # alive, and another user's
            continue


def borrow(repository: Repository, folder: Path, *, bare: bool) -> Repository:
    """Make a repository in ``folder`` that reads the objects of ``repository`` and has no refs of its own yet.

    What is done in it (branches, a working tree) never touches ``repository``, which must outlive it.

    Raises:
        UpstreamError: git cannot make it.
    """
    objects = os.fsdecode(_must(repository, "rev-parse", "--git-path", "objects").removesuffix(b"\n"))
    done = _run(["init", "--quiet", "--template=", *(["--bare"] if bare else []), "--", folder])
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise UpstreamError(f"git could not make a repository in {folder}: {said}", retryable=False)
    made = Repository(folder, None) if bare else Repository(folder / ".git", folder)
    alternates = made.git_dir / "objects" / "info" / "alternates"
    alternates.parent.mkdir(exist_ok=True)
    alternates.write_bytes(os.fsencode(Path(objects).absolute()) + b"\n")
    return made


def set_branch(repository: Repository, branch: str, commit: str) -> None:
    """Make ``branch`` name ``commit``, whatever it named before; a working tree stays as it is."""
    _must(repository, "update-ref", "--no-deref", f"refs/heads/{branch}", commit)


def check_out(repository: Repository, commit: str) -> None:
    """Put the working tree to ``commit``; changes in it are lost."""
    _must(repository, "checkout", "--quiet", "--force", "--detach", commit, cwd=repository.work_tree)


def _remote(url: str, label: str, arguments: Sequence[str | Path]) -> bytes:
    done = _run(arguments)
    if done.returncode == 0:
        return done.stdout
    said = done.stderr.decode("utf-8", "replace").replace(url, label).strip()
    permanent = _PERMANENT.search(said) is not None
    advice = "check the URL and that git may read it (credential helper or ssh key)" if permanent else "try again later"
    raise UpstreamError(
        f"git could not read {label}: {said or 'no message'}; {advice}", retryable=not permanent, code="clone_failed"
    )
