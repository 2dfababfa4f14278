"""Our span measures against a second implementation that holds every line as a member of a set, on random runs.

It shares no code with ours: no intervals, no cover, no rank loops over gains. It follows the definitions word by word.
"""

from __future__ import annotations

import math
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devmind.evaluate.score import score_topic
from devmind.evaluate.statistics import sign_flip
from devmind.evaluate.types import GAIN, Response, Retrieved, Span, Topic, Truth

KS = (1, 2, 3, 5)
Lines = frozenset[tuple[str, int]]


@st.composite
def spans(draw: st.DrawFn) -> Span:
    start = draw(st.integers(1, 30))
    return Span(draw(st.sampled_from("fgh")), start, start + draw(st.integers(0, 12)))


@st.composite
def truths(draw: st.DrawFn) -> Truth:
    span = draw(spans())
    core = draw(st.none() | st.tuples(st.integers(span.start_line, span.end_line), st.integers(0, 3)))
    return Truth(
        span,
        draw(st.sampled_from(("strong", "weak"))),
        symbol=draw(st.sampled_from(("", "name"))),
        core=None if core is None else (core[0], min(span.end_line, sum(core))),
    )


def lines(span: Span) -> Lines:
    return frozenset((span.file, n) for n in range(span.start_line, span.end_line + 1))


def core(truth: Truth) -> Lines:
    return lines(Span(truth.span.file, *truth.core)) if truth.core else lines(truth.span)


FINDS = {
    "overlap": lambda hit, truth: bool(lines(hit) & lines(truth.span)),
    "contain": lambda hit, truth: lines(hit) >= lines(truth.span),
    "nested": lambda hit, truth: lines(hit) >= lines(truth.span) or lines(hit) <= lines(truth.span),
    "core": lambda hit, truth: bool(lines(hit) & core(truth)),
    "function": lambda hit, truth: lines(hit) >= lines(truth.span),
    "iou50": lambda hit, truth: 2 * len(lines(hit) & lines(truth.span)) >= len(lines(hit) | lines(truth.span)),
    "iou33": lambda hit, truth: 100 * len(lines(hit) & lines(truth.span)) >= 33 * len(lines(hit) | lines(truth.span)),
}


def expected(hits: list[Span], found_by: list[Truth], match: str) -> dict[str, float | None]:
    best = {truth.span: max(GAIN[t.grade] for t in found_by if t.span == truth.span) for truth in found_by}
    first_of = {}
    for truth in found_by:  # a span that stands twice is one truth: the first of the highest grade
        if GAIN[truth.grade] == best[truth.span]:
            first_of.setdefault(truth.span, truth)
    wanted = [first_of[span] for span in best]
    n = len(wanted)
    first_rank = {
        truth.span: next((r for r, hit in enumerate(hits, 1) if FINDS[match](hit, truth)), math.inf) for truth in wanted
    }
    finders = [r for r, hit in enumerate(hits, 1) if any(FINDS[match](hit, truth) for truth in wanted)]
    novel = sorted({r for r in first_rank.values() if r < math.inf})
    said: dict[str, float | None] = {"RR": 1 / finders[0] if finders else 0.0}
    precision_at = {r: (i + 1) / r for i, r in enumerate(novel)}
    said["AP"] = sum(precision_at.get(first_rank[truth.span], 0.0) for truth in wanted) / n
    for k in KS:
        said[f"Recall@{k}"] = sum(r <= k for r in first_rank.values()) / n
        said[f"Precision@{k}"] = sum(r <= k for r in finders) / k
        said[f"novel Precision@{k}"] = sum(r <= k for r in novel) / k
        both = said[f"Recall@{k}"] + said[f"novel Precision@{k}"]
        said[f"F1@{k}"] = 2 * said[f"Recall@{k}"] * said[f"novel Precision@{k}"] / both if both else 0.0
        said[f"hit@{k}"] = float(any(r <= k for r in finders))
        said[f"all@{k}"] = float(all(r <= k for r in first_rank.values()))
        said[f"nDCG@{k}"] = graded(wanted, first_rank, k, lambda truth: GAIN[truth.grade])
        said[f"nDCG(exp)@{k}"] = graded(wanted, first_rank, k, lambda truth: 2 ** GAIN[truth.grade] - 1)
        said[f"nDCG(binary)@{k}"] = graded(wanted, first_rank, k, lambda truth: 1)
        links = list(pairwise(wanted))
        whole = sum(max(first_rank[a.span], first_rank[b.span]) <= k for a, b in links)
        said[f"chain@{k}"] = whole / len(links) if links else None
    return said


