"""A knowledge base and the code on this machine → what is known of a file and its lines, for a diagnosis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from devmind.errors import DevMindError
from devmind.evaluate.datasets.sources import Sources
from devmind.evaluate.diagnose import Expected, Facts, Lines, Neighbour
from devmind.index.catalog import ORDINALS, Catalog
from devmind.index.fields import chunk_fields, path_field
from devmind.index.stored import stored_chunks, stored_references, stored_symbols
from devmind.retrieve.definitions import definitions
from devmind.retrieve.resolve import MAX_GUESSES
from devmind.retrieve.trace import Trace
from devmind.service import Service
from devmind.types import split_lines

N_NEAREST: Final = 3
SAME_FILE: Final = 0.5  # share of its lines that a whole file must keep to be the file that was meant
USES: Final = ("calls", "inherits", "implements", "references", "requests", "handles")
CONTENTS_KEPT: Final = 256  # whose names are kept: the same files are hits of many questions


class Store:
    """Looks up what a diagnosis needs. Reads published generations and files; keeps what it read.

    Args:
        labelled: the code at the commits of labels, if it is at hand.
    """

    def __init__(self, service: Service, *, labelled: Sources | None = None) -> None:
        self.service = service
        self._labelled = labelled
        self._files: dict[str, dict[str, dict[str, Any]]] = {}
        self._now: dict[str, Sources | None] = {}
        self._names_of = lru_cache(CONTENTS_KEPT)(partial(_read_names, service.catalog))

    def repositories(self) -> dict[str, int]:
        """Return the published repositories with their active generations."""
        return {name: generation for name, generation, _ in self.service.catalog.active().values()}

    def files(self, repo: str) -> Mapping[str, Mapping[str, Any]]:
        """Return the files of a repository, indexed and skipped, by path."""
        if repo not in self._files:
            self._files[repo] = {row["path"]: row for row in self.service.files(repo)}
        return self._files[repo]

    def is_indexed(self, repo: str, path: str) -> bool:
        return self.files(repo).get(path, {}).get("status") == "indexed"

    def is_known(self, repo: str, path: str) -> bool:
        """Return whether the file was seen when the repository was indexed, or the folder that it is in was skipped."""
        return self._row(repo, path) is not None

    def nearest_paths(self, repos: Iterable[str], path: str) -> list[str]:
        """Return the known paths most like ``path``: the same name elsewhere, then names that look like it."""
        known = sorted({other for repo in repos for other in self.files(repo)})
        name = path.rpartition("/")[2].lower()
        same = [other for other in known if other.rpartition("/")[2].lower() == name]
        alike = get_close_matches(path, known, n=N_NEAREST)
        return list(dict.fromkeys([*sorted(same, key=lambda other: (len(other), other)), *alike]))[:N_NEAREST]

    def names_in(self, repo: str, path: str, *, like: str) -> list[str]:
        """Return the qualified names that an indexed file defines, those most like ``like`` first."""
        n_lines = len(self.indexed_lines(repo, path))
        generation = self.repositories()[repo]
        named = self.service.sources.named_within(repo, path, generation, start_line=1, end_line=max(1, n_lines))
        names = [item.qualified_name for item in named if item.kind not in ("heading", "key")]
        return list(dict.fromkeys([*get_close_matches(like, names, n=N_NEAREST, cutoff=0.5), *names]))

    def indexed_lines(self, repo: str, path: str) -> list[str]:
        generation = self.repositories().get(repo, 0)
        return self.service.sources.lines(repo, path, generation) or []

    def text_now(self, repo: str, path: str) -> tuple[bool, str | None]:
        """Return whether the source can be read here, and the file's text in it now (None: not there)."""
        if ".." in path.split("/"):  # outside the repository
            return False, None
        if repo not in self._now:
            about = self.service.catalog.repository(repo)
            at_hand = bool(about.source) and Path(about.source).is_dir()
            self._now[repo] = Sources({repo: Path(about.source)}, at=about.ref or "") if at_hand else None
        sources = self._now[repo]
        if sources is None:
            return False, None
        try:
            return True, sources(repo, "", path)
        except DevMindError:  # the ref is gone, or git cannot read it: nothing is known of the file
            return False, None

    # Facts ------------------------------------------------------------------------------------------------------

    def facts(
        self, trace: Trace, expected: Expected, *, rows: Sequence[int], labelled: str = "", gone: str = ""
    ) -> Facts:
        """Return what is known of expected code whose chunks are ``rows``.

        Args:
            labelled: its lines when it was labelled, if they were recorded.
            gone: in which way the index lacks it, if that is known already.
        """
        code, missing = self._missing(expected)
        if missing:
            return Facts(missing, code)
        stale = gone or self._stale(expected, labelled)
        if stale or not rows:
            return Facts(stale=stale)
        return Facts(
            terms=self._terms(trace, expected, rows=rows), neighbour=self._neighbour(trace, expected, rows=rows)
        )

    def labelled_text(self, repo: str, path: str, *, commit: str, lines: Lines | None) -> str:
        """Return the lines at the commit of a label; empty when that is not at hand."""
        if self._labelled is None or lines is None:
            return ""
        try:
            text = self._labelled(repo, commit, path)
        except DevMindError:
            return ""
        return "\n".join(split_lines(text or "")[lines[0] - 1 : lines[1]])

    def _missing(self, expected: Expected) -> tuple[str, str]:
        """Return why the file is not in the index, as a code and a sentence; empty if it is."""
        repo, path = expected.repo, expected.path
        if repo not in self.repositories():
            return "no_repository", f"the repository {repo!r} is not in this knowledge base"
        row = self._row(repo, path)
        if row is None:
            now = self.text_now(repo, path)[1]
            if now is not None:
                return "new", f"{path} is in the source, but not in generation {self.repositories()[repo]}"
            near = ", ".join(self.nearest_paths([repo], path))
            return "absent", f"{repo} holds no file {path}" + (f"; nearest: {near}" if near else "")
        if row["status"] == "skipped":
            return str(row["reason"]), f"{row['path']} was skipped ({row['reason']}): {row['detail']}"
        return "", ""

    def _row(self, repo: str, path: str) -> Mapping[str, Any] | None:
        """Return what is known of a file; a folder that was skipped as a whole speaks for the files in it."""
        files = self.files(repo)
        parts = path.split("/")
        folders = ("/".join(parts[:n]) + "/" for n in range(len(parts) - 1, 0, -1))
        return next((files[known] for known in (path, *folders) if known in files), None)

    def _stale(self, expected: Expected, labelled: str) -> str:
        """Return in which way the index holds other lines than the ones meant; empty if it does not."""
        indexed = self.indexed_lines(expected.repo, expected.path)
        start = max((start for start, _ in expected.spans), default=1)
        if start > len(indexed):  # an end beyond it is common: some count the empty line behind the last line break
            return f"line {start} was meant, the indexed {expected.path} has {len(indexed)}"
        if labelled and len(expected.spans) == 1 and not _same(labelled.split("\n"), _cut(indexed, expected.spans[0])):
            start, end = expected.spans[0]
            return f"lines {start}-{end} of the indexed {expected.path} are not the ones that were labelled"
        known, text = self.text_now(expected.repo, expected.path)
        if not known:
            return ""
        if text is None:
            return f"{expected.path} is in the index, but no longer in its source"
        now = split_lines(text)
        spans = expected.spans
        intact = any(_stands_in(_cut(indexed, span), now) for span in spans) if spans else _is_same_file(indexed, now)
        return "" if intact else f"{expected.path} changed in its source since it was indexed"

    def _terms(self, trace: Trace, expected: Expected, *, rows: Sequence[int]) -> dict[int, frozenset[str]]:
        """Return what the lexical index holds of each chunk."""
        content_id = trace.view.files[int(trace.view.file[rows[0]])].content_id
        chunks = stored_chunks(self.service.catalog, content_id)
        symbols = stored_symbols(self.service.catalog, content_id)
        of_path = path_field(expected.path)
        found = {}
        for row in rows:
            fields = chunk_fields(chunks[int(trace.view.keys[row]) & ORDINALS], symbols)
            found[row] = frozenset(" ".join([*fields, of_path]).split())
        return found

    # Neighbours -------------------------------------------------------------------------------------------------

    def _neighbour(self, trace: Trace, expected: Expected, *, rows: Sequence[int]) -> Neighbour | None:
        """Return the best hit that is one step along a relation from the expected code."""
        file = trace.view.files[int(trace.view.file[rows[0]])]
        spans = expected.spans or ((1, len(self.indexed_lines(expected.repo, expected.path))),)
        defined, used = self._names(file.content_id, spans)
        contents = {(trace.repos[f.repo_id], f.path): f.content_id for f in trace.view.files}
        for hit in trace.hits:
            if hit.repo != expected.repo:
                continue
            hit_defines, hit_uses = self._names(contents[hit.repo, hit.path], ((hit.start_line, hit.end_line),))
            for relation, names in (("uses", defined & hit_uses), ("used by", used & hit_defines)):
                telling = sorted(name for name in names if self._is_telling(name, file.repo_id))
                if telling:
                    return Neighbour(hit.rank, "uses" if relation == "uses" else "used by", telling[0])
        return None

    def _names(self, content_id: int, spans: Sequence[Lines]) -> tuple[set[str], set[str]]:
        """Return the names that lines of a content define, and those that they use."""
        defined, used = self._names_of(content_id)
        return (
            {name for line, name in defined if _within(line, spans)},
            {name for line, name in used if _within(line, spans)},
        )

    def _is_telling(self, name: str, repo_id: int) -> bool:
        """Return whether few definitions have the name, so that a use of it says what is used."""
        return 1 <= len(definitions(self.service.catalog, name, [repo_id])) <= MAX_GUESSES


def _read_names(catalog: Catalog, content_id: int) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Return (line, name) of the definitions in a content, and of the uses."""
    defined = [(s.start_line, s.name) for s in stored_symbols(catalog, content_id) if s.kind not in ("heading", "key")]
    return defined, [(r.line, r.name) for r in stored_references(catalog, content_id) if r.kind in USES]


def _within(line: int, spans: Sequence[Lines]) -> bool:
    return any(start <= line <= end for start, end in spans)


def _cut(lines: Sequence[str], span: Lines) -> list[str]:
    return list(lines[span[0] - 1 : span[1]])


def _same(a: Sequence[str], b: Sequence[str]) -> bool:
    """Return whether the lines are the same, white space at their ends aside."""
    return [line.rstrip() for line in a] == [line.rstrip() for line in b]


def _stands_in(piece: Sequence[str], lines: Sequence[str]) -> bool:
    return "\n".join(piece) in "\n".join(lines)


def _is_same_file(indexed: Sequence[str], now: Sequence[str]) -> bool:
    kept = sum((Counter(indexed) & Counter(now)).values())
    return kept >= SAME_FILE * len(indexed)
