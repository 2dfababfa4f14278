"""``devmind eval answers``: how good the answers of a run are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from devmind.cli.app import emit, session_of
from devmind.cli.evaluation import evaluation
from devmind.cli.evaluation.options import sources_of
from devmind.errors import UsageError

if TYPE_CHECKING:
    from devmind.evaluate.answers.chat import ChatModel
    from devmind.evaluate.answers.entailment import Entailer
    from devmind.evaluate.answers.score import OnStage
    from devmind.evaluate.types import Dataset, Run

# Deeper than any system lists hits; what a run file holds is read whole.
_ALL_HITS = 1_000
_LOCAL = "local:"


@evaluation.command()
def answers(
    ctx: typer.Context,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run with answers: its folder or file.")],
    dataset: Annotated[Path, typer.Option("--dataset", metavar="FILE", help="The dataset that it is a run of.")],
    embedder: Annotated[
        str, typer.Option("--embedder", metavar="NAME", help="builtin, or the configuration of an endpoint.")
    ] = "builtin",
    judge: Annotated[
        Path | None, typer.Option("--judge", metavar="CONFIG", help="Configuration of a chat endpoint that judges.")
    ] = None,
    pairwise: Annotated[
        Path | None, typer.Option("--pairwise", metavar="RUN", help="Let the judge compare with this run's answers.")
    ] = None,
    entailment: Annotated[
        str, typer.Option("--entailment", metavar="BY", help="Check statements: 'judge', or local:FOLDER of a model.")
    ] = "",
    human: Annotated[
        Path | None, typer.Option("--human", metavar="FILE", help="What people said of the answers.")
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option("--source", metavar="[REPO=]FOLDER", help="Where the code of REPO, or of all topics, is."),
    ] = None,
    root: Annotated[
        Path | None, typer.Option("--root", metavar="DIR", help="Folder whose subfolders are the repositories.")
    ] = None,
    match: Annotated[str, typer.Option("--match", help="When a citation finds a truth: overlap, iou50, …")] = "overlap",
    seed: Annotated[int | None, typer.Option("--seed", help="Of the shuffled pairs that set the thresholds.")] = None,
    replies: Annotated[
        Path | None,
        typer.Option("--replies", metavar="FILE", help="Where the judge's replies are kept; beside RUN without it."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write all of it as JSON.")] = None,
    split: Annotated[str, typer.Option("--split", help="development, test or all.")] = "development",
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why the test half is read; logged.")] = "",
) -> None:
    """Measure the answers of a run: cosines and their diagnosis, citations, statements, a judge, people."""
    from devmind.evaluate.answers.embedders import open_embedder
    from devmind.evaluate.answers.export import as_json
    from devmind.evaluate.answers.human import labels_of, read_human
    from devmind.evaluate.answers.score import Instruments, score_answers
    from devmind.evaluate.datasets.files import dump, write_text
    from devmind.evaluate.statistics import SEED
    from devmind.settings import secret

    session = session_of(ctx)
    topics = _topics(dataset, split, reason)
    measured = _run(run, topics)
    labels = [*labels_of(topics), *(read_human(human) if human else ())]
    other = _run(pairwise, topics) if pairwise else None
    if judge is None and (pairwise or entailment == "judge"):
        raise UsageError("--pairwise and --entailment judge need --judge CONFIG, the endpoint that is asked")
    with ExitStack() as stack:
        model = stack.enter_context(_judge(judge, replies or _beside(run))) if judge else None
        instruments = Instruments(
            stack.enter_context(open_embedder(embedder, secret=secret)),
            judge=model,
            entailer=_entailer(entailment, model),
            code=sources_of(source, root),
            labels=labels,
            other=other,
        )
        progress = None if session.quiet or session.json else stack.enter_context(_progress())
        scores = score_answers(
            topics, measured, instruments, match=match, seed=SEED if seed is None else seed, progress=progress
        )
    found = as_json(scores)
    if out is not None:
        write_text(out, dump(found, indent=2) + "\n")
    if session.json:
        emit(found)
    else:
        from devmind.render.answers import show_answers
        from devmind.render.terminal import console

        show_answers(console(), found, full=session.verbose)


def _topics(path: Path, split: str, reason: str) -> Dataset:
    from devmind.evaluate.datasets.split import HALVES, read_half

    half = next((half for half in HALVES if half == split), None)
    if half is None:
        raise UsageError(f"unknown split {split!r}; choose one of {', '.join(HALVES)}")
    return read_half(path, half, command="eval answers", reason=reason, now=datetime.now().astimezone())


def _run(path: Path, topics: Dataset) -> Run:
    """Read a run over the topics; of a folder, the one journal in it."""
    from devmind.evaluate.targets.runfile import RunFile

    return RunFile(_journal_in(path) if path.is_dir() else path).run_over(topics, k=_ALL_HITS)


def _journal_in(folder: Path) -> Path:
    from devmind.evaluate.journal import is_journal

    found = []
    for path in sorted(folder.glob("*.jsonl")):
        with path.open("rb") as file:
            if is_journal(file.read(64)):
                found.append(path)
    if len(found) != 1:
        raise UsageError(f"the folder {folder} holds {len(found)} runs: name the file of one", code="bad_run")
    return found[0]


def _beside(run: Path) -> Path:
    """Return where the replies about a run are kept without ``--replies``."""
    return run / "judge-replies.jsonl" if run.is_dir() else run.with_name(run.name + ".judge.jsonl")


@contextmanager
def _judge(config: Path, replies: Path) -> Iterator[ChatModel]:
    from devmind.evaluate.answers.chat import open_chat, read_judge
    from devmind.evaluate.answers.ledger import Ledger
    from devmind.settings import secret

    settings, variable = read_judge(config)
    with Ledger(replies) as ledger:
        model = open_chat(settings, variable, ledger, secret=secret)
        try:
            yield model
        finally:
            model.close()


def _entailer(by: str, model: ChatModel | None) -> Entailer | None:
    if not by:
        return None
    if by == "judge" and model is not None:
        from devmind.evaluate.answers.entailment import JudgeEntailer

        return JudgeEntailer(model)
    if by.startswith(_LOCAL) and by != _LOCAL:
        from devmind.evaluate.answers.local_nli import LocalEntailer

        return LocalEntailer(Path(by.removeprefix(_LOCAL)).expanduser())
    raise UsageError(f"--entailment {by!r} is none of: judge, local:FOLDER")


@contextmanager
def _progress() -> Iterator[OnStage]:
    """Show a bar for each stage on a terminal; elsewhere show nothing."""
    from rich.progress import Progress, TaskID

    from devmind.render.terminal import console

    with Progress(console=console(stderr=True), transient=True, disable=not console(stderr=True).is_terminal) as bars:
        known: dict[str, TaskID] = {}

        def show(stage: str, n_done: int, n_all: int) -> None:
            if stage not in known:
                known[stage] = bars.add_task(stage, total=n_all)
            bars.update(known[stage], completed=n_done)

        yield show
