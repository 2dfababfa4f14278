"""What `ask` refuses: how well its confidence tells what a repository answers from what it does not, and at which bar.

The confidence is learned (`training/confidence.py`), so it is judged by weights that saw no topic of the project, and
none of the hand-made traps. Questions without an answer to learn from: features that the index proves absent, and
questions about other projects.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import closing
from typing import Final

import numpy as np

from bench.corpora import OUT, open_service
from bench.figures import against, head, row, told
from bench.quality import too_few
from bench.runs import Row, kept, opened
from bench.topics import QUESTIONS, SEMBLE, TRANSLATED, TRAPS, Asked, by_repo, topics
from devmind.evaluate.generate.corpus import read_corpus
from devmind.evaluate.generate.traps import trap_topics
from devmind.evaluate.statistics import estimate
from devmind.index.catalog import Catalog
from devmind.service import Service
from training.confidence import FALSE_REFUSALS, Floats, Judged, evidence_for, left_out
from training.ranking import project_of

JUDGES: Final = (QUESTIONS, TRANSLATED)  # answerable questions as people ask them; their refusals set the bar
ABSENT, ELSEWHERE = "features proven absent", "questions about other projects"
SEED: Final = 7
# Topics a repository that are made to learn from; of the absent ones a third ask for a feature, the others for a name.
N_ABSENT, N_ELSEWHERE = 40, 10
MARK_REFUSED = 0.80

Query = tuple[str, str]  # suite and text


def run() -> None:
    asked = [topic for topic in topics() if topic.suite in (*JUDGES, SEMBLE, TRAPS)]
    if not too_few(asked):
        _by_leaving_out(_judged(asked))
        print()
    _at_the_bar([topic for topic in asked if topic.suite in (*JUDGES, TRAPS)])


def _by_leaving_out(found: Sequence[Judged]) -> None:
    scores = left_out(found)
    suite = np.array([one.suite for one in found])
    good = scores[np.isin(suite, JUDGES)]
    bar = float(np.quantile(good, FALSE_REFUSALS))
    head("not answerable", "topics", "AUROC (95 %)", f"refused at {FALSE_REFUSALS:.0%} false refusals (95 %)")
    for name in (TRAPS, ABSENT, ELSEWHERE):
        own = np.flatnonzero(suite == name).tolist()
        clusters = [found[at].project for at in own]
        below = estimate([_below(float(scores[at]), good) for at in own], clusters)
        refused = estimate([float(scores[at] < bar) for at in own], clusters)
        row(name, str(len(own)), told(below), against(refused, MARK_REFUSED if name == TRAPS else 0.0))
    print(f"\nAnswerable: {len(good)} topics of {' and '.join(JUDGES)}; every project judged by weights without it.")


def _below(score: float, good: Floats) -> float:
    """Return the share of ``good`` above a score, ties half: their mean is the AUROC."""
    return float((good > score).mean() + 0.5 * (good == score).mean())


def _at_the_bar(asked: Sequence[Asked]) -> None:
    """Print what the shipped bar refuses, and whether citations resolve."""
    refused: dict[bool, list[tuple[float, str]]] = {True: [], False: []}
    n_citations = n_resolved = 0
    for repo, own in by_repo(asked).items():
        for one in kept(repo, "answers", [topic.query for topic in own], lambda: _answers(repo, own)):  # noqa: B023
            refused[one["trap"]].append((float(one["refused"]), project_of(repo)))
            n_citations, n_resolved = n_citations + one["citations"], n_resolved + one["resolved"]
    head("at the shipped bar", "topics", "refused (95 %)")
    for trap, name in ((True, TRAPS), (False, "answerable")):
        if not refused[trap]:
            continue
        row(name, str(len(refused[trap])), told(estimate(*map(list, zip(*refused[trap], strict=True)))))
    print(f"\nCitations that resolve: {n_resolved} of {n_citations}.")


def _answers(repo: str, own: Sequence[Asked]) -> list[Row]:
    with open_service(repo) as service:
        return [_answer(service, topic) for topic in own]


def _answer(service: Service, topic: Asked) -> Row:
    answer = service.ask(topic.query)
    resolved = 0
    for citation in answer.citations:
        lines = service.sources.lines(citation.repo, citation.path, answer.evidence[0].generation)
        inside = lines is not None and 1 <= citation.start_line <= citation.end_line <= len(lines)
        resolved += citation.verified and inside
    return {
        "trap": topic.suite == TRAPS,
        "refused": answer.abstained,
        "citations": len(answer.citations),
        "resolved": resolved,
    }


def _judged(asked: Sequence[Asked]) -> list[Judged]:
    found = []
    for repo, own in by_repo(asked).items():
        queries = [(topic.suite, topic.query) for topic in own]
        if any(suite != TRAPS for suite, _ in queries):
            queries += [*_absent(repo), *_elsewhere(repo, asked)]
        texts = [query for _, query in queries]
        features = kept(repo, "evidence", texts, lambda: _evidence(repo, texts))  # noqa: B023
        for (suite, _), one in zip(queries, features, strict=True):
            answerable = suite in (*JUDGES, SEMBLE)
            found.append(Judged(suite, project_of(repo), answerable, suite == TRAPS, one))
    return found


def _evidence(repo: str, queries: Sequence[str]) -> list[Row]:
    with opened(repo) as retriever:
        return [evidence_for(retriever, query) for query in queries]


def _absent(repo: str) -> list[Query]:
    rows = kept(repo, "absent", [str(N_ABSENT), str(SEED)], lambda: _make_absent(repo), by_code=False)
    return [(ABSENT, row["query"]) for row in rows]


def _make_absent(repo: str) -> list[Row]:
    home = OUT / "kb" / repo
    with closing(Catalog(home / "catalog.sqlite")) as catalog:
        corpus = read_corpus(catalog, repo, home=home)
        made = trap_topics(corpus, n=N_ABSENT, seed=SEED, langs=("en", "zh"))
    return [{"query": topic.query} for topic in made if topic.labels["trap"] == "feature"]


def _elsewhere(repo: str, asked: Sequence[Asked]) -> list[Query]:
    """Return questions about other projects."""
    others = [topic.query for topic in asked if topic.suite != TRAPS and topic.project != project_of(repo)]
    return [(ELSEWHERE, query) for query in random.Random(f"{SEED} {repo}").sample(others, N_ELSEWHERE)]
