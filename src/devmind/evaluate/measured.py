"""A dataset and a run on disk → the run with its scores: what every report, comparison and gate begins with."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from devmind.errors import UsageError
from devmind.evaluate.abstention import Abstention, abstention
from devmind.evaluate.datasets import dataset_of
from devmind.evaluate.datasets.sources import Sources
from devmind.evaluate.journal import is_journal, read_run
from devmind.evaluate.placement import Placed, placed
from devmind.evaluate.score import score_run
from devmind.evaluate.types import Dataset, Run, Scores, Topic

RUN_FILE: Final = "run.jsonl"  # in the folder of a run: the responses, as they came
SCORES_FILE: Final = "scores.jsonl"  # beside it: the measures of every topic
GROUPINGS: Final = ("category", "language", "repo", "leak")
DEFAULT_K: Final = 10


@dataclass(frozen=True, slots=True)
class Scoring:
    """How responses are scored.

    Attributes:
        match: a rule of `devmind.evaluate.alignment`.
        group_by: fields or labels of topics.
        code: reads the code, to give lines to text that has none and to refuse hits outside their files.
    """

    match: str = "overlap"
    group_by: tuple[str, ...] = GROUPINGS
    code: Sources | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """A run as it came, placed in the code, and scored."""

    raw: Run
    placed: Placed
    scores: Scores
    abstention: Abstention

    @property
    def run(self) -> Run:
        return self.placed.run


@dataclass(frozen=True, slots=True)
class Asked:
    """The topics of a dataset that are measured, and those that are not: nobody accepted them yet."""

    dataset: Dataset
    excluded: tuple[Topic, ...] = ()


def asked(dataset: Dataset) -> Asked:
    """Leave out topics that are pending or rejected.

    Raises:
        UsageError: no topic is left, or none of them could be scored.
    """
    kept = [topic for topic in dataset.topics if topic.status == "accepted"]
    excluded = tuple(topic for topic in dataset.topics if topic.status != "accepted")
    if not dataset.topics:
        raise UsageError(f"the dataset {dataset.name!r} has no topics: there is nothing to measure", code="no_topics")
    if not kept:
        raise UsageError(
            f"all {len(excluded)} topics of {dataset.name!r} are pending or rejected: accept some first",
            code="no_topics",
        )
    if not any(topic.truths or topic.is_trap for topic in kept):
        raise UsageError(
            f"no topic of {dataset.name!r} has a ground truth (topic {kept[0].topic_id!r}: truths is empty), and none "
            "is a trap: nothing could be scored; label them first",
            code="no_truth",
        )
    return Asked(dataset_of(dataset.name, kept) if excluded else dataset, excluded)


def load_run(path: Path, dataset: Dataset, *, k: int = DEFAULT_K) -> Run:
    """Return the run in ``path``: the folder of a run, a journal, or any run file.

    Args:
        k: hits a topic, for files that do not say it.

    Raises:
        UsageError: there is no run, or it is one over another dataset.
    """
    file = run_file(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the run {path}: {error.strerror}; name its folder or file") from error
    if not is_journal(data):
        from devmind.evaluate.targets.runfile import RunFile

        return _responding(RunFile(file).run_over(dataset, k=k), dataset, path)
    run = read_run(file)
    made_on = run.provenance.get("dataset_hash", "")
    if made_on != dataset.content_hash:
        raise UsageError(
            f"the run {path} is over {run.dataset!r} ({made_on[:12]}), the dataset given is {dataset.name!r} "
            f"({dataset.content_hash[:12]}): name the dataset and the --split it was made with; if only labels "
            f"changed, score it anew with 'devmind eval run DATASET --target run:{file}'",
            code="other_dataset",
        )
    return _responding(run, dataset, path)


def _responding(run: Run, dataset: Dataset, path: Path) -> Run:
    """Refuse a run of which every topic is missing: it would score 0 throughout, and say nothing."""
    if not any(topic.topic_id in run.responses for topic in dataset.topics):
        raise UsageError(
            f"the run {path} holds no response to any topic of {dataset.name!r} ({dataset.topics[0].topic_id!r}, …): "
            "is it over this dataset, and was it finished?",
            code="nothing_measured",
        )
    return run


def run_file(path: Path) -> Path:
    return path / RUN_FILE if path.is_dir() else path


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, "" if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def measure(dataset: Dataset, run: Run, scoring: Scoring = Scoring()) -> Measured:
    """Place the hits of ``run`` in the code and score them.

    Raises:
        UsageError: dataset or run is unsound; the message names topic and field.
    """
    found = placed(dataset, run, scoring.code)
    scores = score_run(dataset, found.run, match=scoring.match, group_by=scoring.group_by)
    return Measured(run, found, scores, abstention(dataset, found.run))
