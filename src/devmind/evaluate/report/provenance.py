"""What is needed to make a result again: versions, settings, the dataset, the code, the rules of scoring."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import numpy as np

from devmind import __version__
from devmind.evaluate.measured import Measured, Scoring
from devmind.evaluate.statistics import LEVEL, N_RESAMPLES, N_SIGN_SAMPLES, SEED
from devmind.evaluate.types import Dataset
from devmind.scan.git import find_repository, is_dirty, resolve_commit

_COMMIT_CHARS = 12
_SHOWN_COMMITS = 20  # a dataset of bug reports may have a commit for every topic


def report_provenance(dataset: Dataset, scoring: Scoring, *, split: str, folder: Path, now: datetime) -> dict[str, str]:
    """Return what holds for all runs of a report.

    Args:
        split: the half of the dataset.
        folder: where the command runs; if it is in a git repository, its commit is recorded.
    """
    return {
        "made": now.isoformat(timespec="seconds"),
        "devmind": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "commit": _commit_of(folder),
        "dataset": dataset.name,
        "dataset_hash": dataset.content_hash,
        "split": split,
        "n_topics": str(len(dataset.topics)),
        "labelled_at": _commits(dataset),
        "match": scoring.match,
        "group_by": ", ".join(scoring.group_by),
        "compared_with_code": "no" if scoring.code is None else "yes",
        "intervals": f"{LEVEL:.0%}, {N_RESAMPLES:,} resamples, clustered by repository, seed {SEED}",
        "p": f"sign flips, exact or {N_SIGN_SAMPLES:,} samples, Holm over the measures compared",
    }


def run_provenance(measured: Measured) -> dict[str, str]:
    """Return how one run was made: its target's settings, and what was recorded when it began."""
    return {"system": measured.run.system, "k": str(measured.run.k), **measured.run.provenance}


def baseline_provenance(measured: Measured, around: Mapping[str, str]) -> dict[str, str]:
    """Return one flat record of both: what a baseline file holds."""
    return {**around, **{f"run.{key}": value for key, value in run_provenance(measured).items()}}


def short_commit(said: str) -> str:
    """Return what `report_provenance` says of the commit, with fewer digits."""
    commit, *rest = said.split(" ")
    return " ".join(["commit " + commit[:_COMMIT_CHARS], *rest]) if len(commit) == 40 else said


def _commit_of(folder: Path) -> str:
    repository = find_repository(folder)
    if repository is None:
        return "not in a git repository"
    commit = resolve_commit(repository, "HEAD")
    if not commit:
        return "no commit yet"
    changed = repository.work_tree is not None and is_dirty(repository, repository.work_tree)
    return commit + (" with uncommitted changes" if changed else "")


def _commits(dataset: Dataset) -> str:
    counts = Counter((topic.repo, topic.commit) for topic in dataset.topics if topic.commit)
    said = [f"{repo or 'code'}@{commit[:_COMMIT_CHARS]} ({n})" for (repo, commit), n in counts.most_common()]
    more = [f"… {len(said) - _SHOWN_COMMITS} more"] if len(said) > _SHOWN_COMMITS else []
    return ", ".join(said[:_SHOWN_COMMITS] + more) or "no commit named"
