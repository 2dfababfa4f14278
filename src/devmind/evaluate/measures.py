"""Covers and line counts → numbers with names, such as ``Recall@10``.

Nothing here knows of topics or runs. Every formula takes hits in list order; scores play no part.

``Recall@k``            distinct truths found by rank k / all truths
``Precision@k``         hits by rank k that find some truth / k
``novel Precision@k``   hits by rank k that find a truth no earlier hit found / k
``F1@k``                harmonic mean of Recall@k and novel Precision@k
``hit@k``               1 if any truth is found by rank k
``RR``, ``RR@k``        1 / rank of the first hit that finds a truth (by rank k), else 0; the mean is MRR
``AP``                  mean over truths of the novel precision at the rank that finds them; the mean is MAP
``nDCG@k``              gain = grade (strong 2, weak 1); ``nDCG(exp)@k``: 2^grade - 1; ``nDCG(binary)@k``: 1
``nDCG(strict)@k``      as binary, but the ideal gives every truth a rank of its own
``all@k``               1 if every truth is found by rank k
``chain@k``             truths as steps of a chain: neighbouring steps both found by rank k / all neighbouring pairs
``line Recall@k``       lines of truths that the first k hits hold / lines of truths
``line Precision@k``    the same lines / lines of the first k hits
``IoU@k``               the same lines / lines of either
``tokens@k``            tokens of the text of the first k hits

A hit that finds several truths at once counts once in nDCG, with the highest of their gains, and the ideal holds those
truths as one: a chunk that holds all of them is perfect. ``file …`` are the same over distinct files.

Sources: Järvelin and Kekäläinen 2002 (nDCG, linear gain); Burges et al. 2005 (2^g - 1); trec_eval for the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from devmind.evaluate.alignment import Cover, LineCounts
from devmind.evaluate.types import GAIN

KS = (1, 5, 10)
# What a comparison reports first: few, so that Holm's correction does not drown a real difference.
HEADLINE = ("nDCG@10", "Recall@5", "Recall@10", "RR@10", "file Recall@10", "file nDCG@10")
FILE = "file "
REFUSAL = "refusal"  # on traps
FALSE_REFUSAL = "false refusal"  # on topics that have an answer
UNMAPPED = "unmapped"  # share of the hits whose text was not found in the repository

_LOWER_IS_BETTER = (FALSE_REFUSAL, UNMAPPED, "tokens@")
_DISCOUNT = tuple(1 / math.log2(rank + 1) for rank in range(1, 1001))


def lower_is_better(measure: str) -> bool:
    return measure.startswith(_LOWER_IS_BETTER)


def depth(measure: str) -> int | None:
    """Return the k of ``measure``, or None if it reads the whole list."""
    _, at, k = measure.rpartition("@")
    return int(k) if at and k.isdigit() else None


def rank_measures(cover: Cover, ks: Iterable[int], *, prefix: str = "") -> dict[str, float | None]:
    """Return the measures of ranks by name; all None where the cover has no truths."""
    graded = [float(GAIN[truth.grade]) for truth in cover.truths]
    exponential = [2**gain - 1 for gain in graded]
    binary = [1.0] * len(graded)
    found: dict[str, float | None] = {f"{prefix}RR": reciprocal_rank(cover), f"{prefix}AP": average_precision(cover)}
    for k in ks:
        found[f"{prefix}Recall@{k}"] = recall(cover, k)
        found[f"{prefix}Precision@{k}"] = precision(cover, k)
        found[f"{prefix}F1@{k}"] = f1(recall(cover, k), novel_precision(cover, k))
        found[f"{prefix}hit@{k}"] = hit(cover, k)
        found[f"{prefix}RR@{k}"] = reciprocal_rank(cover, k)
        found[f"{prefix}nDCG@{k}"] = ndcg(cover, graded, k)
        found[f"{prefix}nDCG(exp)@{k}"] = ndcg(cover, exponential, k)
        found[f"{prefix}nDCG(binary)@{k}"] = ndcg(cover, binary, k)
        found[f"{prefix}all@{k}"] = complete(cover, k)
    return found


def span_measures(cover: Cover, ks: Iterable[int]) -> dict[str, float | None]:
    """Return what is measured over spans only: novelty, one rank for each truth, chains."""
    binary = [1.0] * len(cover.truths)
    found: dict[str, float | None] = {}
    for k in ks:
        found[f"novel Precision@{k}"] = novel_precision(cover, k)
        found[f"nDCG(strict)@{k}"] = ndcg(cover, binary, k, merges=False)
        found[f"chain@{k}"] = chain(cover, k)
    return found


def line_measures(counts_at: Mapping[int, LineCounts]) -> dict[str, float | None]:
    """Return the measures of lines for the counts of the first k hits, by k."""
    found: dict[str, float | None] = {}
    for k, counts in counts_at.items():
        found[f"line Recall@{k}"] = line_recall(counts)
        found[f"line Precision@{k}"] = line_precision(counts)
        found[f"IoU@{k}"] = line_iou(counts)
    return found


def token_measures(texts: Sequence[str], ks: Iterable[int], count: Callable[[str], int]) -> dict[str, float | None]:
    """Return the tokens of the first k texts; None if a text is missing among them, since its size is not known."""
    sizes = [count(text) if text else None for text in texts[: max(ks, default=0)]]
    found: dict[str, float | None] = {}
    for k in ks:
        known = [size for size in sizes[:k] if size is not None]
        found[f"tokens@{k}"] = float(sum(known)) if len(known) == len(sizes[:k]) else None
    return found


def recall(cover: Cover, k: int) -> float | None:
    return sum(map(len, cover.new[:k])) / len(cover.truths) if cover.truths else None


def precision(cover: Cover, k: int) -> float | None:
    return sum(cover.matched[:k]) / k if cover.truths else None


def novel_precision(cover: Cover, k: int) -> float | None:
    return sum(map(bool, cover.new[:k])) / k if cover.truths else None


def f1(recalled: float | None, precise: float | None) -> float | None:
    if recalled is None or precise is None:
        return None
    return 2 * recalled * precise / (recalled + precise) if recalled + precise else 0.0


def hit(cover: Cover, k: int) -> float | None:
    return float(any(cover.matched[:k])) if cover.truths else None


def complete(cover: Cover, k: int) -> float | None:
    return float(sum(map(len, cover.new[:k])) == len(cover.truths)) if cover.truths else None


def reciprocal_rank(cover: Cover, k: int | None = None) -> float | None:
    if not cover.truths:
        return None
    return next((1 / rank for rank, found in enumerate(cover.matched[:k], 1) if found), 0.0)


def average_precision(cover: Cover) -> float | None:
    if not cover.truths:
        return None
    total, n_novel = 0.0, 0
    for rank, new in enumerate(cover.new, 1):
        if new:
            n_novel += 1
            total += len(new) * n_novel / rank
    return total / len(cover.truths)


def chain(cover: Cover, k: int) -> float | None:
    """Return the links of the chain that are whole, over all links; None for fewer than two truths."""
    n_links = len(cover.truths) - 1
    if n_links < 1:
        return None
    found = {i for new in cover.new[:k] for i in new}
    return sum(i in found and i + 1 in found for i in range(n_links)) / n_links


def ndcg(cover: Cover, gains: Sequence[float], k: int, *, merges: bool = True) -> float | None:
    """Return DCG@k over the ideal DCG@k.

    Args:
        gains: by truth.
        merges: truths that one hit finds at once stand in the ideal as one, with the highest of their gains.
    """
    if not cover.truths:
        return None
    dcg = 0.0
    apart = set(range(len(gains)))
    for rank, new in enumerate(cover.new[:k]):
        if new:
            best = max(new, key=gains.__getitem__)
            dcg += gains[best] * discount(rank + 1)
            if merges:
                apart.difference_update(i for i in new if i != best)
    ideal = sorted((gains[i] for i in apart), reverse=True)[:k]
    return dcg / sum(gain * discount(rank) for rank, gain in enumerate(ideal, 1))


def discount(rank: int) -> float:
    return _DISCOUNT[rank - 1] if rank <= len(_DISCOUNT) else 1 / math.log2(rank + 1)


def line_recall(counts: LineCounts) -> float | None:
    return counts.n_shared / counts.n_truth if counts.n_truth else None


def line_precision(counts: LineCounts) -> float | None:
    """Return the share of the hits' lines that are truth; 0 when nothing was hit, None when a hit's size is unknown."""
    if not counts.n_truth or counts.n_hit is None:
        return None
    return counts.n_shared / counts.n_hit if counts.n_hit else 0.0


def line_iou(counts: LineCounts) -> float | None:
    if not counts.n_truth or counts.n_hit is None:
        return None
    return counts.n_shared / (counts.n_hit + counts.n_truth - counts.n_shared)
