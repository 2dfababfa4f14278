"""A file of changes (commit A, commit B, the lines that B adds and removes, a question) → cases, each checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from devmind.errors import UsageError
from devmind.evaluate.datasets.files import read_rows
from devmind.evaluate.datasets.foreign import clean_path, row_of
from devmind.evaluate.datasets.row import Row, shown
from devmind.model_tables import expanded
from devmind.scan.git import Repository, find_repository, resolve_commit


@dataclass(frozen=True, slots=True)
class Case:
    """One change of one file. ``new_lines`` are lines of the file at ``commit_b``; ``added`` and ``removed`` texts."""

    case_id: str
    repo: str
    commit_a: str
    commit_b: str
    file: str
    new_lines: tuple[tuple[int, int], ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    query: str


def read_cases(path: Path, *, limit: int | None = None) -> tuple[Case, ...]:
    """Read JSON Lines (or a JSON list) of ``{id, repo, commit_a, commit_b, file, new_lines, added, removed, query}``.

    Args:
        limit: only so many cases, taken in turn from each repository.

    Raises:
        UsageError: a case cannot be read, or there is none; names file, line, case and field.
    """
    cases = [_case(row_of(path, line, values, "id")) for line, values in read_rows(path)]
    if not cases:
        raise UsageError(f"{path} holds no cases: there is nothing to move to", code="no_topics")
    seen: set[str] = set()
    for case in cases:
        if case.case_id in seen:
            raise UsageError(f"{path} has the case {case.case_id!r} twice: give each an id of its own")
        seen.add(case.case_id)
    if limit is None:
        return tuple(cases)
    if limit < 1:
        raise UsageError(f"the limit is {limit}: take at least one case", code="bad_option")
    return _in_turn(cases)[:limit]


def _case(row: Row) -> Case:
    new_lines = tuple(_lines(row, f"new_lines[{i}]", pair) for i, pair in enumerate(row.items("new_lines")))
    case = Case(
        case_id=row.identity("id"),
        repo=row.text("repo"),
        commit_a=row.text("commit_a"),
        commit_b=row.text("commit_b"),
        file=clean_path(row.text("file")),
        new_lines=new_lines,
        added=_texts(row, "added"),
        removed=_texts(row, "removed"),
        query=row.text("query"),
    )
    for key in ("repo", "commit_a", "commit_b", "file", "query"):
        if not getattr(case, key).strip():
            raise row.fail(key, "is empty")
    if not case.new_lines and not case.removed:
        raise row.fail("new_lines", "is empty and so is 'removed': the case changes nothing that could be looked for")
    return case


def _lines(row: Row, field: str, value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2 or not all(type(item) is int for item in value):
        raise row.fail(field, f"must be [start, end], two whole numbers, not {shown(value)}")
    start, end = value
    if not 1 <= start <= end:
        raise row.fail(field, f"lines {start}-{end} are reversed or below 1")
    return start, end


def _texts(row: Row, key: str) -> tuple[str, ...]:
    for number, value in enumerate(row.items(key)):
        if not isinstance(value, str):
            raise row.fail(f"{key}[{number}]", f"must be a string, not {shown(value)}")
    return tuple(text.strip() for text in row.items(key) if text.strip())


def _in_turn(cases: list[Case]) -> tuple[Case, ...]:
    """Return the cases so that the first few are of as many repositories as there are."""
    nth: dict[str, int] = {}
    order = []
    for place, case in enumerate(cases):
        nth[case.repo] = nth.get(case.repo, 0) + 1
        order.append((nth[case.repo], place))
    return tuple(cases[place] for _, place in sorted(order))


class Histories:
    """The git repositories of the cases on this machine; nothing is written to them.

    Args:
        folders: a repository for each name, bare or with a working tree.
        root: a folder whose subfolders are named like the repositories: ``owner/name``, ``owner+name``,
            ``owner__name`` or ``name``; each is a repository, or holds just one.
    """

    def __init__(self, folders: Mapping[str, Path], *, root: Path | None = None) -> None:
        if not folders and root is None:
            raise UsageError("no repositories: give --repos DIR or --source REPO=GIT", code="no_source")
        if root is not None and not root.is_dir():
            raise UsageError(f"--repos {root} is not a folder: check the path", code="no_source")
        self._folders = dict(folders)
        self._root = root
        self._found: dict[str, Repository] = {}

    def __call__(self, repo: str) -> Repository:
        """Return the repository of that name.

        Raises:
            UsageError: it is not there, or is no git repository.
        """
        if repo not in self._found:
            self._found[repo] = self._find(repo)
        return self._found[repo]

    def checked(self, case: Case) -> Case:
        """Return the case with full commit hashes.

        Raises:
            UsageError: the repository is not there or lacks a commit.
        """
        return replace(case, commit_a=self._commit(case, "commit_a"), commit_b=self._commit(case, "commit_b"))

    def _commit(self, case: Case, field: str) -> str:
        repository = self(case.repo)
        ref: str = getattr(case, field)
        commit = resolve_commit(repository, ref)
        if not commit:
            raise UsageError(
                f"case {case.case_id!r}: {field} {ref!r} is no commit of {case.repo!r} in {repository.git_dir}: "
                "fetch it, or correct the case",
                code="unknown_ref",
            )
        return commit

    def _find(self, repo: str) -> Repository:
        if repo in self._folders:
            folder = expanded(str(self._folders[repo]))
            found = _repository_at(folder)
            if found is None:
                raise UsageError(f"--source {repo}={folder} is no git repository: check the path", code="no_source")
            return found
        if self._root is not None:
            owner, _, name = repo.rpartition("/")
            names = [f"{owner}{joint}{name}" for joint in ("/", "+", "__")] if owner else []
            for candidate in [*names, name]:
                found = _repository_at(self._root / candidate) or _repository_at(self._root / f"{candidate}.git")
                if found is not None:
                    return found
        where = f" in {self._root}" if self._root is not None else ""
        raise UsageError(f"no repository {repo!r}{where}: name it with --source {repo}=GIT", code="no_source")


def _repository_at(folder: Path) -> Repository | None:
    """Return the repository that the folder is, or the only one right inside it."""
    if not folder.is_dir():
        return None
    here = _root_of(folder)
    if here is not None:
        return here
    inside = [found for child in sorted(folder.iterdir()) if child.is_dir() and (found := _root_of(child)) is not None]
    return inside[0] if len(inside) == 1 else None


def _root_of(folder: Path) -> Repository | None:
    """Return the repository whose root is ``folder``; one that merely holds it does not count."""
    folder = folder.resolve()
    found = find_repository(folder)
    return found if found is not None and folder in (found.work_tree, found.git_dir) else None
