"""``devmind eval freshness``, ``load`` and ``chunkers``: how a system behaves in use, and what each chunking costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from devmind.cli.app import Session, emit, session_of
from devmind.cli.evaluation import evaluation
from devmind.cli.evaluation.options import Format, Match, Reason, Root, Split, name_and_folder, topics_of
from devmind.cli.evaluation.output import write, write_json
from devmind.cli.progress import steps
from devmind.errors import UsageError
from devmind.render.plain import to_json

if TYPE_CHECKING:
    from devmind.evaluate.chunkers import Part
    from devmind.evaluate.freshness import Outcome, Way
    from devmind.evaluate.freshness.measure import OpenFollower
    from devmind.evaluate.load import Step, Unloaded
    from devmind.evaluate.types import Dataset, OnPhase

Out = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the figures as JSON.")]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw them into an SVG file.")]
Number = TypeVar("Number", int, float)


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
    rollback: Annotated[bool, typer.Option("--rollback", help="Then go back to A: the new lines must go.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", help="So many cases, of each repository in turn.")] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Hits a search.")] = 10,
    out: Out = None,
) -> None:
    """Index commit A, move to commit B, ask: is the new code found, the old gone, and after how long?"""
    from devmind.evaluate.freshness import Histories, measure_freshness, read_cases

    session = session_of(ctx)
    ways = _ways(by)
    cases = read_cases(file, limit=limit)
    histories = Histories(_named(source, "--source", "REPO=GIT"), root=repos)
    about = _about({"file": file.name, "k": k, "rollback": str(rollback).lower()})
    measured: dict[Way, list[Outcome]] = {way: [] for way in ways}
    try:
        for way in ways:
            with steps(session, f"freshness by {way}") as told:

                def done(outcome: Outcome, found: list[Outcome] = measured[way], told: OnPhase = told) -> None:
                    found.append(outcome)
                    told("case", len(found), len(cases))

                measure_freshness(cases, histories, _follower(session, way), k=k, rollback=rollback, done=done)
    finally:  # interrupted or not: what was measured is told
        known = {way: found for way, found in measured.items() if found}
        if known:
            _tell_freshness(session, known, about, out)
    for found in measured.values():
        if not all(outcome.fresh for outcome in found) or not any(outcome.proven for outcome in found):
            raise typer.Exit(1)


@evaluation.command()
def load(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="DATASET", help="The topics to ask, again and again.")],
    target: Annotated[str, typer.Option("--target", metavar="SPEC", help="What is asked; docs/evaluation-targets.md.")],
    rates: Annotated[str, typer.Option("--rates", metavar="R,…", help="Requests a second.")] = "5,20,50",
    concurrency: Annotated[str, typer.Option("--concurrency", metavar="N,…", help="Requests in flight.")] = "1,4,8",
    seconds: Annotated[float, typer.Option("--seconds", help="Length of a step.")] = 10.0,
    arrivals: Annotated[str, typer.Option("--arrivals", help="constant or poisson (independent users).")] = "poisson",
    seed: Annotated[int, typer.Option("--seed", help="Of the times and of the order of topics.")] = 0,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds after which a request has failed.")] = 10.0,
    patience: Annotated[
        float, typer.Option("--patience", help="Seconds of waiting for a worker that mean overload and end a step.")
    ] = 5.0,
    k: Annotated[int, typer.Option("-k", min=1, help="Hits a request.")] = 10,
    match: Match = "path",
    pid: Annotated[int | None, typer.Option("--pid", help="Watch this process: the target's server.")] = None,
    format_: Format = "auto",
    split: Split = "development",
    reason: Reason = "",
    out: Out = None,
    plot: Plot = None,
) -> None:
    """Ask at fixed times, whatever the target does: latency, throughput, cost, and the answers' quality under load."""
    from devmind.evaluate.load import LoadOptions, measure_load
    from devmind.evaluate.targets import open_target

    session = session_of(ctx)
    options = LoadOptions(
        rates=_numbers(rates, "--rates", float),
        concurrencies=_numbers(concurrency, "--concurrency", int),
        seconds=seconds,
        arrivals=_arrivals(arrivals),
        seed=seed,
        k=k,
        timeout_s=timeout,
        patience_s=patience,
        match=match,
        pid=pid,
    )
    dataset = topics_of(file, form=format_, split=split, reason=reason, command="eval load")
    asked = open_target(target, settings=session.settings(), timeout_s=timeout)
    about = _about({**_identity(dataset), "target": asked.name, "split": split})
    about |= {f"target.{key}": value for key, value in asked.settings().items()}
    unloaded: list[Unloaded] = []
    taken: list[Step] = []
    n_steps = len(set(options.rates)) * len(set(options.concurrencies))
    try:
        with steps(session, f"load on {asked.name}") as told:

            def done(step: Step) -> None:
                taken.append(step)
                told(f"{step.rate:g}/s, {step.concurrency} in flight: {step.state};", len(taken), n_steps)

            measure_load(dataset, asked, options, began=unloaded.append, done=done)
    finally:
        asked.close()
        if unloaded:
            _tell_load(session, unloaded[0], taken, {**about, **_options(options)}, out, plot)


