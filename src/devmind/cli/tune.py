"""``devmind tune``: fit the weights of ranking to a team's own questions, or go back to those before."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from devmind.cli.app import Session, app, emit, session_of
from devmind.cli.evaluation.options import Format, Reason
from devmind.cli.progress import steps
from devmind.errors import UsageError

if TYPE_CHECKING:
    from devmind.evaluate.tune import Tuning
    from devmind.settings import Settings


@app.command()
def tune(
    ctx: typer.Context,
    dataset: Annotated[
        Path | None, typer.Argument(metavar="[DATASET]", help="Questions with their answers, in any format.")
    ] = None,
    repo: Annotated[
        list[str] | None, typer.Option("--repo", metavar="REPO", help="Only topics about it (may be repeated).")
    ] = None,
    format_: Format = "auto",
    split: Annotated[
        str,
        typer.Option("--split", help="development: judge by a fifth of that half; all: judge by the test half."),
    ] = "development",
    reason: Reason = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be gained; change nothing.")] = False,
    keep_anyway: Annotated[
        bool, typer.Option("--keep-anyway", help="Keep the weights even if the held-out part gets worse.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Go back to the weights before.")] = False,
) -> None:
    """Fit the ranking to the questions in DATASET; kept if others, held out, get no worse."""
    session = session_of(ctx)
    if undo:
        if dataset is not None or repo or dry_run or keep_anyway:
            raise UsageError("--undo stands alone: it goes back to the weights before, whatever they were fitted to")
        _undo(session)
        return
    if dataset is None:
        raise UsageError("DATASET is missing: name the questions to fit the ranking to, or --undo")
    if dry_run and keep_anyway:
        raise UsageError("--dry-run changes nothing and --keep-anyway keeps the weights: give one of them")
    from devmind.evaluate.tune import Asked
    from devmind.evaluate.tune import tune as fitted

    settings = _settings(session)
    asked = Asked(dataset, datetime.now().astimezone(), format_, split, reason, tuple(repo or ()))
    try:
        with steps(session, dataset.name) as told:
            found = fitted(settings, asked, dry_run=dry_run, keep_anyway=keep_anyway, told=told)
    except KeyboardInterrupt as stop:
        stop.add_note("the weights in use are unchanged")
        raise
    _show(session, found, dry_run=dry_run)
    if found.verdict != "better" and found.kept is None:
        raise typer.Exit(1)


def _settings(session: Session) -> Settings:
    settings = session.settings()
    if not (settings.home / "catalog.sqlite").is_file():
        raise UsageError(f"there is no knowledge base in {settings.home}: name its folder with --kb")
    return settings


def _undo(session: Session) -> None:
    from devmind.evaluate.tune import undo
    from devmind.render.plain import safe

    now = undo(_settings(session).home)
    if session.json:
        emit({"undone": now is not None, "ranking": "shipped" if now is None else now.told})
    elif not session.quiet:
        print(
            "The shipped weights are in use: there is nothing to undo."
            if now is None
            else f"Searches rank by these weights again: {safe(now.told)}."
        )
    if now is None:
        raise typer.Exit(1)


def _show(session: Session, found: Tuning, *, dry_run: bool) -> None:
    record = _record(found, dry_run=dry_run)
    if session.json:
        emit(record)
    elif not session.quiet:
        from devmind.render.terminal import console
        from devmind.render.tune import show_tuning

        show_tuning(console(), record)


def _record(found: Tuning, *, dry_run: bool) -> dict[str, Any]:
    from devmind.evaluate.report.record import comparison_record

    before, after = ({**weights.files, **weights.chunks} for weights in (found.before, found.after))
    halves, comparison = found.halves, found.comparison
    return {
        "dataset": halves.whole.name,
        "dataset_hash": halves.whole.content_hash,
        "n_development": len(halves.development.topics),
        "n_usable": found.n_usable,
        "n_held_out": len(halves.held_out.topics),
        "left_out": dict(halves.left_out),
        "n_other_commit": found.other_commit,
        "freedom": found.fitted.freedom,
        "cross_validated": {f"{freedom:g}": ndcg for freedom, ndcg in found.fitted.ndcg.items()},
        "before": found.before.told,
        "weights": {name: {"before": value, "after": after[name]} for name, value in before.items()},
        "differences": comparison_record(comparison, by_topic=False)["differences"] if comparison else {},
        "judged_by": list(found.judged_by),
        "gain": found.gain,
        "verdict": found.verdict,
        "dry_run": dry_run,
        "kept": None if found.kept is None else str(found.kept),
    }
