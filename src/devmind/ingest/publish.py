"""What an ingest stored → the next published generation, its report, and the end of what is too old."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import get_args

from devmind.embed.types import Embedder
from devmind.index.catalog import Catalog, Repository
from devmind.index.snapshot import gather
from devmind.index.snapshot_folder import drop_snapshots, write_snapshot
from devmind.ingest.forget import forget
from devmind.ingest.report import Report
from devmind.types import SkipByRule, Skipped

BY_RULE = frozenset(get_args(SkipByRule))  # every other reason counts against completeness
VISIBLE_AT = (
    "FROM alive a JOIN place p ON p.place_id = a.place_id {} WHERE a.repo_id = ? AND a.born <= ? "
    "AND (a.died IS NULL OR a.died > ?)"
)


class Publisher:
    """Moves repositories of one knowledge base folder to their next generation.

    Args:
        kb: the folder.
        catalog: its catalog, opened for writing.
        embedder: the model whose vectors the contents hold.
        keep: how many generations of a repository are kept.
    """

    def __init__(self, kb: Path, catalog: Catalog, embedder: Embedder, *, keep: int) -> None:
        self.kb, self.catalog, self.embedder, self.keep = kb, catalog, embedder, keep

    def publish(
        self,
        repo: Repository,
        places: Mapping[str, int],
        skips: Sequence[Skipped],
        *,
        commit: str,
        n_reused: int,
        started: float,
    ) -> Report:
        """Publish the generation in which ``places`` (path → place id) are visible, unless nothing changed."""
        number = self.prepare(repo, places, skips, commit=commit)
        return self.conclude(repo, number, skips, commit=commit, n_reused=n_reused, started=started)

    def prepare(self, repo: Repository, places: Mapping[str, int], skips: Sequence[Skipped], *, commit: str) -> int:
        """Write what readers of the next generation will need, still seen by none.

        Returns:
            The number of that generation; the active one's when nothing changed.
        """
        active = repo.active_generation
        before = {at[0] for at in self.catalog.alive_places(repo.repo_id, active).values()} if active else set()
        after = set(places.values())
        published = (commit_of(self.catalog, repo, active), _skip_rows(skips_of(self.catalog, repo, active)))
        if active and before == after and published == (commit, _skip_rows(skips)):
            return active
        self._prepare(repo, active + 1, before, after, skips)
        return active + 1

    def conclude(
        self,
        repo: Repository,
        number: int,
        skips: Sequence[Skipped],
        *,
        commit: str,
        n_reused: int,
        started: float,
    ) -> Report:
        """Let readers see the generation that was prepared, and forget what is too old."""
        changed = number > repo.active_generation
        report = self._report(repo, number, commit, skips, changed=changed, n_reused=n_reused, started=started)
        if changed:
            self.catalog.publish(repo.repo_id, number, commit=commit, report=asdict(report))
            self._collect(repo, number)
        return report

    def _prepare(
        self, repo: Repository, number: int, before: set[int], after: set[int], skips: Sequence[Skipped]
    ) -> None:
        with self.catalog.transaction():
            db = self.catalog.db
            db.executemany(
                "UPDATE alive SET died = ? WHERE place_id = ? AND died IS NULL",
                [(number, place_id) for place_id in before - after],
            )
            db.executemany(
                "INSERT INTO alive (place_id, repo_id, born) VALUES (?,?,?)",
                [(place_id, repo.repo_id, number) for place_id in sorted(after - before)],
            )
            db.executemany(
                "INSERT INTO skip VALUES (?,?,?,?,?,?)", [(repo.repo_id, number, *row) for row in _skip_rows(skips)]
            )
        made = gather(self.catalog, repo.repo_id, number, self.embedder)
        write_snapshot(self.kb / "vectors", self.catalog, repo.repo_id, number, made)

    def _report(
        self,
        repo: Repository,
        number: int,
        commit: str,
        skips: Sequence[Skipped],
        *,
        changed: bool,
        n_reused: int,
        started: float,
    ) -> Report:
        at = (repo.repo_id, number, number)
        content = VISIBLE_AT.format("JOIN content c ON c.content_id = p.content_id")
        languages = self.catalog.rows(f"SELECT c.language, count(*), sum(c.size_bytes) {content} GROUP BY 1", at)
        counts = {
            table: self.catalog.rows(
                f"SELECT count(*) {VISIBLE_AT.format(f'JOIN {table} t ON t.content_id = p.content_id')}", at
            )[0][0]
            for table in ("chunk", "symbol", "reference")
        }
        n_indexed = sum(row[1] for row in languages)
        trouble = sum(1 for skip in skips if skip.reason not in BY_RULE)
        return Report(
            repo=repo.name,
            generation=number,
            commit=commit,
            changed=changed,
            n_files=n_indexed + len(skips),
            n_indexed=n_indexed,
            n_reused=n_reused,
            n_chunks=counts["chunk"],
            n_symbols=counts["symbol"],
            n_edges=counts["reference"],
            files_by_language={row[0]: row[1] for row in sorted(languages, key=lambda row: (-row[1], row[0]))},
            skips_by_reason=dict(Counter(skip.reason for skip in skips).most_common()),
            completeness=n_indexed / (n_indexed + trouble) if n_indexed + trouble else 1.0,
            bytes_indexed=sum(row[2] for row in languages),
            seconds=round(time.monotonic() - started, 3),
        )

    # What is no longer needed -----------------------------------------------------------------------------------

    def kept(self, repo: Repository) -> list[int]:
        """Return the generations that can be gone back to, oldest first."""
        floor = repo.active_generation - self.keep
        return [
            row[0]
            for row in self.catalog.rows(
                "SELECT number FROM generation WHERE repo_id = ? AND number > ? AND number <= ? ORDER BY 1",
                (repo.repo_id, floor, repo.active_generation),
            )
        ]

    def _collect(self, repo: Repository, active: int) -> None:
        """Forget generations older than those kept, and what only they held."""
        floor = active - self.keep
        with self.catalog.transaction():
            db = self.catalog.db
            db.execute("DELETE FROM alive WHERE repo_id = ? AND died <= ?", (repo.repo_id, floor + 1))
            db.execute("DELETE FROM skip WHERE repo_id = ? AND generation <= ?", (repo.repo_id, floor))
            db.execute("DELETE FROM generation WHERE repo_id = ? AND number <= ?", (repo.repo_id, floor))
        dead = self.catalog.rows(
            "SELECT place_id FROM place WHERE repo_id = ? AND place_id NOT IN (SELECT place_id FROM alive)",
            (repo.repo_id,),
        )
        forget(self.kb, self.catalog, [row[0] for row in dead])
        drop_snapshots(self.kb / "vectors", repo.repo_id, before=active - 1)


def skips_of(catalog: Catalog, repo: Repository, generation: int) -> list[Skipped]:
    rows = catalog.rows(
        "SELECT path, reason, detail, size_bytes FROM skip WHERE repo_id = ? AND generation = ?",
        (repo.repo_id, generation),
    )
    return [Skipped(*row) for row in rows]


def commit_of(catalog: Catalog, repo: Repository, generation: int) -> str:
    found = catalog.rows(
        "SELECT commit_hash FROM generation WHERE repo_id = ? AND number = ?", (repo.repo_id, generation)
    )
    return str(found[0][0]) if found else ""


def _skip_rows(skips: Sequence[Skipped]) -> list[tuple[str, str, str, int]]:
    return sorted((skip.path, skip.reason, skip.detail, skip.size_bytes) for skip in skips)
