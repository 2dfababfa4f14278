"""Held-out pairs → nDCG@10 and R@5 of a ranking. Must rank all held-out code for every query, not a sample of it.

Each query has one relevant document (the code it documents), so nDCG@10 is `1 / log2(1 + rank)` within the first ten
and R@5 is whether it is within five.

    python -m training.evaluate --bags DIR      the shipped model and BM25 on the held-out packages
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from devmind.embed.static import built_in
from devmind.embed.tokenizer import split_word
from devmind.embed.types import ChunkText

# Queries judged, at even distances; the corpus they search is whole.
N_QUERIES = 4_000
_WORD = re.compile(r"\w+")


def sampled(n: int) -> npt.NDArray[np.int64]:
    """Indexes of the judged queries."""
    return np.unique(np.linspace(0, n - 1, min(n, N_QUERIES)).astype(np.int64))


def ranks(scores: npt.NDArray[np.float32], target: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Rank (from 1) of the target of each row; documents of equal score stand before it."""
    own = scores[np.arange(len(target)), target]
    return np.asarray((scores >= own[:, None]).sum(1), np.int64)


def ranks_dense(
    queries: npt.NDArray[np.float32], code: npt.NDArray[np.float32], target: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """`ranks` by dot product, in blocks."""
    blocks = [ranks(queries[i : i + 256] @ code.T, target[i : i + 256]) for i in range(0, len(queries), 256)]
    return np.concatenate(blocks)


def measures(rank: npt.NDArray[np.int64]) -> tuple[float, float]:
    """(nDCG@10, R@5)."""
    return float(np.where(rank <= 10, 1 / np.log2(1 + rank), 0).mean()), float((rank <= 5).mean())


def _terms(text: str) -> list[str]:
    return [part for word in _WORD.findall(text) for part in split_word(word[:128])]


def ranks_bm25(
    queries: Sequence[str], documents: Sequence[str], target: npt.NDArray[np.int64], *, k1: float = 1.2, b: float = 0.75
) -> npt.NDArray[np.int64]:
    """`ranks` by BM25 over identifier-split, lower-cased words.

    Source: Robertson & Zaragoza, The Probabilistic Relevance Framework (2009), with Lucene's idf.
    """
    postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
    lengths = np.zeros(len(documents), np.float32)
    for i, text in enumerate(documents):
        terms = _terms(text)
        lengths[i] = len(terms)
        for term, tf in Counter(terms).items():
            postings[term].append((i, tf))
    norm = k1 * (1 - b + b * lengths / lengths.mean())
    arrays = {t: (np.array([i for i, _ in p]), np.array([f for _, f in p], np.float32)) for t, p in postings.items()}
    out = np.zeros(len(queries), np.int64)
    for row, query in enumerate(queries):
        scores = np.zeros(len(documents), np.float32)
        for term in _terms(query):
            if term in arrays:
                where, tf = arrays[term]
                idf = math.log(1 + (len(documents) - len(where) + 0.5) / (len(where) + 0.5))
                scores[where] += idf * tf * (k1 + 1) / (tf + norm[where])
        out[row] = (scores >= scores[target[row]]).sum()
    return out


def report(rank: npt.NDArray[np.int64], languages: Sequence[str], name: str) -> None:
    """Print the measures of all queries and of each language's."""
    cells = [f"{name:10} all {len(rank)}: nDCG@10 %.3f R@5 %.3f" % measures(rank)]
    for language in sorted(set(languages)):
        mask = np.array([x == language for x in languages])
        if mask.sum() >= 30:
            cells.append(f"{language} {mask.sum()}: %.3f %.3f" % measures(rank[mask]))
    print(" | ".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bags", type=Path, required=True)
    args = parser.parse_args()
    with (args.bags / "test.jsonl").open(encoding="utf-8") as lines:
        pairs: list[dict[str, Any]] = [json.loads(line) for line in lines]
    target = sampled(len(pairs))
    queries = [pairs[i]["query"] for i in target]
    languages = [pairs[i]["language"] for i in target]
    model = built_in()
    code = model.embed_chunks([ChunkText(name=p["name"], header=p["header"], body=p["body"]) for p in pairs])
    report(ranks_dense(model.embed_queries(queries), code, target), languages, model.name)
    documents = [f"{p['name']} {p['header']} {p['body']}" for p in pairs]
    report(ranks_bm25(queries, documents, target), languages, "BM25")


if __name__ == "__main__":
    main()
