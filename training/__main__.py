"""The whole training in one command: `python -m training --data DATA --benchmarks FOLDER...`.

Must leave nothing behind but `DATA` and the shipped files.

Each step is skipped when its result is there, so a stopped run goes on where it was; delete a result to make it
again. The steps, with their figures: `training/README.md`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

_SHIPPED = Path(__file__).parents[1] / "src" / "devmind" / "embed" / "data"


def run(module: str, *arguments: str | Path) -> None:
    """Run one step in a process of its own, so that its memory is given back."""
    print(f"== {module}", flush=True)
    subprocess.run([sys.executable, "-m", f"training.{module}", *map(str, arguments)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training")
    parser.add_argument(
        "--data", type=Path, required=True, help="folder for archives, pairs and checkpoints (about 9 GB)"
    )
    parser.add_argument(
        "--benchmarks",
        type=Path,
        nargs="+",
        required=True,
        help="folders of benchmark repositories, kept out by content",
    )
    parser.add_argument("--new-vocabulary", action="store_true", help="learn the pieces again before the vectors")
    args = parser.parse_args()
    archives, pairs, bags = args.data / "archives", args.data / "pairs", args.data / "bags"
    run("collect", "--out", archives, "--record")
    if args.new_vocabulary:
        run("tokenizer", "--data", archives, "--out", _SHIPPED / "vocabulary.txt")
    excluded = args.data / "excluded.npy"
    if not excluded.exists():
        run("content", "--folders", *args.benchmarks, "--out", excluded)
    run("extract", "--data", archives, "--out", pairs)
    if not (bags / "test.npz").exists():
        run("bags", "--pairs", pairs, "--excluded", excluded, "--out", bags)
    if not (bags / "translations_test.npz").exists():
        run("translations", "--data", archives, "--out", bags)
    if not (bags / "teacher.npz").exists():
        run("teach", "--bags", bags)
    run("train", "--bags", bags, "--out", bags / "model.npz")
    run("export", "--checkpoint", bags / "model.npz", "--out", _SHIPPED)
    run("evaluate", "--bags", bags)


if __name__ == "__main__":
    main()
