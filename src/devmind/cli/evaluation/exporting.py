"""``devmind eval export``: a run → a file that other tools score or scripts read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from devmind.cli.app import emit, session_of
from devmind.cli.evaluation import evaluation
from devmind.cli.evaluation.options import DatasetOption, Format, K, Reason, RunArgument, Split, asked_topics
from devmind.errors import UsageError
from devmind.render.figures import counted


@evaluation.command()
def export(
    ctx: typer.Context,
    run: RunArgument,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.")],
    dataset: DatasetOption,
    to: Annotated[
        str, typer.Option("--to", help="trec: what trec_eval and its like score; jsonl: a topic's hits a line.")
    ] = "trec",
    format_: Format = "auto",
    split: Split = "development",
    reason: Reason = "",
    k: K = 10,
) -> None:
    """Write RUN as other tools read it."""
    from devmind.evaluate.export import hit_lines, trec_lines, write_lines
    from devmind.evaluate.measured import load_run

    session = session_of(ctx)
    lines_of = {"trec": trec_lines, "jsonl": hit_lines}
    if to not in lines_of:
        raise UsageError(f"unknown form {to!r}; choose one of {', '.join(lines_of)}")
    asked = asked_topics(dataset, form=format_, split=split, reason=reason, command=f"eval export --to {to}").dataset
    n_lines = write_lines(lines_of[to](load_run(run, asked, k=k), asked), out)
    if session.json:
        emit({"run": str(run), "out": str(out), "to": to, "n_lines": n_lines})
    elif not session.quiet:
        print(f"{out}: {counted(n_lines, 'line')}")
