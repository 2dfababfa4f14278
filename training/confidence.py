"""Topics that a repository can, and cannot, answer → the weights of ``retrieve/confidence.py``.

    python -m training.confidence --topics TOPICS.jsonl... --kbs DIR

``TOPICS`` are lines ``{"repo", "query", "suite", "answerable", "held_out"?}``; ``DIR`` holds one knowledge base a
repository. A topic that is held out is scored and never trained on. Printed: by leaving out one project at a time, the
area under the curve and what a bar at 5 % of the ``--judge`` suites refuses; then the weights fitted on everything.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from devmind.retrieve import Request, Retriever
from devmind.retrieve.confidence import HITS
from devmind.service import Service
from devmind.settings import Settings
from training.ranking import project_of

Floats = npt.NDArray[np.float64]
L2 = 1e-4
FALSE_REFUSALS = 0.05


@dataclass(frozen=True, slots=True)
class Judged:
    suite: str
    project: str
    answerable: bool
    held_out: bool
    features: dict[str, float]


def judged(topics: list[dict[str, object]], kbs: Path) -> list[Judged]:
    found = []
    by_repo: dict[str, list[dict[str, object]]] = {}
    for topic in topics:
        by_repo.setdefault(str(topic["repo"]), []).append(topic)
    for repo, own in sorted(by_repo.items()):
        with Service(Settings(home=kbs / repo)) as service:
            for topic in own:
                features = evidence_for(service.retriever, str(topic["query"]))
                answerable, held_out = bool(topic["answerable"]), bool(topic.get("held_out"))
                found.append(Judged(str(topic["suite"]), project_of(repo), answerable, held_out, features))
    return found


def evidence_for(retriever: Retriever, query: str) -> dict[str, float]:
    """Return what a search of ``query`` gives its confidence to weigh."""
    return dict(retriever.trace(Request(query, k=HITS, narrow=True), legs=False).evidence)


def fit(x: Floats, y: Floats, language: npt.NDArray[np.bool_]) -> Floats:
    """Return weights and intercept of a logistic regression (Newton's method).

    In either language questions that can be answered weigh as much as those that cannot.
    """
    mean, spread = x.mean(0), x.std(0) + 1e-9
    z = np.c_[(x - mean) / spread, np.ones(len(x))]
    weight = np.zeros(len(y))
    for chinese in (False, True):
        own = language == chinese
        for answerable in (0.0, 1.0):
            same = own & (y == answerable)
            weight[same] = 0.5 * own.sum() / max(same.sum(), 1)
    ridge = np.diag(np.r_[np.full(x.shape[1], L2 * len(x)), 1e-6])
    b = np.zeros(z.shape[1])
    for _ in range(40):
        p = 1 / (1 + np.exp(-z @ b))
        b -= np.linalg.solve((z * (weight * p * (1 - p))[:, None]).T @ z + ridge, z.T @ (weight * (p - y)) + ridge @ b)
    fitted: Floats = np.r_[b[:-1] / spread, b[-1] - (b[:-1] / spread) @ mean]
    return fitted


def left_out(found: Sequence[Judged]) -> Floats:
    """Return the log-odds of each topic by weights that saw no topic of its project, nor any that is held out."""
    x, y, chinese = _columns(found)
    use = np.array([not one.held_out for one in found])
    project = np.array([one.project for one in found])
    scores = np.zeros(len(found))
    for name in sorted(set(project)):
        inside = use & (project != name)
        b = fit(x[inside], y[inside], chinese[inside])
        scores[project == name] = x[project == name] @ b[:-1] + b[-1]
    return scores


def _columns(found: Sequence[Judged]) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    names = list(found[0].features)
    x = np.array([[one.features[name] for name in names] for one in found])
    return x, np.array([float(one.answerable) for one in found]), x[:, names.index("zh")] > 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", nargs="+", type=Path, required=True)
    parser.add_argument("--kbs", type=Path, required=True)
    parser.add_argument("--judge", nargs="+", required=True, help="answerable suites whose false refusals set the bar")
    asked = parser.parse_args()
    topics = [json.loads(line) for path in asked.topics for line in path.read_text("utf-8").splitlines()]
    found = judged(topics, asked.kbs)
    scores = left_out(found)
    names = list(found[0].features)
    x, y, chinese = _columns(found)
    use = np.array([not one.held_out for one in found])
    suite = np.array([one.suite for one in found])
    asked_well = np.isin(suite, asked.judge) & (y > 0)
    bar = float(np.quantile(scores[asked_well], FALSE_REFUSALS, method="lower"))
    for name in sorted(set(suite)):
        own = scores[suite == name]
        above = (scores[asked_well][:, None] > own[None]).mean() + 0.5 * (
            scores[asked_well][:, None] == own[None]
        ).mean()
        print(
            f"{name:20s} n {len(own):4d} refused {np.mean(own < bar):.3f} "
            f"AUROC of the judging suites against it {above:.3f}"
        )
    b = fit(x[use], y[use], chinese[use])
    bar = float(np.quantile((x @ b[:-1] + b[-1])[asked_well], FALSE_REFUSALS, method="lower"))
    print(json.dumps({name: round(float(weight), 2) for name, weight in zip(names, b[:-1], strict=True)}, indent=1))
    print(f"intercept {b[-1]:.2f}; bar {bar:.2f}, as a confidence {1 / (1 + np.exp(-bar)):.4f}")


if __name__ == "__main__":
    main()
