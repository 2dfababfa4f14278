"""A measured run → the scores that are stored beside it, bound to the responses that they are of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from devmind.errors import UsageError
from devmind.evaluate.measured import RUN_FILE, SCORES_FILE, Measured, file_hash
from devmind.evaluate.report.provenance import baseline_provenance
from devmind.evaluate.stored import StoredScores, read_scores

_RUN_HASH: Final = "run_sha256"


def stored_scores(measured: Measured, around: Mapping[str, str], folder: Path | None = None) -> StoredScores:
    """Return the scores as they are stored.

    Args:
        around: what holds for the whole evaluation (`report_provenance`).
        folder: the run's, whose responses the scores are of.
    """
    provenance = baseline_provenance(measured, around)
    if folder is not None:
        provenance[_RUN_HASH] = file_hash(folder / RUN_FILE)
    return StoredScores(measured.scores, measured.run.dataset, provenance)


def scores_of_run(path: Path) -> StoredScores:
    """Return the scores in a run's folder, or in a file of scores.

    Raises:
        UsageError: there are none, or the responses beside them changed since.
    """
    if not path.is_dir():
        return read_scores(path)
    file = path / SCORES_FILE
    if not file.exists():
        raise UsageError(
            f"{path} has no {SCORES_FILE}: finish the run with 'devmind eval run', or score it with --dataset",
            code="not_scores",
        )
    stored = read_scores(file)
    if stored.provenance.get(_RUN_HASH) != file_hash(path / RUN_FILE):
        raise UsageError(
            f"{file} is of earlier responses than {path / RUN_FILE}: finish the run with 'devmind eval run', or score "
            "it with --dataset",
            code="stale_scores",
        )
    return stored