def graded(wanted, first_rank, k, gain) -> float:
    """Put the gains at their ranks, then divide by the same gains, and those not found, in the best order."""
    at: dict[float, list[int]] = {}
    for truth in wanted:
        at.setdefault(first_rank[truth.span], []).append(gain(truth))
    seen = {rank: max(gains) for rank, gains in at.items() if rank <= k}
    unseen = [g for rank, gains in at.items() if rank > k for g in gains]
    best = sorted([*seen.values(), *unseen], reverse=True)[:k]
    return sum(g / math.log2(r + 1) for r, g in seen.items()) / sum(g / math.log2(r + 2) for r, g in enumerate(best))


@pytest.mark.parametrize("match", FINDS)
@settings(deadline=None)
@given(hits=st.lists(spans(), max_size=8), labelled=st.lists(truths(), min_size=1, max_size=6))
def test_ranks(match: str, hits: list[Span], labelled: list[Truth]) -> None:
    topic = Topic("q", "what?", truths=tuple(labelled))
    said = score_topic(topic, Response("q", tuple(map(Retrieved, hits))), match=match, ks=KS).measures
    usable = [truth for truth in labelled if truth.symbol] if match == "function" else labelled
    if not usable:
        assert said["Recall@1"] is None and said["RR"] is None and said["nDCG@1"] is None
        return
    wanted = expected(hits, usable, match)
    assert {name: said[name] for name in wanted} == pytest.approx(wanted, abs=1e-9)


@settings(deadline=None)
@given(hits=st.lists(spans(), max_size=8), labelled=st.lists(truths(), min_size=1, max_size=6))
def test_lines(hits: list[Span], labelled: list[Truth]) -> None:
    said = score_topic(
        Topic("q", "what?", truths=tuple(labelled)), Response("q", tuple(map(Retrieved, hits))), ks=KS
    ).measures
    truth = frozenset().union(*(lines(t.span) for t in labelled))
    for k in KS:
        hit = frozenset().union(*map(lines, hits[:k]))
        assert said[f"line Recall@{k}"] == pytest.approx(len(hit & truth) / len(truth))
        assert said[f"line Precision@{k}"] == pytest.approx(len(hit & truth) / len(hit) if hit else 0)
        assert said[f"IoU@{k}"] == pytest.approx(len(hit & truth) / len(hit | truth))


@settings(deadline=None)
@given(hits=st.lists(spans(), max_size=8), labelled=st.lists(truths(), min_size=1, max_size=6))
def test_files(hits: list[Span], labelled: list[Truth]) -> None:
    said = score_topic(
        Topic("q", "what?", truths=tuple(labelled)), Response("q", tuple(map(Retrieved, hits))), ks=KS
    ).measures
    ranked = sorted({hit.file for hit in hits}, key=lambda file: next(i for i, h in enumerate(hits) if h.file == file))
    wanted = {truth.span.file for truth in labelled}
    for k in KS:
        found = wanted & set(ranked[:k])
        assert said[f"file Recall@{k}"] == pytest.approx(len(found) / len(wanted))
        assert said[f"file Precision@{k}"] == pytest.approx(len(found) / k)
        assert said[f"file all@{k}"] == float(found == wanted)
        assert said[f"file RR@{k}"] == max((1 / (ranked.index(file) + 1) for file in found), default=0)


@settings(deadline=None)
@given(st.lists(st.integers(-8, 8).map(lambda n: n / 8), min_size=1, max_size=9))
def test_sign_flip_is_the_share_of_all_sign_vectors(differences: list[float]) -> None:
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True))) for signs in
            product((-1, 1), repeat=len(differences))]  # fmt: skip
    assert sign_flip(differences) == sum(s >= abs(sum(differences)) for s in sums) / len(sums)
