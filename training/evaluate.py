"""Held-out pairs → nDCG@10 and R@5 of a ranking. Must rank all held-out code for every query, not a sample of it.

Each query has one relevant document (the code it documents), so nDCG@10 is `1 / log2(1 + rank)` within the first ten
and R@5 is whether it is within five.

    python -m training.evaluate --bags DIR [--model FOLDER]    the shipped model, others and BM25 on held-out packages
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

from devmind.embed.static import StaticEmbedder, built_in, load
from devmind.embed.tokenizer import split_word
from devmind.embed.types import ChunkText

# Queries judged, at even distances; the corpus they search is whole.
N_QUERIES = 2_000
# Judged of each language, so that the figures of two languages are as sure.
N_QUERIES_A_LANGUAGE = 400
# Fewer questions say nothing about a language.
_FEWEST = 40
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


def balanced(groups: Sequence[str], most: int) -> npt.NDArray[np.int64]:
    """Indexes of at most `most` rows of each group, at even distances, in order."""
    rows: dict[str, list[int]] = defaultdict(list)
    for i, group in enumerate(groups):
        rows[group].append(i)
    chosen = [np.array(r)[np.unique(np.linspace(0, len(r) - 1, min(len(r), most)).astype(int))] for r in rows.values()]
    return np.sort(np.concatenate(chosen))


def report(name: str, rank: npt.NDArray[np.int64], groups: Sequence[str]) -> None:
    """Print the measures of all queries and of each group's with enough of them."""
    print(f"{name:34} all {len(rank)}: nDCG@10 %.3f R@5 %.3f" % measures(rank))
    n_by_group = Counter(groups)
    for group, n in n_by_group.most_common():
        if n >= _FEWEST:
            mask = np.array([g == group for g in groups])
            print(f"    {group:12} {n:5}  %.3f  %.3f" % measures(rank[mask]))
    print(flush=True)


def _texts(pairs: Sequence[dict[str, Any]]) -> list[ChunkText]:
    return [ChunkText(name=p["name"], header=p["header"], body=p["body"]) for p in pairs]


def by_language(
    models: Sequence[StaticEmbedder], pairs: Sequence[dict[str, Any]], ways: Sequence[str], *, bm25: bool
) -> None:
    """Print how the written documentation of each language finds its code, asked in each of `ways`."""
    languages = [p["language"] for p in pairs]
    target = balanced(languages, N_QUERIES_A_LANGUAGE)
    for model in models:
        code = model.embed_chunks(_texts(pairs))
        for way in ways:
            asked = np.array([i for i in target if pairs[i][way]])
            rank = ranks_dense(model.embed_queries([pairs[i][way] for i in asked]), code, asked)
            report(f"{model.name} doc/{way}", rank, [languages[i] for i in asked])
            if way == ways[0]:
                short = (x[:, : model.prefix] for x in (model.embed_queries([pairs[i][way] for i in asked]), code))
                queries, small = (x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9) for x in short)
                report(f"{model.name} first {model.prefix}", ranks_dense(queries, small, asked), [])
    if bm25:
        documents = [f"{p['name']} {p['header']} {p['body']}" for p in pairs]
        rank = ranks_bm25([pairs[i][ways[0]] for i in target], documents, target)
        report(f"BM25 doc/{ways[0]}", rank, [languages[i] for i in target])


def by_kind(models: Sequence[StaticEmbedder], pairs: Sequence[dict[str, Any]]) -> None:
    """Print how the queries of the other kinds find their code among all held-out code of their kind."""
    for kind in sorted({p["kind"] for p in pairs} - {"doc"}):
        of_kind = [p for p in pairs if p["kind"] == kind]
        target = sampled(len(of_kind))
        for model in models:
            code = model.embed_chunks(_texts(of_kind))
            rank = ranks_dense(model.embed_queries([of_kind[i]["query"] for i in target]), code, target)
            report(f"{model.name} {kind} of {len(of_kind)}", rank, [])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bags", type=Path, required=True)
    parser.add_argument("--model", type=Path, action="append", default=[], help="folder of another model to measure")
    parser.add_argument("--no-bm25", action="store_true", help="leave out BM25, which takes longest")
    args = parser.parse_args()
    with (args.bags / "test.jsonl").open(encoding="utf-8") as lines:
        pairs: list[dict[str, Any]] = [json.loads(line) for line in lines]
    models = [*map(load, args.model), built_in()]
    documented = [p for p in pairs if p["kind"] == "doc"]
    print(f"{len(documented)} documented definitions held out, {len(pairs)} pairs in all", flush=True)
    by_language(models, documented, ("query", "question", "chinese"), bm25=not args.no_bm25)
    by_kind(models, pairs)


if __name__ == "__main__":
    main()
