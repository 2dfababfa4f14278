"""The process edge: argument order, streams, and every error turned into a message and an exit code, once."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

import typer
from typer.main import get_command

from devmind.cli import dataset, read, write
from devmind.cli.app import app, error_line
from devmind.cli.evaluation import operations
from devmind.errors import DevMindError
from devmind.settings import load

FOUND, NOTHING, ERROR, INTERRUPTED = 0, 1, 2, 130
FLAGS = {"--json", "--quiet", "-q", "--verbose", "-v"}
WRITES = {"add", "sync", "remove", "rollback", "import"}
COMMANDS = (read, write, dataset)  # importing them registers their commands
EVALUATION = (operations,)  # likewise


def run(argv: Sequence[str]) -> int:
    """Run one command and return its exit code; nothing is raised, except by a fault in this function."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # whatever the locale: Chinese as it is, undecodable bytes as \udcxx
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    args = hoist(argv)
    as_json = "--json" in args
    try:
        code = _invoke(args, as_json=as_json)
        sys.stdout.flush()
        return code
    except DevMindError as error:
        error_line(error.code, str(error), as_json=as_json)
        return ERROR
    except BrokenPipeError:  # the reader has seen enough; keep the interpreter from flushing into the closed pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND
    except (KeyboardInterrupt, typer.Abort):
        note = "; the published generation is unchanged; run the same command again to finish"
        publishes = WRITES & set(args) and "dataset" not in args
        error_line("interrupted", "interrupted" + (note if publishes else ""), as_json=as_json)
        return INTERRUPTED
    except Exception as error:
        _report_fault(error, args, as_json=as_json)
        return ERROR


def _invoke(args: Sequence[str], *, as_json: bool) -> int:
    command = get_command(app)
    try:
        with command.make_context("devmind", list(args) or ["--help"]) as context:
            command.invoke(context)
        return FOUND
    except typer.Exit as stop:
        return stop.exit_code
    except Exception as error:
        message = getattr(error, "format_message", None)  # a usage error of typer's argument parser
        if message is None:
            raise
        hint = "" if as_json else "\nTry 'devmind --help' or 'devmind COMMAND --help'."
        error_line("usage", f"{message()}{hint}", as_json=as_json)
        return ERROR


def hoist(argv: Sequence[str]) -> list[str]:
    """Move the global options to the front, so that they may stand on either side of the command."""
    front: list[str] = []
    rest: list[str] = []
    waiting = iter(argv)
    for arg in waiting:
        if arg == "--":
            rest += [arg, *waiting]
        elif arg in FLAGS or arg.startswith("--kb="):
            front.append(arg)
        elif arg == "--kb":
            front += [arg, *([value] if (value := next(waiting, None)) is not None else [])]
        else:
            rest.append(arg)
    return front + rest


def _report_fault(error: Exception, args: list[str], *, as_json: bool) -> None:
    trace = traceback.format_exc()
    log = _log(trace, args)
    if {"-v", "--verbose"} & set(args):
        print(trace, file=sys.stderr)
    where = f"; the traceback is in {log}" if log else "; -v shows the traceback"
    error_line("internal", f"internal error: {type(error).__name__}: {error}{where}", as_json=as_json)


def _log(trace: str, args: list[str]) -> Path | None:
    kb = next((args[at + 1] for at, arg in enumerate(args[:-1]) if arg == "--kb"), None)
    kb = kb or next((arg.removeprefix("--kb=") for arg in args if arg.startswith("--kb=")), None)
    try:
        home = load(kb).home
        if not home.is_dir():
            return None
        path = home / "devmind.log"
        with path.open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} devmind {' '.join(args)}\n{trace}\n")
        return path
    except (OSError, DevMindError):
        return None
