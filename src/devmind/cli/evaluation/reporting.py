"""``devmind eval report``: measured runs → one HTML page, Markdown, JSON, JUnit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from devmind.cli.app import emit, session_of
from devmind.cli.evaluation import evaluation
from devmind.cli.evaluation.options import (
    At,
    By,
    DatasetOption,
    Format,
    K,
    Match,
    Measures,
    Reason,
    Root,
    Source,
    Split,
    asked_topics,
    scoring_of,
    sources_of,
)
from devmind.cli.evaluation.scoring import measured_runs
from devmind.errors import UsageError

if TYPE_CHECKING:
    from devmind.evaluate.datasets.sources import Sources
    from devmind.evaluate.report import Report


@evaluation.command()
def report(
    ctx: typer.Context,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs, or files of responses.")],
    dataset: DatasetOption,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", metavar="RUN", help="Compare every RUN with this one.")
    ] = None,
    format_: Format = "auto",
    split: Split = "development",
    reason: Reason = "",
    source: Source = None,
    root: Root = None,
    at: At = "",
    k: K = 10,
    match: Match = "overlap",
    by: By = None,
    measure: Measures = None,
    html: Annotated[Path | None, typer.Option("--html", metavar="OUT", help="One page that needs no network.")] = None,
    md: Annotated[Path | None, typer.Option("--md", metavar="OUT", help="Markdown for a pull request.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json-file", metavar="OUT", help="All of it as JSON (--json prints it).")
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="OUT", help="JUnit XML, a case a topic.")] = None,
) -> None:
    """Write what was measured: a page to read, a summary for a pull request, files for other programs."""
    from devmind.evaluate.report import make_report
    from devmind.evaluate.report.provenance import report_provenance

    session = session_of(ctx)
    if not (html or md or json_file or junit or session.json):
        raise UsageError("nothing to write: name an output with --html, --md, --json-file or --junit")
    asked = asked_topics(dataset, form=format_, split=split, reason=reason, command="eval report")
    code = sources_of(source, root, at)
    scoring = scoring_of(match, by, code, asked=asked)
    now = datetime.now().astimezone()
    made = make_report(
        asked,
        measured_runs([*([baseline] if baseline else []), *runs], asked, scoring, k=k),
        provenance=report_provenance(asked.dataset, scoring, split=split, folder=Path.cwd(), now=now),
        with_baseline=baseline is not None,
        measures=measure or (),
    )
    written = _write(made, now, html=html, md=md, json_file=json_file, junit=junit, code=code)
    if session.json:
        from devmind.evaluate.report.record import report_record

        emit(report_record(made))
    elif not session.quiet:
        for path in written:
            print(f"{path}: {path.stat().st_size:,} bytes")


def _write(
    made: Report,
    now: datetime,
    *,
    html: Path | None,
    md: Path | None,
    json_file: Path | None,
    junit: Path | None,
    code: Sources | None,
) -> Sequence[Path]:
    from devmind.evaluate.report.write import write_report

    if html is not None:
        from devmind.evaluate.report.html import report_html

        write_report(html, report_html(made, code))
    if md is not None:
        from devmind.evaluate.report.markdown import report_markdown

        write_report(md, report_markdown(made))
    if json_file is not None:
        from devmind.evaluate.datasets.files import dump
        from devmind.evaluate.report.record import report_record

        write_report(json_file, dump(report_record(made), indent=1) + "\n")
    if junit is not None:
        from devmind.evaluate.report.junit import report_xml

        write_report(junit, report_xml(made, now=now))
    return [path for path in (html, md, json_file, junit) if path is not None]
