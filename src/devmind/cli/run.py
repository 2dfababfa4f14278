"""The process edge: argument order, streams, and every error turned into a message and an exit code, once."""

from __future__ import annotations

import errno
import os
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

import typer
from typer.main import get_command

from devmind.cli import dataset, read, tune, write
from devmind.cli.app import app, error_line
from devmind.cli.evaluation import answers, diagnosis, exporting, gating, operations, questions, reporting, scoring
from devmind.errors import DevMindError
from devmind.settings import forget_git_place, load

FOUND, NOTHING, ERROR, INTERRUPTED = 0, 1, 2, 130
# What a write to a full or broken output meets; no other error of the system comes here without the name of a file.
OUTPUT_FAULTS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
FLAGS = {"--json", "--quiet", "-q", "--verbose", "-v"}
WITH_VALUE = ("--kb", "--config")
WRITES = {"add", "sync", "remove", "rollback", "import"}
COMMANDS = (
    read,
    write,
    tune,
    dataset,
    answers,
    diagnosis,
    exporting,
    gating,
    operations,
    questions,
    reporting,
    scoring,
)  # importing registers them


def run(argv: Sequence[str]) -> int:
    """Run one command and return its exit code; nothing is raised, except by a fault in this function."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # whatever the locale: Chinese as it is, undecodable bytes as \udcxx
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    forget_git_place()
    args = hoist(argv)
    as_json = "--json" in args
    try:
        code = _invoke(args, as_json=as_json)
        sys.stdout.flush()
        return code
    except DevMindError as error:
        error_line(error.code, str(error), as_json=as_json)
        return ERROR
    except BrokenPipeError:  # the reader has seen enough
        _drop_output()
        return FOUND
    except (KeyboardInterrupt, typer.Abort) as stop:
        notes = getattr(stop, "__notes__", [])  # a command that keeps what it did says where
        if WRITES & set(args) and not {"dataset", "eval"} & set(args):
            notes = ["the published generation is unchanged; run the same command again to finish"]
        error_line("interrupted", "; ".join(["interrupted", *notes]), as_json=as_json)
        return stop.exit_code if isinstance(stop, Terminated) else INTERRUPTED
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None and error.errno in OUTPUT_FAULTS:
            _drop_output()
            message = f"the output cannot be written: {error.strerror}; free disk space or write it elsewhere"
            error_line("output", message, as_json=as_json)
            return ERROR
        _report_fault(error, args, as_json=as_json)
        return ERROR


class Terminated(KeyboardInterrupt):
    """Asked to end by a signal other than Ctrl-C; everything is left in order, as after Ctrl-C."""

    def __init__(self, signal_number: int) -> None:
        super().__init__()
        self.exit_code = 128 + signal_number


def _drop_output() -> None:
    """Keep the interpreter from writing what is left when it ends, which would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
        elif arg in FLAGS or arg.startswith(tuple(f"{name}=" for name in WITH_VALUE)):
            front.append(arg)
        elif arg in WITH_VALUE:
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
