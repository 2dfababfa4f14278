"""``python -m bench [STEP]...`` prints the figures of the steps named in `STEPS`; of all without arguments."""

from __future__ import annotations

import sys

from bench import evaluation, indexing, retrieval, scale, traps

STEPS = {
    "indexing": indexing.run,
    "retrieval": retrieval.run,
    "traps": traps.run,
    "scale": scale.run,
    "evaluation": evaluation.run,
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
