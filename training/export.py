"""Checkpoint → the files that ship: int8 vectors, float16 weights with the rows' scales in them, and the model's name.

python -m training.export --checkpoint CHECKPOINT.npz --out src/devmind/embed/data
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np


def export(checkpoint: Path, out: Path) -> str:
    """Write the three files; return the model's name, which holds a digest of the numbers."""
    data = np.load(checkpoint)
    vectors = data["vectors"]
    scale = np.abs(vectors).max(1, keepdims=True) / 127
    rounded = np.rint(vectors / np.maximum(scale, 1e-12)).astype(np.int8)
    weights = np.stack([data["query_weight"], data["code_weight"]]) * scale[:, 0]
    # A common factor is without effect (vectors are scaled to unit length); this one keeps float16 away from its
    # limits.
    weights = (weights / weights.mean(1, keepdims=True)).astype(np.float16)
    fields = [round(float(x), 4) for x in data["fields"]]
    vocabulary = (out / "vocabulary.txt").read_bytes()
    digest = hashlib.blake2b(vocabulary + rounded.tobytes() + weights.tobytes() + repr(fields).encode(), digest_size=4)
    name = f"static-{rounded.shape[1]}-{digest.hexdigest()}"
    np.save(out / "vectors.npy", rounded)
    np.save(out / "weights.npy", weights)
    (out / "static.json").write_text(json.dumps({"name": name, "fields": fields}) + "\n", "utf-8")
    return name


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    print(export(args.checkpoint, args.out))


if __name__ == "__main__":
    main()
