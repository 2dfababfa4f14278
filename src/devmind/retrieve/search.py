"""One search: understand → legs → candidates → rank → shape.

All reads of a search happen in one read transaction of the catalog, so every leg is judged by the same generations.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from math import exp
from pathlib import Path

import numpy as np

from devmind.embed.types import Embedder
from devmind.errors import UsageError
from devmind.index.catalog import Catalog, unknown_repository
from devmind.index.lexical import LexicalReader, idf
from devmind.index.terms import terms
from devmind.index.vectors import Snapshot, Space, load_snapshot
from devmind.retrieve.candidates import Candidate, defining, load
from devmind.retrieve.query import Query, understand
from devmind.retrieve.rank import Ranked, rank
from devmind.types import Filters, Hit, SearchResult, split_lines, stable_id

LEG_DEPTH = 200  # candidates a leg gives; chosen by hand, deeper legs were not tried yet
CACHE_SECONDS = 600.0
CACHE_ENTRIES = 1000
MAX_PER_FILE = 2
MAX_WIDENINGS = 4


class Retriever:
    """Searches one knowledge base folder. Safe to share between threads (searches run one at a time).

    Args:
        kb: the folder.
        embedder: makes the query's vector; must be the one that the index was made with.
        clock: seconds, for the cache.
        cache_seconds: how long a result may be given again; 0 searches each time.
    """

    def __init__(
        self,
        kb: Path,
        embedder: Embedder,
        *,
        clock: Callable[[], float] = time.monotonic,
        cache_seconds: float = CACHE_SECONDS,
    ) -> None:
        self.kb = kb
        self.catalog = Catalog(kb / "catalog.sqlite")
        self.embedder = embedder
        self._lexical = LexicalReader(kb / "lexical")
        self._snapshots: dict[tuple[int, int], Snapshot] = {}
        self._last_space: tuple[tuple[tuple[int, int], ...], Space] | None = None
        self._active: dict[int, tuple[str, int, str]] = {}
        self._cache: OrderedDict[tuple[object, ...], tuple[float, SearchResult]] = OrderedDict()
        self._texts: OrderedDict[int, list[str]] = OrderedDict()
        self._clock = clock
        self._cache_seconds = cache_seconds
        self._lock = threading.Lock()

    def close(self) -> None:
        self.catalog.close()

    def search(self, text: str, *, k: int = 10, filters: Filters = Filters()) -> SearchResult:  # noqa: B008
        """Return up to ``k`` hits, best first.

        Raises:
            UsageError: the query is empty, ``k`` is not positive, or a repository of the filter is unknown.
        """
        if not text.strip():
            raise UsageError("the query is empty: say what to look for", code="empty_query")
        if k < 1:
            raise UsageError(f"k is {k}: ask for at least one hit", code="bad_k")
        with self._lock:
            self.catalog.db.execute("BEGIN")
            try:
                return self._search(text, k, filters)
            finally:
                self.catalog.db.execute("ROLLBACK")

    def _search(self, text: str, k: int, filters: Filters) -> SearchResult:
        started = time.perf_counter()
        active = self._take_up()
        chosen = self._chosen(active, filters)
        key = (" ".join(text.split()), k, filters, tuple(sorted((r, active[r][1]) for r in chosen)))
        known = self._cache.get(key)
        if known is not None and self._clock() - known[0] < self._cache_seconds:
            return known[1]
        query = understand(text, df=self._lexical.df, n_chunks=self._lexical.n_chunks)
        timings = {"understand": _ms(started)}
        ranked = self._rank(query, chosen, active, k, filters, timings)
        hits = self._shape(ranked, k, active)
        result = SearchResult(
            query=text,
            hits=tuple(hits),
            confidence=self._confidence(query, ranked[:5], hits),
            generations={active[r][0]: active[r][1] for r in chosen},
            timings_ms={**timings, "total": _ms(started)},
            nearest_names=tuple(
                dict.fromkeys(r.candidate.qualified_name for r in ranked[:8] if r.candidate.qualified_name)
            )[:5],
        )
        self._cache[key] = (self._clock(), result)
        while len(self._cache) > CACHE_ENTRIES:
            self._cache.popitem(last=False)
        return result

    # The published state ----------------------------------------------------------------------------------------

    def _take_up(self) -> dict[int, tuple[str, int, str]]:
        """Read the active generations; when they moved, see the lexical commits that came before."""
        active = self.catalog.active()
        if active != self._active:
            self._lexical.refresh()
            self._snapshots = {
                at: s for at, s in self._snapshots.items() if active.get(at[0], ("", -1, ""))[1] == at[1]
            }
            self._active = active
        return active

    def _chosen(self, active: dict[int, tuple[str, int, str]], filters: Filters) -> list[int]:
        by_name = {name: repo_id for repo_id, (name, _, _) in active.items()}
        for name in filters.repos:
            if name not in by_name:
                raise unknown_repository(name, by_name)
        return sorted(by_name[name] for name in filters.repos) if filters.repos else sorted(active)

    def snapshot(self, repo_id: int, generation: int) -> Snapshot:
        at = (repo_id, generation)
        if at not in self._snapshots:
            self._snapshots[at] = load_snapshot(self.kb / "vectors", self.catalog, *at, self.embedder.dim)
        return self._snapshots[at]

    def _space(self, chosen: Sequence[int], active: dict[int, tuple[str, int, str]]) -> Space:
        at = tuple((repo_id, active[repo_id][1]) for repo_id in chosen)
        if self._last_space is None or self._last_space[0] != at:
            self._last_space = (at, Space([self.snapshot(*one) for one in at]))
        return self._last_space[1]

    # Legs and ranking -------------------------------------------------------------------------------------------

    def _rank(
        self,
        query: Query,
        chosen: Sequence[int],
        active: dict[int, tuple[str, int, str]],
        k: int,
        filters: Filters,
        timings: dict[str, float],
    ) -> list[Ranked]:
        snapshots = [self.snapshot(repo_id, active[repo_id][1]) for repo_id in chosen]
        space = self._space(chosen, active)
        vector = self.embedder.embed_queries([query.english or query.text])[0]
        repo_ids = chosen if len(chosen) < len(active) else ()
        defines = self._definitions(query, set(chosen))
        depth, kept = max(LEG_DEPTH, 4 * k), dict[int, Candidate]()
        for _ in range(MAX_WIDENINGS):
            mark = time.perf_counter()
            lexical = dict(self._lexical.search(query.weights, k=depth, repo_ids=repo_ids))
            timings["lexical"] = _ms(mark)
            mark = time.perf_counter()
            near = space.nearest(vector, depth // 2)
            timings["dense"] = _ms(mark)
            mark = time.perf_counter()
            found = load(self.catalog, lexical.keys() | {key for key, _ in near} | defines.keys())
            timings["catalog"] = _ms(mark)
            kept = {key: c for key, c in sorted(found.items()) if c.repo_id in chosen and _passes(c, filters)}
            if len(kept) >= 4 * k or len(lexical) < depth:
                break
            depth *= 4
        mark = time.perf_counter()
        keys = np.fromiter(kept, np.int64, len(kept))
        dense = np.zeros(len(keys), np.float32)
        for snapshot in snapshots:
            dense = np.maximum(dense, snapshot.cosines(vector, keys))
        n = self._lexical.n_chunks
        rarity = {term: idf(self._lexical.df(term), n) for term in query.weights}
        scores = np.array([lexical.get(key, 0.0) for key in kept], np.float32)
        ranked = rank(query, list(kept.values()), scores, dense, defines, rarity)
        timings["rank"] = _ms(mark)
        return ranked

    def _definitions(self, query: Query, repo_ids: set[int]) -> dict[int, float]:
        found: dict[int, float] = {}
        for name in query.identifiers:
            defined = defining(self.catalog, name, repo_ids)
            for key, same_case in defined:
                found[key] = max(found.get(key, 0.0), (1.0 if same_case else 0.6) / (1 + 0.1 * len(defined)))
        return found

    # Shape ------------------------------------------------------------------------------------------------------

    def _shape(self, ranked: Sequence[Ranked], k: int, active: dict[int, tuple[str, int, str]]) -> list[Hit]:
        """Collapse duplicates, keep at most two chunks a file, merge what adjoins."""
        chosen: list[Ranked] = []
        also: dict[str, list[str]] = {}
        spans: dict[int, tuple[int, int]] = {}
        n_of_file: dict[tuple[int, str], int] = {}
        for r in ranked:
            c = r.candidate
            if c.body_hash in also:
                also[c.body_hash].append(f"{active[c.repo_id][0]}/{c.path}:{c.start_line}")
                continue
            file = (c.repo_id, c.path)
            touching = next(
                (o.candidate.key for o in chosen if (o.candidate.repo_id, o.candidate.path) == file
                 and o.candidate.qualified_name == c.qualified_name and c.qualified_name
                 and c.start_line <= spans[o.candidate.key][1] + 1 and c.end_line >= spans[o.candidate.key][0] - 1),
                None,
            )  # fmt: skip
            if touching is not None:
                low, high = spans[touching]
                spans[touching] = (min(low, c.start_line), max(high, c.end_line))
                continue
            if n_of_file.get(file, 0) >= MAX_PER_FILE or len(chosen) >= k:
                if len(chosen) >= k and len(also) > 4 * k:
                    break
                continue
            n_of_file[file] = n_of_file.get(file, 0) + 1
            also[c.body_hash] = []
            spans[c.key] = (c.start_line, c.end_line)
            chosen.append(r)
        return [
            self._hit(i, r, spans[r.candidate.key], also[r.candidate.body_hash], active)
            for i, r in enumerate(chosen, 1)
        ]

    def _hit(
        self, place: int, r: Ranked, span: tuple[int, int], also: list[str], active: dict[int, tuple[str, int, str]]
    ) -> Hit:
        c = r.candidate
        name, generation, commit = active[c.repo_id]
        lines = self.lines_of(c.content_id)[span[0] - 1 : span[1]]
        return Hit(
            rank=place,
            score=round(r.score, 6),
            repo=name,
            path=c.path,
            start_line=span[0],
            end_line=span[1],
            language=c.language,
            symbol=c.qualified_name,
            kind=c.node_type,
            role=c.role,
            content="\n".join(lines),
            header=c.header,
            commit=commit,
            generation=generation,
            chunk_id=stable_id(name, c.path, c.start_line, c.end_line),
            also_at=tuple(also),
            why=dict(r.why),
        )

    def lines_of(self, content_id: int) -> list[str]:
        """Return the lines of a content, from a small cache of texts."""
        if content_id not in self._texts:
            self._texts[content_id] = split_lines(self.catalog.text(content_id))
            while len(self._texts) > 256:
                self._texts.popitem(last=False)
        self._texts.move_to_end(content_id)
        return self._texts[content_id]

    def _confidence(self, query: Query, top: Sequence[Ranked], hits: Sequence[Hit]) -> float:
        """Return 0..1: how much of what was asked the best hits hold, and how near their meaning is.

        The telling part of a question about something absent is a term that no good hit holds.
        """
        if not hits or not query.groups:
            return 0.0 if not hits else 0.5
        total = sum(weight for _, weight in query.groups) or 1.0
        covered = []
        everywhere: set[str] = set()
        for hit in hits[:5]:
            here = set(terms(f"{hit.path} {hit.symbol} {hit.header} {hit.content}"))
            everywhere |= here
            covered.append(sum(weight for group, weight in query.groups if group & here) / total)
        together = sum(weight for group, weight in query.groups if group & everywhere) / total
        cosine = max((r.why["dense"] for r in top), default=0.0)
        return round(1 / (1 + exp(-(4.0 * max(covered) + 3.0 * together + 3.0 * cosine - 5.0))), 4)


def _passes(c: Candidate, filters: Filters) -> bool:
    return (
        (not filters.languages or c.language in filters.languages)
        and (not filters.roles or c.role in filters.roles)
        and (not filters.kinds or c.node_type in filters.kinds)
        and (
            not filters.paths
            or any(fnmatchcase(c.path, glob) or c.path.startswith(glob.rstrip("/") + "/") for glob in filters.paths)
        )
    )


def _ms(since: float) -> float:
    return round((time.perf_counter() - since) * 1000, 3)


__all__ = ["CACHE_SECONDS", "Retriever"]
