"""``devmind why`` and ``devmind eval diagnose``: where expected code was lost, for one question and for many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from devmind.cli.app import Session, app, emit, session_of
from devmind.cli.evaluation import evaluation
from devmind.cli.evaluation.options import DatasetFile, Format, Reason, Split, topics_of
from devmind.cli.progress import steps
from devmind.errors import UsageError

if TYPE_CHECKING:
    from devmind.evaluate.facts import Store
    from devmind.evaluate.why import Losses, Why

K = Annotated[int, typer.Option("-k", metavar="N", min=1, max=1000, help="Among how many hits it should be.")]


@app.command()
def why(
    ctx: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY...", help="The question that should find it.")],
    expect: Annotated[
        str,
        typer.Option("--expect", metavar="PATH[:SYMBOL]", help="The code it should find; also PATH:FIRST-LAST."),
    ],
    repo: Annotated[str | None, typer.Option("--repo", metavar="REPO", help="Only this repository.")] = None,
    k: K = 10,
) -> None:
    """Say at which stage the expected code was lost, and what would help."""
    from devmind.evaluate.why import why as diagnosed

    session = session_of(ctx)
    with _store(session) as store:
        found = diagnosed(store, " ".join(query), expect=expect, repo=repo, k=k)
    if session.json:
        emit(_why_json(found))
    elif not session.quiet:
        from devmind.render.diagnosis import show_why
        from devmind.render.terminal import console

        show_why(console(), _why_json(found), full=session.verbose)
    if found.diagnosis.kind != "found":
        raise typer.Exit(1)


@evaluation.command()
def diagnose(
    ctx: typer.Context,
    dataset: DatasetFile,
    k: K = 10,
    repo: Annotated[
        list[str] | None, typer.Option("--repo", metavar="REPO", help="Only topics about it (may be repeated).")
    ] = None,
    repo_dir: Annotated[
        Path | None,
        typer.Option(
            "--repo-dir", metavar="DIR", help="Folder of the repositories, to compare labels at their commits."
        ),
    ] = None,
    format_: Format = "auto",
    split: Split = "development",
    reason: Reason = "",
) -> None:
    """Class every topic that the knowledge base fails by what lost it, with a lever for each cause."""
    from devmind.evaluate.why import diagnose_dataset

    session = session_of(ctx)
    topics = topics_of(dataset, form=format_, split=split, reason=reason, command="eval diagnose")
    with _store(session, repo_dir) as store, steps(session, topics.name) as told:
        found = diagnose_dataset(store, topics, k=k, repos=repo or (), progress=partial(told, "topics"))
    if session.json:
        emit(_losses_json(found))
    elif not session.quiet:
        from devmind.render.diagnosis import show_losses
        from devmind.render.terminal import console

        show_losses(console(), _losses_json(found), full=session.verbose)


@contextmanager
def _store(session: Session, repo_dir: Path | None = None) -> Iterator[Store]:
    settings = session.settings()  # first: a bad setting is told without loading anything
    from devmind.evaluate.datasets.sources import Sources
    from devmind.evaluate.facts import Store
    from devmind.service import Service

    if repo_dir is not None and not repo_dir.is_dir():
        raise UsageError(f"--repo-dir {repo_dir} is not a folder: name the one that holds the repositories")
    with Service(settings) as service:
        yield Store(service, labelled=None if repo_dir is None else Sources({}, root=repo_dir))


def _why_json(found: Why) -> dict[str, Any]:
    from devmind.render.plain import to_json

    expected = to_json(found.expected)
    instead = [
        {"rank": hit.rank, "repo": hit.repo, "path": hit.path, "start_line": hit.start_line, "end_line": hit.end_line,
         "symbol": hit.symbol, "score": hit.score}
        for hit in found.hits
    ]  # fmt: skip
    return {"query": found.query, "k": found.k, "expected": expected, **to_json(found.diagnosis), "hits": instead}


def _losses_json(found: Losses) -> dict[str, Any]:
    from devmind.render.plain import to_json

    said: dict[str, Any] = to_json(found)
    said["topics"] = [
        {
            "topic_id": topic.topic_id,
            "repo": topic.repo,
            "category": topic.category,
            "n_truths": len(topic.truths),
            "n_found": topic.n_found,
            "cause": topic.cause,
            "truths": [
                {"file": item.truth.span.file, "start_line": item.truth.span.start_line,
                 "end_line": item.truth.span.end_line, "symbol": item.truth.symbol, "grade": item.truth.grade,
                 **to_json(item.diagnosis)}
                for item in topic.truths
            ],
        }
        for topic in found.topics
    ]  # fmt: skip
    return said
