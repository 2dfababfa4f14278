"""``devmind eval answers``: how good the answers of a run are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from devmind.cli.app import emit, session_of
from devmind.cli.evaluation import evaluation
from devmind.cli.evaluation.options import Reason, Root, Source, Split, sources_of, topics_of
from devmind.cli.evaluation.output import write_json
from devmind.cli.progress import steps
from devmind.errors import UsageError
from devmind.settings import expanded

if TYPE_CHECKING:
    from devmind.evaluate.answers.chat import ChatModel
    from devmind.evaluate.answers.entailment import Entailer
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
    source: Source = None,
    root: Root = None,
    match: Annotated[str, typer.Option("--match", help="When a citation finds a truth: overlap, iou50, …")] = "overlap",
    seed: Annotated[int | None, typer.Option("--seed", help="Of the shuffled pairs that set the thresholds.")] = None,
    replies: Annotated[
        Path | None,
        typer.Option("--replies", metavar="FILE", help="Where the judge's replies are kept; beside RUN without it."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write all of it as JSON.")] = None,
    split: Split = "development",
    reason: Reason = "",
) -> None:
    """Measure the answers of a run: cosines and their diagnosis, citations, statements, a judge, people."""
    from devmind.evaluate.answers.export import as_json
    from devmind.evaluate.answers.human import labels_of, read_human
    from devmind.evaluate.answers.score import Instruments, score_answers
    from devmind.evaluate.embedders import opened
    from devmind.evaluate.statistics import SEED

    session = session_of(ctx)
    topics = topics_of(dataset, form="auto", split=split, reason=reason, command="eval answers")
    measured = _run(run, topics)
    labels = [*labels_of(topics), *(read_human(human) if human else ())]
    other = _run(pairwise, topics) if pairwise else None
    if judge is None and (pairwise or entailment == "judge"):
        raise UsageError("--pairwise and --entailment judge need --judge CONFIG, the endpoint that is asked")
    with ExitStack() as stack:
        model = stack.enter_context(_judge(judge, replies or _beside(run))) if judge else None
        instruments = Instruments(
            stack.enter_context(opened([embedder]))[embedder],
            judge=model,
            entailer=_entailer(entailment, model),
            code=sources_of(source, root),
            labels=labels,
            other=other,
        )
        told = stack.enter_context(steps(session, topics.name))
        scores = score_answers(
            topics, measured, instruments, match=match, seed=SEED if seed is None else seed, progress=told
        )
    found = as_json(scores)
    write_json(out, found)
    if session.json:
        emit(found)
    else:
        from devmind.render.answers import show_answers
        from devmind.render.terminal import console

        show_answers(console(), found, full=session.verbose)


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

        return LocalEntailer(expanded(by.removeprefix(_LOCAL)))
    raise UsageError(f"--entailment {by!r} is none of: judge, local:FOLDER")
