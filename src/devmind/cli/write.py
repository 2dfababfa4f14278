"""The commands that publish generations: add, sync, remove, rollback, import."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from devmind.cli.app import Session, app, emit, error_line, session_of
from devmind.cli.progress import progress_bar
from devmind.errors import DevMindError, UsageError
from devmind.render.plain import UNSAFE, safe, to_json

if TYPE_CHECKING:
    from devmind.ingest import Progress, Report, Writer

Watch = Callable[["Progress"], None]
MAX_NAME = 200


@app.command()
def add(
    ctx: typer.Context,
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE...", help="Folder, git repository or git URL.")],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the repository, else that of the folder.")
    ] = None,
    ref: Annotated[
        str | None, typer.Option(metavar="REF", help="Branch, tag or commit instead of the working tree.")
    ] = None,
    include: Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Index only what matches.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Leave out what matches.")] = None,
) -> None:
    """Register each SOURCE and index it."""
    if name is not None and len(sources) > 1:
        raise UsageError(
            f"--name {name} names one repository, but {len(sources)} sources were given; add them one by one"
        )
    if name is not None:
        _check_name(name)
    session = session_of(ctx)
    with _writer(session) as writer:
        _each(
            session,
            sources,
            lambda source, watch: writer.add(
                source, name=name, ref=ref, include=tuple(include or ()), exclude=tuple(exclude or ()), progress=watch
            ),
            label=name,
        )


@app.command()
def sync(
    ctx: typer.Context,
    repos: Annotated[list[str] | None, typer.Argument(metavar="[REPO...]", help="All repositories if none.")] = None,
) -> None:
    """Bring repositories up to date with their sources."""
    session = session_of(ctx)
    names = repos or _all_repos(session)
    with _writer(session) as writer:
        _each(session, names, lambda repo, watch: writer.sync(repo, progress=watch))


@app.command()
def remove(
    ctx: typer.Context, repo: Annotated[str, typer.Argument(metavar="REPO", help="Name of the repository.")]
) -> None:
    """Forget REPO; its source is left alone."""
    session = session_of(ctx)
    with _writer(session) as writer:
        writer.remove(repo)
    if session.json:
        emit({"removed": repo})
    elif not session.quiet:
        print(f"{safe(repo)}: removed")


@app.command()
def rollback(
    ctx: typer.Context,
    repo: Annotated[str, typer.Argument(metavar="REPO", help="Name of the repository.")],
    generation: Annotated[
        int, typer.Argument(metavar="GENERATION", min=1, help="As listed by 'devmind generations REPO'.")
    ],
) -> None:
    """Publish a new generation equal to an earlier one."""
    session = session_of(ctx)
    with _writer(session) as writer:
        _show(session, [writer.rollback(repo, generation)])


@app.command(name="import")
def import_(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help='JSON Lines of "devmind export"; "-" is standard input.')],
) -> None:
    """Read exported documents and publish them."""
    session = session_of(ctx)
    try:
        stream = sys.stdin.buffer if file == "-" else Path(file).open("rb")  # noqa: SIM115
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    with stream, _writer(session) as writer, _progress(session) as watch_for:
        reports = writer.import_documents(_decoded(stream, file), progress=watch_for("import"))
    _show(session, reports)
    if not reports:
        raise typer.Exit(1)


def _check_name(name: str) -> None:
    """Refuse a name that could not be typed, shown or told apart again."""
    if (
        not name.strip()
        or name != name.strip()
        or len(name) > MAX_NAME
        or UNSAFE.search(name)
        or re.search(r"\s", name)
    ):
        raise UsageError(
            f"--name {name[:MAX_NAME]!a} cannot name a repository: use 1 to {MAX_NAME} printable characters "
            "without white space",
            code="bad_name",
        )


def _decoded(lines: Iterable[bytes], file: str) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(
                f"{file}:{number}: not UTF-8 ({error.reason} at byte {error.start}); 'devmind export' shows the format",
                code="bad_document",
            ) from error


@contextmanager
def _writer(session: Session) -> Iterator[Writer]:
    settings = session.settings()
    from devmind.ingest import IngestOptions, Writer  # loads parsers and engines
    from devmind.service import embedder_options

    options = IngestOptions(
        strategy=settings.strategy, n_workers=settings.n_workers, embedder=embedder_options(settings)
    )
    with Writer(settings.home, options) as writer:
        yield writer


@contextmanager
def _progress(session: Session) -> Iterator[Callable[[str], Watch]]:
    with progress_bar(session) as bar:

        def watch_for(label: str) -> Watch:
            return lambda now: bar.update(
                label,
                now.phase,
                done=now.done,
                total=now.total,
                bytes_done=now.bytes_done,
                bytes_total=now.bytes_total,
                elapsed_s=now.elapsed_s,
            )

        yield watch_for


def _each(
    session: Session, names: Sequence[str], work: Callable[[str, Watch], Report], *, label: str | None = None
) -> None:
    """Do ``work`` for each name; one that fails is reported and does not stop the others.

    Args:
        label: what the progress calls the work, if not the last part of the name.
    """
    reports = []
    errors: list[dict[str, Any]] = []
    with _progress(session) as watch_for:
        for name in names:
            try:
                reports.append(work(name, watch_for(label or _last_part(name))))
            except DevMindError as error:
                errors.append({"source": name, "code": error.code, "message": str(error)})
    _show(session, reports, errors)
    for error_ in errors:
        told = (
            error_["message"] if error_["source"] in error_["message"] else f"{error_['source']}: {error_['message']}"
        )
        error_line(error_["code"], told, as_json=session.json)
    if errors:
        raise typer.Exit(2)


def _show(session: Session, reports: Sequence[Report], errors: Sequence[dict[str, Any]] = ()) -> None:
    if session.json:
        emit({"reports": to_json(list(reports)), "errors": list(errors)})
    elif not session.quiet:
        from devmind.render.terminal import console, show_report

        for report in reports:
            show_report(console(), to_json(report))


def _last_part(source: str) -> str:
    """Return the last part of a path or URL; of ``.`` and ``..`` the name of the folder they mean."""
    last = source.rstrip("/").rsplit("/", 1)[-1]
    return Path(source).absolute().resolve().name if last in ("", ".", "..") else last


def _all_repos(session: Session) -> list[str]:
    """Return the repositories that have a source; one that was imported has none to be brought up to date with."""
    from devmind.service import Service

    with Service(session.settings()) as service:
        rows = service.status()
    if not rows:
        raise UsageError("the knowledge base holds no repository; add one with 'devmind add SOURCE'")
    names = [str(row["repo"]) for row in rows if row["kind"] != "import"]
    if not names:
        raise UsageError("all repositories were imported from files and have no source to sync; import them again")
    return names
