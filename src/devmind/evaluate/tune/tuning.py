"""A dataset and a knowledge base → weights fitted to it, and what they gain on the part that was held out.

Fitting looks at the development part only; the part that is held out is searched twice, by the weights in use and by
the fitted ones, and decides whether these are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

from devmind.errors import UpstreamError, UsageError
from devmind.evaluate.compare import compare
from devmind.evaluate.provenance import provenance
from devmind.evaluate.report.data import compared_measures
from devmind.evaluate.runner import run_target
from devmind.evaluate.score import score_run
from devmind.evaluate.targets.devmind import DevMindTarget
from devmind.evaluate.targets.types import OTHER_COMMIT
from devmind.evaluate.tune.choose import Fitted, fit_files
from devmind.evaluate.tune.chunks import MIN_TOPICS, OBJECTIVE, choose_chunks, has_lines, judge_of, objective
from devmind.evaluate.tune.examples import Example, K, example
from devmind.evaluate.tune.halves import MIN_DEVELOPMENT, Halves, read_halves
from devmind.evaluate.tune.keep import keep, refuse_unwritable
from devmind.evaluate.types import GAIN, Comparison, Dataset, OnPhase, Run, Topic
from devmind.retrieve.rank import SHIPPED
from devmind.retrieve.weights import Weights
from devmind.service import Service
from devmind.settings import Settings

Verdict = Literal["better", "worse", "no_fit", "same"]
EQUAL: Final = 1e-9  # a fall by rounding is none


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be tuned to; see `halves.read_halves`.

    Attributes:
        now: the date that the weights carry.
    """

    dataset: Path
    now: datetime
    form: str = "auto"
    split: str = "development"
    reason: str = ""
    repos: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tuning:
    """The result of a fit.

    Attributes:
        verdict: ``better``: the held-out part got no worse; ``no_fit``: cross-validation found nothing to change;
            ``same``: the fitted weights are those in use.
        before, after: the weights in use and the fitted ones, with their provenance.
        n_usable: topics of the development part with a right file among their candidates.
        other_commit: topics whose labels are of another commit than the one that is indexed.
        comparison: on the held-out part; None without a fit.
        judged_by: the measures that decide there; ``gain`` is the mean of their differences.
        kept: where the weights were written; None if they were not.
    """

    verdict: Verdict
    before: Weights
    after: Weights
    halves: Halves
    fitted: Fitted
    n_usable: int
    other_commit: int
    comparison: Comparison | None
    judged_by: tuple[str, ...]
    gain: float
    kept: Path | None = None


def tune(
    settings: Settings,
    asked: Asked,
    *,
    dry_run: bool = False,
    keep_anyway: bool = False,
    told: OnPhase = lambda phase, done, total: None,
) -> Tuning:
    """Fit the weights of the knowledge base and keep them, if the held-out part gets no worse by them.

    Args:
        dry_run: keep nothing.
        keep_anyway: keep them, whatever the held-out part says.

    Raises:
        UsageError: the dataset, or what there is of it in this knowledge base, is not enough.
        StoreError: the knowledge base cannot be written, or its own weights are damaged.
    """
    if not dry_run:
        refuse_unwritable(settings.home)
    found = _fitted(settings, asked, told)
    if dry_run or found.comparison is None or (found.verdict == "worse" and not keep_anyway):
        return found
    return replace(found, kept=keep(settings.home, found.after))


def _fitted(settings: Settings, asked: Asked, told: OnPhase) -> Tuning:
    with Service(settings) as service:
        before = service.weights
        rows = {str(row["repo"]): f"{row['generation']}@{row.get('commit', '')}" for row in service.status()}
        for name in asked.repos:
            service.require(name)
        halves = read_halves(
            asked.dataset, form=asked.form, split=asked.split, reason=asked.reason, now=asked.now, known=set(rows),
            repos=asked.repos,
        )  # fmt: skip
        examples = _examples(service, halves.development.topics, told)
    n_usable = len(examples)
    if n_usable < MIN_DEVELOPMENT:
        raise UsageError(
            f"{halves.whole.name}: of {len(halves.development.topics)} development topics only {n_usable} have a right "
            f"file among the candidates of their search, and {MIN_DEVELOPMENT} are needed; weights cannot help the "
            "others: 'devmind eval diagnose' says what lost them",
            code="too_few_topics",
        )
    fitted = fit_files(examples, SHIPPED, progress=lambda done, total: told("fit", done, total))
    files = SHIPPED if fitted.weights is None else replace(SHIPPED, files=fitted.weights)
    after = _with_chunks(settings, halves.development.topics, files, told)
    if after.key in (SHIPPED.key, before.key):
        verdict: Verdict = "no_fit" if after.key == SHIPPED.key else "same"
        return Tuning(verdict, before, before, halves, fitted, n_usable, 0, None, (), 0.0)
    comparison, other_commit = _compared(settings, halves.held_out, before, after, told)
    judged_by = tuple(name for name in OBJECTIVE if name in comparison.differences)
    gain = objective([comparison.differences[name].estimate.mean for name in judged_by])
    about = _about(asked, halves, fitted, comparison, gain=gain, n_usable=n_usable, repos=rows)
    return Tuning(
        verdict="better" if gain >= -EQUAL else "worse",
        before=before,
        after=replace(after, about=about),
        halves=halves,
        fitted=fitted,
        n_usable=n_usable,
        other_commit=other_commit,
        comparison=comparison,
        judged_by=judged_by,
        gain=gain,
    )


