"""``devmind eval run`` and ``devmind eval compare``: topics × a system → measures; two runs → their difference."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from devmind.cli.app import Session, emit, session_of
from devmind.cli.evaluation import evaluation
from devmind.cli.evaluation.options import (
    At,
    By,
    DatasetFile,
    DatasetOption,
    Format,
    K,
    Match,
    Measures,
    Reason,
    Root,
    RunArgument,
    Source,
    Split,
    asked_topics,
    scoring_of,
    sources_of,
)
from devmind.cli.progress import progress_bar
from devmind.errors import UpstreamError, UsageError

if TYPE_CHECKING:
    from devmind.evaluate.measured import Asked, Measured, Scoring
    from devmind.evaluate.runner import Progress, RunOptions
    from devmind.evaluate.targets import Target
    from devmind.evaluate.types import Comparison, Run

RUNS = Path("runs")  # where a run goes when no folder is named
GROUP_COLUMNS = 3  # measures in the tables of groups: with their intervals, what a terminal has room for
_SLUG = re.compile(r"[^\w.-]+")


@evaluation.command()
def run(
    ctx: typer.Context,
    dataset: DatasetFile,
    target: Annotated[
        str, typer.Option("--target", metavar="SPEC", help="devmind, devmind:ask, http:FILE, dify:FILE, run:FILE, …")
    ] = "devmind",
    k: K = 10,
    format_: Format = "auto",
    split: Split = "development",
    reason: Reason = "",
    source: Source = None,
    root: Root = None,
    at: At = "",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder of the run; one under runs/ without it.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew: forget what --out holds.")] = False,
    concurrency: Annotated[int, typer.Option("--concurrency", metavar="N", help="Topics asked at once.")] = 1,
    timeout: Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="For one whole answer.")] = 60.0,
    tries: Annotated[int, typer.Option("--tries", metavar="N", help="Attempts a topic, if the failure may pass.")] = 3,
    keep_failed: Annotated[bool, typer.Option("--keep-failed", help="Do not ask failed topics again.")] = False,
    match: Match = "overlap",
    by: By = None,
    measure: Measures = None,
    baseline_out: Annotated[
        Path | None, typer.Option("--baseline-out", metavar="FILE", help="Write the scores as a baseline, too.")
    ] = None,
) -> None:
    """Ask a system every topic and print its measures; run again to go on after a stop."""
    from devmind.evaluate.measured import measure as score
    from devmind.evaluate.placement import check_labels
    from devmind.evaluate.runner import RunOptions

    session = session_of(ctx)
    asked = asked_topics(dataset, form=format_, split=split, reason=reason, command=f"eval run --target {target}")
    scoring = scoring_of(match, by, sources_of(source, root, at), asked=asked)
    if scoring.code is not None:
        check_labels(asked.dataset, scoring.code)  # asking may take hours, and cost money
    options = RunOptions(concurrency, timeout, tries, retry_failed=not keep_failed)
    made, folder = _ask(session, asked, target, k=k, out=out, fresh=fresh, options=options)
    _refuse_nothing(made, asked)
    measured = score(asked.dataset, made, scoring)
    _refuse_unknown(measure, measured)
    _store(measured, asked, scoring, folder=folder, split=split, baseline_out=baseline_out)
    _show_run(session, measured, folder, measures=measure or (), n_excluded=len(asked.excluded))


def _ask(
    session: Session, asked: Asked, spec: str, *, k: int, out: Path | None, fresh: bool, options: RunOptions
) -> tuple[Run, Path]:
    """Ask the target and return its run and the folder that holds it."""
    from devmind.evaluate.measured import RUN_FILE
    from devmind.evaluate.runner import run_target
    from devmind.evaluate.targets import open_target

    target = open_target(spec, settings=session.settings(), timeout_s=options.timeout_s)
    last: list[Progress] = []
    try:
        folder = out or RUNS / _folder_name(asked, target, k)
        journal = folder / RUN_FILE
        if fresh:
            _forget(journal)
        with progress_bar(session) as bar:

            def progress(now: Progress) -> None:
                last[:] = [now]
                failed = ", ".join(f"{name} {n}" for name, n in now.failures.items())
                bar.update(
                    target.name, "topics", done=now.n_done, total=now.n_topics, elapsed_s=now.elapsed_s,
                    done_before=now.n_resumed, note=f"failed: {failed}" if failed else "",
                )  # fmt: skip

            made = run_target(asked.dataset, target, k=k, out=journal, options=options, progress=progress)
        return made, folder
    except KeyboardInterrupt as stop:
        if last:
            kept = f"the responses so far ({last[0].n_done} of {last[0].n_topics} topics) are in {journal}"
            stop.add_note(f"{kept}; run the same command again to go on")
        raise
    finally:
        target.close()


def _folder_name(asked: Asked, target: Target, k: int) -> str:
    """Name the folder by all that makes two runs one: running again goes on with the same folder."""
    from devmind.evaluate.journal import Header
    from devmind.types import stable_id

    dataset = asked.dataset
    header = Header(dataset.name, dataset.content_hash, target.name, dict(target.settings()), k)
    return f"{_slug(dataset.name)}-{_slug(target.name)}-{stable_id(repr(header.identity))[:8]}"


def _slug(text: str) -> str:
    return _SLUG.sub("-", text).strip("-.") or "run"


def _forget(journal: Path) -> None:
    try:
        journal.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot remove the run {journal}: {error.strerror}; choose another --out") from error


def _refuse_nothing(made: Run, asked: Asked) -> None:
    """A run in which nothing responded says nothing of quality: it must not look like one that did."""
    from devmind.evaluate.runner import failures_by_kind

    responses = [made.responses.get(topic.topic_id) for topic in asked.dataset.topics]
    if any(response is not None and response.failure is None for response in responses):
        return
    failed = failures_by_kind(made.responses)
    first = next((r.failure.message for r in responses if r is not None and r.failure is not None), "")
    kinds = ", ".join(f"{name} {count}" for name, count in failed.items()) or "no response to any topic"
    raise UpstreamError(
        f"none of {len(responses)} topics got a response from {made.system!r} ({kinds})"
        + (f"; the first failure: {first}" if first else "; are the topic ids of the run those of the dataset?"),
        retryable=True,
        code="nothing_measured",
    )


def _refuse_unknown(measures: Sequence[str] | None, measured: Measured) -> None:
    for name in measures or ():
        if name not in measured.scores.overall:
            known = ", ".join(measured.scores.overall)
            raise UsageError(f"--measure {name!r}: there is no such measure; known are {known}", code="bad_measure")


def _store(
    measured: Measured, asked: Asked, scoring: Scoring, *, folder: Path, split: str, baseline_out: Path | None
) -> None:
    from devmind.evaluate.gate import refuse_lost
    from devmind.evaluate.measured import SCORES_FILE
    from devmind.evaluate.report.provenance import report_provenance
    from devmind.evaluate.report.store import stored_scores
    from devmind.evaluate.stored import write_scores

    now = datetime.now().astimezone()
    around = report_provenance(asked.dataset, scoring, split=split, folder=Path.cwd(), now=now)
    stored = stored_scores(measured, around, folder)
    write_scores(folder / SCORES_FILE, stored)
    if baseline_out is not None:
        refuse_lost(measured.scores)
        write_scores(baseline_out, stored)


def _show_run(session: Session, measured: Measured, folder: Path, *, measures: Sequence[str], n_excluded: int) -> None:
    from devmind.evaluate.report.data import compared_measures, shown_measures
    from devmind.evaluate.report.record import run_record

    record = {"run": str(folder), "n_excluded": n_excluded, **run_record(measured)}
    if session.json:
        emit(record)
    elif not session.quiet:
        from devmind.render.evaluation import show_run
        from devmind.render.terminal import console

        shown = measures or shown_measures([measured.scores])
        grouped = list(measures or compared_measures([measured.scores]))[:GROUP_COLUMNS]
        show_run(console(), record, measures=shown, grouped=grouped)


@evaluation.command()
def compare(
    ctx: typer.Context,
    baseline: Annotated[Path, typer.Argument(metavar="RUN_A", help="The baseline: a run's folder, or a file.")],
    candidate: RunArgument,
    dataset: DatasetOption,
    format_: Format = "auto",
    split: Split = "development",
    reason: Reason = "",
    source: Source = None,
    root: Root = None,
    at: At = "",
    k: K = 10,
    match: Match = "overlap",
    measure: Measures = None,
    n_topics: Annotated[int, typer.Option("--topics", min=0, metavar="N", help="Worst and best topics shown.")] = 5,
) -> None:
    """Say by how much RUN differs from RUN_A, and how sure that is."""
    from devmind.evaluate.compare import compare as differences
    from devmind.evaluate.report.data import compared_measures, primary_measure

    session = session_of(ctx)
    asked = asked_topics(dataset, form=format_, split=split, reason=reason, command="eval compare")
    scoring = scoring_of(match, None, sources_of(source, root, at), asked=asked)
    runs = measured_runs([baseline, candidate], asked, scoring, k=k)
    scores = [measured.scores for measured in runs]
    names = list(measure or ()) or list(compared_measures(scores))
    comparison = differences(scores[0], scores[1], measures=names)
    costs = _costs(runs)
    _show_comparison(session, comparison, asked, costs, primary=primary_measure(scores, names), n_topics=n_topics)


def _costs(runs: Sequence[Measured]) -> dict[str, Any]:
    """Return what a topic cost in the baseline's run and in the candidate's."""
    from devmind.evaluate.report.record import cost_record

    found = [cost_record(list(measured.raw.responses.values())) for measured in runs]
    return dict(zip(("baseline", "candidate"), found, strict=True))


def measured_runs(paths: Sequence[Path], asked: Asked, scoring: Scoring, *, k: int) -> list[Measured]:
    """Read and score the runs; those that are called alike get the names of their folders."""
    from devmind.evaluate.measured import load_run, run_file
    from devmind.evaluate.measured import measure as score
    from devmind.evaluate.report.data import with_own_names

    runs = [score(asked.dataset, load_run(path, asked.dataset, k=k), scoring) for path in paths]
    labels = [path.name if run_file(path) != path else path.stem for path in paths]
    return with_own_names(runs, labels)


def _show_comparison(
    session: Session, comparison: Comparison, asked: Asked, costs: Mapping[str, Any], *, primary: str, n_topics: int
) -> None:
    from devmind.evaluate.report.data import extremes
    from devmind.evaluate.report.record import comparison_record

    record = comparison_record(comparison)
    worst, best = extremes(comparison.differences[primary], n_topics)
    queries = {topic.topic_id: topic.query for topic in asked.dataset.topics}

    def named(items: Sequence[tuple[str, float]]) -> list[dict[str, Any]]:
        return [{"id": name, "difference": value, "query": queries[name]} for name, value in items]

    record |= {"costs": costs, "topics_by": primary, "worst": named(worst), "best": named(best)}
    if session.json:
        emit(record)
    elif not session.quiet:
        from devmind.render.evaluation import show_comparison
        from devmind.render.terminal import console

        show_comparison(console(), record)
        sys.stdout.flush()
