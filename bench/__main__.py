"""``python -m bench [STEP...]``: prints the figures of the steps named, of all of them without arguments."""

from __future__ import annotations

import sys

from bench import chunks, evaluation, evaluation_report, indexing, memory, retrieval, scale, targets, traps

STEPS = {
    "indexing": indexing.run,
    "chunks": chunks.run,
    "retrieval": retrieval.run,
    "traps": traps.run,
    "scale": scale.run,
    "memory": memory.run,
    "evaluation": evaluation.run,
    "targets": targets.run,
    "report": evaluation_report.run,
}


def main() -> None:
    wanted = sys.argv[1:] or list(STEPS)
    for name in wanted:
        if name not in STEPS:
            sys.exit(f"unknown benchmark '{name}': use {', '.join(STEPS)}")
        print(f"== {name}")
        STEPS[name]()


if __name__ == "__main__":
    main()