def _examples(service: Service, topics: Sequence[Topic], told: OnPhase) -> list[Example]:
    """Return what can be learned from: topics with a right file among their candidates."""
    found = []
    for done, topic in enumerate(topics):
        told("search", done, len(topics))
        gains: dict[str, float] = {}
        for truth in topic.truths:
            gains[truth.span.file] = max(gains.get(truth.span.file, 0.0), float(GAIN[truth.grade]))
        one = example(service, topic.query, gains, group=topic.topic_id, repos=(topic.repo,) if topic.repo else ())
        if one.is_usable:
            found.append(one)
    told("search", len(topics), len(topics))
    return found


def _with_chunks(settings: Settings, topics: Sequence[Topic], files: Weights, told: OnPhase) -> Weights:
    """Return the weights with the constants of chunks that suit topics with labelled lines, if there are enough."""
    lined = [topic for topic in topics if has_lines(topic)]
    if len(lined) < MIN_TOPICS:
        return files
    judge = judge_of(settings, lined)
    return choose_chunks(files, judge, progress=lambda done, total: told("chunks", done, total))


def _compared(
    settings: Settings, held_out: Dataset, before: Weights, after: Weights, told: OnPhase
) -> tuple[Comparison, int]:
    """Return how the held-out part differs, and how many of its topics are about another commit."""
    runs = [_run(settings, held_out, weights, told) for weights in (before, after)]
    _refuse_failed(runs)
    scores = [
        score_run(held_out, replace(run, system=name), ks=(5, K))
        for name, run in zip(("before", "after"), runs, strict=True)
    ]
    notes = Counter(note for response in runs[0].responses.values() for note in response.notes)
    return compare(scores[0], scores[1], measures=compared_measures(scores)), notes[OTHER_COMMIT]


def _refuse_failed(runs: Sequence[Run]) -> None:
    """A topic that failed by both weights would look like one that got no worse."""
    for failure in (response.failure for run in runs for response in run.responses.values()):
        if failure is not None:
            raise UpstreamError(
                f"a held-out topic could not be searched ({failure.kind}: {failure.message}); the weights in use are "
                "unchanged; 'devmind doctor' checks the knowledge base",
                retryable=False,
                code="nothing_measured",
            )


def _run(settings: Settings, held_out: Dataset, weights: Weights, told: OnPhase) -> Run:
    target = DevMindTarget(settings, weights=weights)
    try:
        with TemporaryDirectory(prefix="devmind-") as folder:
            return run_target(
                held_out, target, k=K, out=Path(folder) / "run.jsonl",
                progress=lambda now: told("judge", now.n_done, now.n_topics),
            )  # fmt: skip
    finally:
        target.close()


def _about(
    asked: Asked,
    halves: Halves,
    fitted: Fitted,
    comparison: Comparison,
    *,
    gain: float,
    n_usable: int,
    repos: Mapping[str, str],
) -> dict[str, object]:
    """Return what is needed to make the weights again, and what they gained."""
    used = {topic.repo for part in (halves.development, halves.held_out) for topic in part.topics}
    facts = provenance(asked.now, {"dataset": halves.whole.name, "dataset_hash": halves.whole.content_hash})
    return {
        **facts,
        "split": asked.split,
        "repos": {name: state for name, state in repos.items() if name in used or "" in used},
        "n_topics": n_usable,
        "n_held_out": len(halves.held_out.topics),
        "freedom": fitted.freedom,
        "gain": round(gain, 6),
        "held_out": {
            name: [found.baseline, found.candidate, found.estimate.low, found.estimate.high]
            for name, found in comparison.differences.items()
        },
    }