@evaluation.command()
def chunkers(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="DATASET", help="Topics about the repositories.")],
    source: Annotated[
        list[str] | None, typer.Option("--source", metavar="[REPO=]DIR", help="Where the code of REPO is.")
    ] = None,
    root: Root = None,
    strategies: Annotated[str, typer.Option("--strategies", help="Which of them.")] = "layered,syntax,fixed,semantic",
    embedders: Annotated[
        str, typer.Option("--embedders", metavar="E,…", help="builtin, or configuration files of other models.")
    ] = "builtin",
    only: Annotated[
        list[str] | None, typer.Option("--repo", metavar="REPO", help="Only topics about this repository.")
    ] = None,
    match: Match = "path",
    format_: Format = "auto",
    split: Split = "development",
    reason: Reason = "",
    out: Out = None,
    plot: Plot = None,
) -> None:
    """Ask the same questions of every chunking (and embedder): quality and cost, by language."""
    from devmind.evaluate.alignment import match_rule
    from devmind.evaluate.chunkers import Variant, measure_repositories
    from devmind.evaluate.embedders import opened

    session = session_of(ctx)
    match_rule(match)
    topics = topics_of(file, form=format_, split=split, reason=reason, command="eval chunkers")
    dataset = _about_repos(topics, only or ())
    sources = _folders(dataset, _named(source, "--source", "[REPO=]DIR", bare=True), root)
    names = _names(embedders, "--embedders")
    variants = [Variant(_strategy(s), e) for e in names for s in _names(strategies, "--strategies")]
    about = _about({**_identity(dataset), "split": split, "match": match})
    parts: list[Part] = []
    with opened(names) as models:
        try:
            n_repos = len({topic.repo for topic in dataset.topics})
            with steps(session, "chunkers") as told:

                def step(repo: str, what: str) -> None:
                    told(f"{repo} {what};".strip(), len(parts), n_repos)

                for part in measure_repositories(dataset, sources, variants, models, step=step):
                    parts.append(part)
        finally:
            if parts:
                _tell_chunkers(session, dataset, parts, match, about, out, plot)


# What is told ---------------------------------------------------------------------------------------------------


def _tell_freshness(
    session: Session, measured: Mapping[Way, Sequence[Outcome]], about: Mapping[str, str], out: Path | None
) -> None:
    from devmind.evaluate.freshness import summarise

    result = {
        "provenance": about,
        "ways": {
            way: {
                "summary": to_json(summarise(found)),
                "cases": [{**to_json(one), "fresh": one.fresh, "proven": one.proven} for one in found],
            }
            for way, found in measured.items()
        },
    }
    write_json(out, result)
    if session.json:
        emit(result)
    elif not session.quiet:
        from devmind.render.operations import show_freshness
        from devmind.render.terminal import console

        show_freshness(console(), result)


def _tell_load(
    session: Session,
    unloaded: Unloaded,
    steps: Sequence[Step],
    about: Mapping[str, str],
    out: Path | None,
    plot: Path | None,
) -> None:
    alone = {name: value for name, value in to_json(unloaded).items() if name not in ("responses", "scores")}
    result = {"provenance": about, "unloaded": alone, "steps": to_json(list(steps))}
    write_json(out, result)
    if plot is not None:
        from devmind.evaluate.load.picture import picture

        write(plot, picture(unloaded, steps, target=about["target"]))
    if session.json:
        emit(result)
    elif not session.quiet:
        from devmind.render.operations import show_load
        from devmind.render.terminal import console

        show_load(console(), result)


