"""The command line: arguments → one call of the read or write path → text or JSON, and an exit code."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 found, 1 nothing found or abstained, 2 error, 130 Ctrl-C, 143 SIGTERM."""
    try:
        from devmind.cli.run import Terminated, run

        def end(number: int, frame: FrameType | None) -> None:
            raise Terminated(number)

        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:  # nohup has SIGHUP ignored, and so it stays
                signal.signal(number, end)
        code = run(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:  # while the program itself was loading: nothing had begun
        print("devmind: interrupted", file=sys.stderr)
        code = 130
    sys.exit(code)
