"""Checkpoints of one training line → their mean. Must not mix models that started apart: their dimensions differ.

A model that went on from another (`train --start`) keeps its dimensions, and the mean of the two was better on held-out
packages than either (`docs/embedding.md`).

    python -m training.blend CHECKPOINT.npz... --out CHECKPOINT.npz
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("checkpoints", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    loaded = [np.load(path) for path in args.checkpoints]
    np.savez(args.out, **{key: np.mean([data[key] for data in loaded], axis=0) for key in loaded[0].files})


if __name__ == "__main__":
    main()
