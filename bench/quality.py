"""What retrieval finds on both suites, beside the marks and beside peers; the suites' own scripts score each topic."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bench.corpora import OUT, SUITES
from bench.figures import FIGURES, SEMBLE_ALL, SEMBLE_UNNAMED, Values, against, estimated, head, number, row, values
from bench.runs import examples, held_out_ndcg
from bench.runs import run as run_of
from bench.topics import SEMBLE, TRAPS, Asked, by_repo, peer_hits, scorer, topics
from bench.variants import BASE
from devmind.evaluate.tune.examples import Matrix
from devmind.evaluate.tune.folds import N_FOLDS
from training.ranking import Labelled

MARK_CANDIDATES = 0.99
FIRST_FILES = 50


def run() -> None:
    asked = measured_topics()
    rows = run_of(asked, BASE)
    learned = _cross_validated(asked)
    print(f"{len(asked)} topics, {len(by_repo(asked))} knowledge bases\n")
    head("figure", "topics", "mark", "peers", "measured (95 %)")
    for figure in FIGURES:
        found = values(figure, asked, rows)
        row(figure.name, str(len(found)), number(figure.mark) if figure.mark else "–", figure.peers or "–",
            against(estimated(found), figure.mark))  # fmt: skip
    for name, mark, found in learned:
        row(name, str(len(found)), number(mark), "–", against(estimated(found), mark))
    reach = [(topic, _reached(rows[topic.topic_id]["candidates"])) for topic in asked if topic.suite == SEMBLE]
    row(f"semble suite, true files among the first {FIRST_FILES} candidates", str(len(reach)), number(MARK_CANDIDATES),
        "–", against(estimated(reach), MARK_CANDIDATES))  # fmt: skip
    print()
    _peers(asked)


def measured_topics() -> list[Asked]:
    """Return the topics that have an answer.

    Raises:
        SystemExit: no repository of the suites is indexed.
    """
    asked = [topic for topic in topics() if topic.suite != TRAPS]
    if not asked:
        sys.exit(f"no knowledge base in {OUT / 'kb'}: run 'python -m bench indexing' first, or set BENCH_OUT")
    return asked


def too_few(asked: Sequence[Asked]) -> bool:
    """Whether the topics are of too few projects to leave any out; says so."""
    projects = {topic.project for topic in asked if topic.files}
    if few := len(projects) < N_FOLDS:
        print(f"{len(projects)} projects: too few to cross-validate, which takes {N_FOLDS} or more.")
    return few


def learned_from(asked: Sequence[Asked]) -> tuple[list[Labelled], Matrix]:
    """Return the examples of training and what each counts: all suites alike."""
    found = examples(asked)
    n_of = {suite: sum(one.suite == suite for one in found) for suite in {one.suite for one in found}}
    return found, np.array([1.0 / n_of[one.suite] for one in found])


def _cross_validated(asked: Sequence[Asked]) -> list[tuple[str, float, Values]]:
    """Return name, mark and nDCG@10 of the files of the semble suite, by weights that did not see the project."""
    if too_few(asked):
        return []
    ordered = [topic for own in by_repo(asked).values() for topic in own if topic.files]
    found, shares = learned_from(asked)
    both = list(zip(ordered, held_out_ndcg(found, shares), strict=True))
    return [
        (
            f"{figure.name}, files alone, weights of other projects",
            figure.mark,
            [(t, v) for t, v in both if figure.of(t)],
        )
        for figure in (replace(SEMBLE_ALL, name="semble suite"), SEMBLE_UNNAMED)
    ]


def _reached(ranks: Sequence[int]) -> float:
    return sum(0 < rank <= FIRST_FILES for rank in ranks) / len(ranks)


def _peers(asked: Sequence[Asked]) -> None:
    """Print what runs of peers that lie with the suite reach, scored as ours is."""
    own = [topic for topic in asked if topic.suite == SEMBLE]
    head("stored run of a peer", "all", "that do not name their file")
    for path in sorted((SUITES / "semble" / "runs").glob("*.jsonl")):
        hits = peer_hits(path)
        scored = [
            (topic, float(scorer("semble").score_query(
                hits.get((topic.truth["repo"], topic.query), []), topic.truth["targets"], topic.truth["root"]
            )["ndcg10"]))
            for topic in own
        ]  # fmt: skip
        row(path.stem, *(against(estimated([one for one in scored if figure.of(one[0])]), 0.0)
                         for figure in (SEMBLE_ALL, SEMBLE_UNNAMED)))  # fmt: skip
