"""Pairs → bags of token ids in flat arrays, split by package into training and held-out. Must cut exactly as the
static model cuts.

    python -m training.bags --pairs PAIRS --excluded FILE.npy --out DIR
"""

from __future__ import annotations

import argparse
import hashlib
import json
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from devmind.embed.static import BODY_PIECES, HEADER_PIECES, NAME_PIECES, QUERY_PIECES
from devmind.embed.tokenizer import token_ids
from training.content import load, without_copies
from training.exclude import is_excluded
from training.paraphrase import chinese_by_english, in_chinese, question

# A pair's query as it was found, as a question, and in Chinese (empty where the glossary knows too little of it).
QUERIES = ("query", "question", "chinese")
CODE = ("name", "header", "body")
LIMITS = {**dict.fromkeys(QUERIES, QUERY_PIECES), "name": NAME_PIECES, "header": HEADER_PIECES, "body": BODY_PIECES}

# One package in 16, by a hash of its name, is held out whole: no project is on both sides.
HELD_OUT_OF = 16

# A boilerplate sentence ("Returns the value.") teaches nothing and makes false negatives.
MAX_SAME_QUERY = 2


def is_held_out(package: str) -> bool:
    """Whether a package is kept for evaluation; depends on its name alone, so a grown corpus keeps its test side."""
    return hashlib.blake2b(package.lower().encode(), digest_size=4).digest()[0] % HELD_OUT_OF == 0


def read_pairs(folder: Path, excluded: frozenset[int]) -> list[dict[str, Any]]:
    """All pairs, ordered by package, path and name, so that neighbours in the list are neighbours in the code.

    A pair that several packages hold (vendored code) stays with the first, so it cannot be on both sides of the split;
    nor can a function that two packages hold under different comments.
    """
    found: list[dict[str, Any]] = []
    seen: set[tuple[str, str]] = set()
    package_by_code: dict[int, str] = {}
    same_query: Counter[str] = Counter()
    n_excluded = 0
    for path in sorted(folder.glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            read = [json.loads(line) for line in lines]
        # Pairs may be older than an entry of the list.
        read = [p for p in read if not is_excluded(f"{p['package'].replace(':', '/')}/{p['path']}")]
        ours = without_copies(read, excluded)
        n_excluded += len(read) - len(ours)
        for pair in ours:
            query, code = pair["query"].lower(), pair["code"]
            key = (query, pair["name"].lower() or pair["body"][:200])
            elsewhere = code and package_by_code.setdefault(code, pair["package"]) != pair["package"]
            if key not in seen and not elsewhere and same_query[query] < MAX_SAME_QUERY:
                seen.add(key)
                same_query[query] += 1
                found.append(pair)
    print(f"{n_excluded} pairs left out whose code, or file, stands in a benchmark repository", flush=True)
    return sorted(found, key=lambda p: (p["package"], p["path"], p["name"]))


def bag(texts: Iterable[str], limit: int) -> dict[str, npt.NDArray[Any]]:
    """Distinct ids of each text with √tf / √n, n being the text's number of pieces: what the static model multiplies
    with.

    Returns:
        `ids` and `factors` of all texts one after the other, and `offsets` `(n_texts + 1,)`.
    """
    ids, factors, offsets = array("i"), array("f"), array("q", [0])
    for text in texts:
        found = token_ids(text, limit)
        scale = len(found) ** -0.5 if found else 0.0
        counts = Counter(found)
        ids.extend(counts)
        factors.extend(n**0.5 * scale for n in counts.values())
        offsets.append(len(ids))
    return {
        "ids": np.frombuffer(ids, np.int32),
        "factors": np.frombuffer(factors, np.float32),
        "offsets": np.frombuffer(offsets, np.int64),
    }


def write_bags(pairs: Sequence[dict[str, Any]], path: Path) -> None:
    """Write the bags of every field as one `.npz` with keys `query_ids`, `query_factors`, `query_offsets`, …"""
    arrays = {
        f"{field}_{key}": value
        for field, limit in LIMITS.items()
        for key, value in bag((p[field] for p in pairs), limit).items()
    }
    np.savez(path, **arrays)  # type: ignore[arg-type]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--excluded", type=Path, required=True, help="digests by training.content")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    pairs = read_pairs(args.pairs, load(args.excluded))
    glossary = chinese_by_english()
    for pair in pairs:
        pair["question"] = question(pair["query"])
        pair["chinese"] = in_chinese(pair["query"], glossary)
    sides = {"train": [p for p in pairs if not is_held_out(p["package"])]}
    sides["test"] = [p for p in pairs if is_held_out(p["package"])]
    for side, chosen in sides.items():
        write_bags(chosen, args.out / f"{side}.npz")
        with (args.out / f"{side}.jsonl").open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(p, ensure_ascii=False) + "\n" for p in chosen)
        languages = Counter(p["language"] for p in chosen)
        print(side, len(chosen), "pairs", len({p["package"] for p in chosen}), "packages", flush=True)
        print("  ", dict(languages.most_common()), dict(Counter(p["kind"] for p in chosen).most_common()), flush=True)


if __name__ == "__main__":
    main()
