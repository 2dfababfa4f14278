"""The typer application, its global options, and what every command shares."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from devmind import __version__
from devmind.render.plain import dumps, safe
from devmind.settings import Settings, load

COMMANDS = "add sync status files search ask why symbol graph generations rollback remove export import doctor tune"
ORDER = {name: at for at, name in enumerate(COMMANDS.split())}


class InOrderOfUse(TyperGroup):
    """Lists the commands as a newcomer needs them, not as their modules happen to be imported."""

    def list_commands(self, ctx: object) -> list[str]:
        return sorted(self.commands, key=lambda name: ORDER.get(name, len(ORDER)))


app = typer.Typer(
    cls=InOrderOfUse,
    name="devmind",
    help="A knowledge base for code: index repositories, search them, ask and get answers with checked citations.",
    epilog="Global options may stand before or after the command. Begin with 'devmind add FOLDER'. "
    "Exit codes: 0 found, 1 nothing found or refused, 2 error, 130 interrupted.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@dataclass(frozen=True, slots=True)
class Session:
    """The global options of one run."""

    kb: str | None = None
    config: str | None = None
    json: bool = False
    quiet: bool = False
    verbose: bool = False

    def settings(self) -> Settings:
        return load(self.kb, self.config)


def session_of(ctx: typer.Context) -> Session:
    session = ctx.find_root().obj
    return session if isinstance(session, Session) else Session()


def emit(value: Any) -> None:
    """Write one line of JSON to standard output."""
    sys.stdout.write(dumps(value) + "\n")


def error_line(code: str, message: str, *, as_json: bool) -> None:
    """Write an error to standard error, in the shape that HTTP and MCP share when JSON was asked for."""
    text = dumps({"error": {"code": code, "message": message}}) if as_json else safe(f"devmind: {message}")
    print(text, file=sys.stderr)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"devmind {__version__}")
        raise typer.Exit


@app.callback()
def _globals(
    ctx: typer.Context,
    kb: Annotated[str | None, typer.Option(metavar="DIR", help="Folder of the knowledge base.")] = None,
    config: Annotated[
        str | None, typer.Option(metavar="FILE", help="Settings instead of config.toml in that folder.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Exact JSON on standard output.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Results only: no progress, no report.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Whole snippets; tracebacks of faults.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    ctx.obj = Session(kb, config, json, quiet, verbose)
