"""Folders and git repositories on this machine → the text of a file of a repository at a commit. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from devmind.errors import UsageError
from devmind.scan.decode import BinaryContent, UndecodableContent, decode
from devmind.scan.git import Repository, find_repository, list_tree, read_blobs, resolve_commit
from devmind.scan.secrets import mask_secrets


class UnavailableCode(UsageError):
    """The code of a repository at a commit is not on this machine: nothing can be said about its labels."""

    code = "no_source"


class Sources:
    """Reads the code that labels are about. Call it with repository, commit and path.

    Args:
        folders: a folder for each repository; the one under "" serves every repository that has none of its own.
        root: a folder whose subfolders are named like the repositories, for those that ``folders`` lacks.
        at: read this ref instead of each topic's commit.

    A plain folder is read as it is, whatever the commit; a git repository at the commit, or its files if there is none.
    """

    def __init__(self, folders: Mapping[str, Path], *, root: Path | None = None, at: str = "") -> None:
        self.folders = dict(folders)
        self.root = root
        self.at = at
        self._repositories: dict[Path, Repository | None] = {}
        self._trees: dict[tuple[Path, str], dict[str, str]] = {}
        self._texts: dict[tuple[str, str, str], str | None] = {}
        for repo, folder in self.folders.items():
            if not folder.is_dir():
                raise UsageError(
                    f"the source {folder} of {repo or 'every repository'!r} is not a folder: check the path"
                )

    def __call__(self, repo: str, commit: str, path: str) -> str | None:
        """Return the text as the index would hold it (decoded, secrets masked), or None if there is no such file.

        Raises:
            UnavailableCode: no source was given for the repository, or it lacks the commit.
        """
        key = (repo, self.at or commit, path)
        if key not in self._texts:
            data = self._read(*key)
            self._texts[key] = None if data is None else _text(data)
        return self._texts[key]

    def files(self, repo: str, commit: str, suffix: str) -> dict[str, str]:
        """Return the texts of all files of a repository at a commit whose names end in ``suffix``, by path.

        Of a plain folder, those in hidden folders are left out.
        """
        folder, tree = self._state(repo, self.at or commit)
        repository = self._repositories[folder]
        if tree is not None and repository is not None:
            wanted = [path for path in tree if path.endswith(suffix)]
            blobs = read_blobs(repository, [tree[path] for path in wanted])
            found = dict(zip(wanted, blobs, strict=True))
        else:
            inside = (path.relative_to(folder) for path in sorted(folder.rglob(f"*{suffix}")) if path.is_file())
            seen = [path.as_posix() for path in inside if not any(part.startswith(".") for part in path.parts)]
            found = {path: self._read(repo, commit, path) for path in seen}
        texts = ((path, _text(data)) for path, data in found.items() if data is not None)
        return {path: text for path, text in texts if text is not None}

    def many(self, repo: str, commit: str, paths: Iterable[str]) -> dict[str, str | None]:
        """Return the texts of several files of a repository at a commit, read together; None where there is none."""
        wanted = list(dict.fromkeys(paths))
        folder, tree = self._state(repo, self.at or commit)
        repository = self._repositories[folder]
        if tree is not None and repository is not None:
            new = [path for path in wanted if path in tree and (repo, self.at or commit, path) not in self._texts]
            for path, data in zip(new, read_blobs(repository, [tree[path] for path in new]), strict=True):
                self._texts[(repo, self.at or commit, path)] = None if data is None else _text(data)
        return {path: self(repo, commit, path) for path in wanted}

    def commit(self, repo: str, commit: str) -> str:
        """Return the full hash of what is read, "" for files on disk."""
        folder, tree = self._state(repo, self.at or commit)
        repository = self._repositories[folder]
        return resolve_commit(repository, self.at or commit) if repository and tree is not None else ""

    def _folder(self, repo: str) -> Path:
        folder = self.folders.get(repo)
        if folder is None and self.root is not None and repo and (self.root / repo).is_dir():
            folder = self.root / repo
        folder = folder or self.folders.get("")
        if folder is None:
            if not repo:
                raise UnavailableCode("the topic names no repository; say where its code is with --source FOLDER")
            raise UnavailableCode(f"no source for the repository {repo!r}; name its folder with --source {repo}=FOLDER")
        return folder.resolve()

    def _state(self, repo: str, commit: str) -> tuple[Path, dict[str, str] | None]:
        """Return the folder, and its tree as path → object id if a commit of a git repository is meant."""
        folder = self._folder(repo)
        if folder not in self._repositories:
            self._repositories[folder] = find_repository(folder)
        repository = self._repositories[folder]
        if repository is None or (not commit and repository.work_tree is not None):
            return folder, None
        key = (folder, commit)
        if key not in self._trees:
            self._trees[key] = _tree(repository, folder, commit or "HEAD", repo)
        return folder, self._trees[key]

    def _read(self, repo: str, commit: str, path: str) -> bytes | None:
        folder, tree = self._state(repo, commit)
        if tree is None:
            return _inside(folder, path)
        repository = self._repositories[folder]
        if path not in tree or repository is None:
            return None
        return next(iter(read_blobs(repository, [tree[path]])), None)


def _inside(folder: Path, path: str) -> bytes | None:
    """Read a file of the folder; None if there is none, or if the path or a link leads out of the folder."""
    try:
        file = (folder / path).resolve()
        return file.read_bytes() if file.is_relative_to(folder) else None
    except (OSError, ValueError):  # ValueError: a zero byte in the path
        return None


def _tree(repository: Repository, folder: Path, commit: str, repo: str) -> dict[str, str]:
    full = resolve_commit(repository, commit)
    if not full:
        raise UnavailableCode(
            f"the repository {repo!r} in {folder} has no commit {commit!r}; fetch it, or use --at REF"
        )
    prefix = ""
    if repository.work_tree is not None and folder != repository.work_tree:
        prefix = folder.relative_to(repository.work_tree).as_posix() + "/"
    entries = ((entry.raw.decode("utf-8", "surrogateescape"), entry) for entry in list_tree(repository, full))
    return {
        path.removeprefix(prefix): entry.oid
        for path, entry in entries
        if path.startswith(prefix) and entry.mode.startswith("100")  # neither links nor submodules
    }


def _text(data: bytes) -> str | None:
    try:
        return mask_secrets(decode(data)[0])
    except (BinaryContent, UndecodableContent):
        return None
