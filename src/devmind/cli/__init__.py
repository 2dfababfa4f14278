"""The command line: arguments → one call of the read or write path → text or JSON, and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 found, 1 nothing found or abstained, 2 error, 130 interrupted."""
    try:
        from devmind.cli.run import run

        code = run(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:  # while the program itself was loading: nothing had begun
        print("devmind: interrupted", file=sys.stderr)
        code = 130
    sys.exit(code)