def _tell_chunkers(
    session: Session,
    dataset: Dataset,
    parts: Sequence[Part],
    match: str,
    about: Mapping[str, str],
    out: Path | None,
    plot: Path | None,
) -> None:
    from devmind.evaluate.chunkers import picture, rows, summarise

    measured = summarise(dataset, parts, match=match)
    table = rows(measured)
    result = {
        "provenance": {**about, "n_topics": str(sum(len(part.dataset.topics) for part in parts))},
        "rows": to_json(table),
        "against": {one.name: _differences(to_json(one.against)) for one in measured if one.against is not None},
        "repositories": [to_json({"variant": one.name, **to_json(c)}) for one in measured for c in one.costs.values()],
    }
    write_json(out, result)
    if plot is not None:
        write(plot, picture(table))
    if session.json:
        emit(result)
    elif not session.quiet:
        from devmind.render.operations import show_chunkers
        from devmind.render.terminal import console

        show_chunkers(console(), result)


def _differences(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """Return a comparison without the values of single topics."""
    return {
        "baseline": comparison["baseline"],
        "differences": {
            name: {key: value for key, value in difference.items() if key != "by_topic"}
            for name, difference in comparison["differences"].items()
        },
    }


def _about(more: Mapping[str, str | int | float]) -> dict[str, str]:
    from devmind.evaluate.provenance import provenance

    return provenance(datetime.now().astimezone(), more)


def _identity(dataset: Dataset) -> dict[str, str]:
    return {"dataset": dataset.name, "dataset_hash": dataset.content_hash}


def _options(options: Any) -> dict[str, str]:
    return {name: str(value) for name, value in to_json(options).items() if value is not None}


# Arguments ------------------------------------------------------------------------------------------------------


def _about_repos(dataset: Dataset, repos: Sequence[str]) -> Dataset:
    if not repos:
        return dataset
    from devmind.evaluate.datasets import dataset_of

    there = {topic.repo for topic in dataset.topics}
    for repo in repos:
        if repo not in there:
            raise UsageError(f"{dataset.name} has no topic about {repo!r}; it has {', '.join(sorted(there))}")
    return dataset_of(dataset.name, [topic for topic in dataset.topics if topic.repo in repos])


def _folders(dataset: Dataset, named: Mapping[str, Path], root: Path | None) -> dict[str, Path]:
    """Return the folder of every repository that has one; what is missing is named when it is needed."""
    found = dict(named)
    if root is not None:
        if not root.is_dir():
            raise UsageError(f"--root {root} is not a folder: check the path")
        for topic in dataset.topics:
            if topic.repo and topic.repo not in found and (root / topic.repo).is_dir():
                found[topic.repo] = root / topic.repo
    return found


def _named(items: Sequence[str] | None, option: str, form: str, *, bare: bool = False) -> dict[str, Path]:
    """Read NAME=PATH; with ``bare`` a PATH alone is for all names."""
    found = {}
    for item in items or ():
        name, folder = name_and_folder(item)
        if not bare and (not name or item.endswith("=")):
            raise UsageError(f"{option} {item!r} must have the form {form}")
        found[name] = folder
    return found


def _names(text: str, option: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError(f"{option} {text!r} names nothing: give names with commas between them")
    return list(dict.fromkeys(names))


def _numbers(text: str, option: str, kind: Callable[[str], Number]) -> tuple[Number, ...]:
    found = []
    for name in _names(text, option):
        try:
            found.append(kind(name))
        except ValueError as error:
            raise UsageError(f"{option} {text!r}: {name!r} is no {_KIND[kind]}", code="bad_option") from error
    return tuple(found)


_KIND: Mapping[Callable[[str], Any], str] = {int: "whole number", float: "number"}


def _ways(by: str) -> tuple[Way, ...]:
    from devmind.evaluate.freshness import WAYS

    if by == "both":
        return WAYS
    for way in WAYS:
        if way == by:
            return (way,)
    raise UsageError(f"unknown way {by!r}: choose {', '.join(WAYS)} or both")


def _arrivals(text: str) -> Any:
    from devmind.evaluate.load import ARRIVALS

    if text not in ARRIVALS:
        raise UsageError(f"unknown arrivals {text!r}: choose {' or '.join(ARRIVALS)}")
    return text


def _strategy(text: str) -> Any:
    from devmind.evaluate.chunkers import STRATEGIES

    if text not in STRATEGIES:
        raise UsageError(f"unknown chunking strategy {text!r}: choose from {', '.join(STRATEGIES)}")
    return text


def _follower(session: Session, way: Way) -> OpenFollower:
    from devmind.evaluate.freshness import DevMindFollower
    from devmind.ingest import IngestOptions

    settings = session.settings()
    options = IngestOptions(strategy=settings.strategy, n_workers=settings.n_workers)
    return lambda repository, folder: DevMindFollower(repository, folder, way=way, options=options)
