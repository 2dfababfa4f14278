"""``devmind eval gate``: a run × limits → a verdict for a build. Exit 0 passed, 1 missed, 2 could not be judged."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from devmind.cli.app import Session, emit, session_of
from devmind.cli.evaluation import evaluation
from devmind.cli.evaluation.options import (
    At,
    Format,
    K,
    Match,
    MaxLost,
    Reason,
    Root,
    RunArgument,
    Source,
    Split,
    asked_topics,
    limits_by_measure,
    scoring_of,
    sources_of,
)
from devmind.errors import DevMindError, UsageError

if TYPE_CHECKING:
    from devmind.evaluate.gate import Limits, Verdict
    from devmind.evaluate.measured import Asked, Scoring
    from devmind.evaluate.stored import StoredScores


@evaluation.command()
def gate(
    ctx: typer.Context,
    run: RunArgument,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", metavar="FILE", help="Scores to compare with, or to write.")
    ] = None,
    write_baseline: Annotated[
        bool, typer.Option("--write-baseline", help="Write the run's scores to --baseline, and judge nothing.")
    ] = False,
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", metavar="MEASURE=DROP", help="How far it may fall; missed if the interval lies below."),
    ] = None,
    floor: Annotated[
        list[str] | None, typer.Option("--floor", metavar="MEASURE=VALUE", help="Its mean must not lie below.")
    ] = None,
    ceiling: Annotated[
        list[str] | None,
        typer.Option("--ceiling", metavar="MEASURE=VALUE", help="Its mean must not lie above (where less is better)."),
    ] = None,
    max_lost: MaxLost = 0.05,
    dataset: Annotated[
        Path | None,
        typer.Option("--dataset", metavar="DATASET", help="Score the responses anew; else the run's scores are read."),
    ] = None,
    format_: Format = "auto",
    split: Split = "development",
    reason: Reason = "",
    source: Source = None,
    root: Root = None,
    at: At = "",
    k: K = 10,
    match: Match = "overlap",
    junit: Annotated[Path | None, typer.Option("--junit", metavar="OUT", help="Write JUnit XML, too.")] = None,
    md: Annotated[Path | None, typer.Option("--md", metavar="OUT", help="Write Markdown, too.")] = None,
) -> None:
    """Hold RUN to its limits: exit 1 if one is missed, 2 if nothing could be judged."""
    from devmind.evaluate.gate import Limits, judge

    session = session_of(ctx)
    try:
        limits = Limits(
            allowed=limits_by_measure("--allow", allow),
            floors=limits_by_measure("--floor", floor),
            ceilings=limits_by_measure("--ceiling", ceiling),
            max_lost=max_lost,
        )
        if dataset is None:
            stored = _stored(run)
        else:
            asked = asked_topics(dataset, form=format_, split=split, reason=reason, command="eval gate")
            scoring = scoring_of(match, None, sources_of(source, root, at), asked=asked)
            stored = _scored_anew(run, asked, scoring, k=k, split=split)
        if write_baseline:
            _write_baseline(session, stored, baseline, limits)
            return
        known = _known_baseline(baseline, limits)
        verdict = judge(stored.scores, known.scores if known else None, limits)
    except DevMindError as error:
        if junit is not None:
            _write_error(junit, error)
        raise
    _show(session, verdict, stored, junit=junit, md=md)
    if not verdict.passed:
        raise typer.Exit(1)


def _stored(run: Path) -> StoredScores:
    from devmind.evaluate.report.store import scores_of_run

    return scores_of_run(run)


def _scored_anew(run: Path, asked: Asked, scoring: Scoring, *, k: int, split: str) -> StoredScores:
    from devmind.evaluate.measured import load_run, measure
    from devmind.evaluate.report.provenance import report_provenance
    from devmind.evaluate.report.store import stored_scores

    measured = measure(asked.dataset, load_run(run, asked.dataset, k=k), scoring)
    now = datetime.now().astimezone()
    around = report_provenance(asked.dataset, scoring, split=split, folder=Path.cwd(), now=now)
    return stored_scores(measured, around, run if run.is_dir() else None)


def _write_baseline(session: Session, stored: StoredScores, file: Path | None, limits: Limits) -> None:
    from devmind.evaluate.gate import refuse_lost
    from devmind.evaluate.stored import write_scores

    if file is None:
        raise UsageError("--write-baseline needs to know where: name the file with --baseline FILE")
    if limits.allowed or limits.floors or limits.ceilings:
        raise UsageError("--write-baseline judges nothing: leave --allow, --floor and --ceiling out, or do it after")
    refuse_lost(stored.scores, limits.max_lost)
    write_scores(file, stored)
    if session.json:
        emit({"baseline": str(file), "n_topics": len(stored.scores.topics), "dataset_hash": stored.scores.dataset_hash})
    elif not session.quiet:
        print(f"{file}: baseline of {len(stored.scores.topics)} topics, {stored.scores.system}")


def _known_baseline(file: Path | None, limits: Limits) -> StoredScores | None:
    from devmind.evaluate.report.store import scores_of_run

    if file is None:
        return None
    if not file.exists():
        raise UsageError(
            f"there is no baseline {file}: write one from a run you trust with "
            f"'devmind eval gate RUN --write-baseline --baseline {file}'",
            code="no_baseline",
        )
    if not limits.allowed and not (limits.floors or limits.ceilings):
        raise UsageError(
            "a baseline is named, but no measure of it: say how far each may fall with --allow MEASURE=DROP",
            code="no_limits",
        )
    return scores_of_run(file)


def _write_error(junit: Path, error: DevMindError) -> None:
    from devmind.evaluate.report.junit import error_xml
    from devmind.evaluate.report.write import write_report

    write_report(junit, error_xml("devmind eval gate", error.code, str(error), now=datetime.now().astimezone()))


def _show(session: Session, verdict: Verdict, stored: StoredScores, *, junit: Path | None, md: Path | None) -> None:
    from devmind.evaluate.report.record import verdict_record
    from devmind.evaluate.report.write import write_report

    if junit is not None:
        from devmind.evaluate.report.junit import verdict_xml

        write_report(junit, verdict_xml(verdict, stored.scores, now=datetime.now().astimezone()))
    if md is not None:
        from devmind.evaluate.report.markdown import verdict_markdown

        write_report(md, verdict_markdown(verdict, stored))
    record = verdict_record(verdict)
    if session.json:
        emit(record)
    elif not session.quiet:
        from devmind.render.evaluation import show_verdict
        from devmind.render.terminal import console

        show_verdict(console(), record)
