"""``devmind eval freshness``, ``load`` and ``chunkers``: how a system behaves in use, and what each chunking costs."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from devmind.cli.app import session_of
from devmind.cli.evaluation import evaluation

if TYPE_CHECKING:
    from devmind.evaluate.freshness import Outcome, Way

Out = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the figures as JSON.")]


@evaluation.command()
def freshness(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Changes: commits A and B, new and removed lines.")],
    repos: Annotated[
        Path | None, typer.Option("--repos", metavar="DIR", help="Folder whose subfolders are the git repositories.")
    ] = None,
    source: Annotated[
        list[str] | None, typer.Option("--source", metavar="REPO=GIT", help="Where the history of REPO is.")
    ] = None,
    by: Annotated[str, typer.Option("--by", help="ref (no checkout), checkout (working tree) or both.")] = "ref",
    rollback: Annotated[
        bool, typer.Option("--rollback", help="Then go back to A: the new lines must be gone.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", help="Only so many cases, of all repositories in turn.")
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Hits a search.")] = 10,
    out: Out = None,
) -> None:
    """Index commit A, move to commit B, ask: is the new code found, the removed code gone, and after how long?"""
    from devmind.evaluate.freshness import Histories, measure_freshness, read_cases
    from devmind.evaluate.provenance import provenance

    session = session_of(ctx)
    ways = _ways(by)
    cases = read_cases(file, limit=limit)
    histories = Histories(_sources(source), root=repos)
    about = provenance(datetime.now().astimezone(), file=file.name, n_cases=len(cases), k=k)
    measured: dict[Way, list[Outcome]] = {way: [] for way in ways}
    try:
        for way in ways:
            with _steps(session, f"freshness by {way}", len(cases)) as step:

                def done(outcome: Outcome, way: Way = way, step: Step = step) -> None:
                    measured[way].append(outcome)
                    step(len(measured[way]))

                measure_freshness(cases, histories, _follower(session, way), k=k, rollback=rollback, done=done)
    finally:  # interrupted or not: what was measured is told
        _tell_freshness(session, {way: found for way, found in measured.items() if found}, about, out)
    if not all(outcome.fresh for found in measured.values() for outcome in found):
        raise typer.Exit(1)
