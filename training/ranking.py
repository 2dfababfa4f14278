"""Topics with known files → the weights of ``retrieve/rank.py``, by a linear listwise model (one command, minutes).

    python -m training.ranking --topics TOPICS.jsonl... --kbs DIR [--share SUITE=WEIGHT...]

``TOPICS`` are lines ``{"repo", "query", "files", "suite"}``; ``DIR`` holds one knowledge base a repository. Features
come from the product's own search (`Retriever.trace`), so training and use cannot drift apart. Folds are repositories:
two versions of one project never stand on both sides. Printed: cross-validated nDCG@10 and Recall@10 by suite, the
same without each feature, and the weights fitted on everything.

Source of the loss: ListNet (Cao et al. 2007), the relevant files of a query sharing the target evenly.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from devmind.retrieve.features import PATH, ROLES
from devmind.retrieve.trace import Trace
from devmind.service import Service
from devmind.settings import Settings

Matrix = npt.NDArray[np.float64]
FEATURES = (
    "bm25_best", "bm25_pooled", "bm25_share", "cosine_best", "cosine_pooled", "cosine_second", "defines", "depth",
    *(name for name in PATH if name != "path_named"), *ROLES,
)  # fmt: skip
N_FOLDS = 8
K = 10
L2 = 1e-3
STEPS = 250


@dataclass(frozen=True, slots=True)
class Example:
    """A topic's candidate files: features `(n_files, n_features)`, and which are relevant."""

    suite: str
    project: str
    features: Matrix
    relevant: npt.NDArray[np.bool_]
    n_relevant: int


def project_of(repo: str) -> str:
    """Return the project that a repository is a version of."""
    return repo.split("-", 1)[1] if repo.startswith("semble-") else repo.split("-")[0]


def same_path(a: str, b: str) -> bool:
    return a == b or a.endswith("/" + b) or b.endswith("/" + a)


def examples(topics: Iterable[dict[str, object]], kbs: Path) -> list[Example]:
    by_repo: dict[str, list[dict[str, object]]] = {}
    for topic in topics:
        by_repo.setdefault(str(topic["repo"]), []).append(topic)
    found = []
    for repo, own in sorted(by_repo.items()):
        with Service(Settings(home=kbs / repo)) as service:
            found += [example_of(service.trace(str(topic["query"]), k=K, legs=False), repo, topic) for topic in own]
    return found


def example_of(trace: Trace, repo: str, topic: Mapping[str, object]) -> Example:
    """Return what the trace of a topic's query teaches; ``topic`` is a line of ``TOPICS``."""
    ranking, view = trace.ranking, trace.view
    _, first = np.unique(view.file[ranking.rows], return_index=True)
    wanted: list[str] = list(topic["files"])  # type: ignore[call-overload]
    paths = [view.files[file].path for file in view.file[ranking.rows][first]]
    return Example(
        suite=str(topic["suite"]),
        project=project_of(repo),
        features=np.stack([ranking.features[name][first] for name in FEATURES], 1).astype(np.float64),
        relevant=np.array([any(same_path(path, one) for one in wanted) for path in paths]),
        n_relevant=len(wanted),
    )


def fit(chosen: Sequence[Example], shares: Matrix) -> Matrix:
    """Return the weights that minimise the cross-entropy of the softmax over each topic's files (Adam)."""
    usable = [(example, share) for example, share in zip(chosen, shares, strict=True) if example.relevant.any()]
    lengths = [len(example.features) for example, _ in usable]
    starts = np.r_[0, np.cumsum(lengths)[:-1]]
    topic_of = np.repeat(np.arange(len(usable)), lengths)
    features = np.concatenate([example.features for example, _ in usable])
    scale = features.std(0) + 1e-9
    features = features / scale
    target = np.concatenate([example.relevant / example.relevant.sum() for example, _ in usable])
    share = np.array([share for _, share in usable])
    share /= share.sum()
    weights, momentum, square = np.zeros((3, features.shape[1]))
    for step in range(1, STEPS + 1):
        scores = features @ weights
        odds = np.exp(scores - np.maximum.reduceat(scores, starts)[topic_of])
        p = odds / np.add.reduceat(odds, starts)[topic_of]
        gradient = features.T @ ((p - target) * share[topic_of]) + L2 * weights
        momentum = 0.9 * momentum + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient**2
        weights -= 0.1 * (momentum / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    fitted: Matrix = weights / scale
    return fitted


def measures(example: Example, scores: Matrix) -> tuple[float, float]:
    """Return nDCG@10 and Recall@10 of the files."""
    ranked = example.relevant[np.argsort(-scores, kind="stable")[:K]]
    ideal = sum(1 / np.log2(rank + 1) for rank in range(1, min(K, example.n_relevant) + 1))
    found = np.flatnonzero(ranked)
    return float((1 / np.log2(found + 2)).sum() / ideal), float(min(len(found) / example.n_relevant, 1.0))


def cross_validated(found: Sequence[Example], shares: Matrix, columns: Sequence[int]) -> dict[str, tuple[float, float]]:
    """Return the mean nDCG@10 and Recall@10 by suite, each project ranked by weights that did not see it."""
    by_suite: dict[str, list[tuple[float, float]]] = {}
    for example, measured in zip(found, held_out(found, shares, columns), strict=True):
        by_suite.setdefault(example.suite, []).append(measured)
    return {
        suite: (float(np.mean([m[0] for m in got])), float(np.mean([m[1] for m in got])))
        for suite, got in by_suite.items()
    }


def held_out(found: Sequence[Example], shares: Matrix, columns: Sequence[int]) -> list[tuple[float, float]]:
    """Return the `measures` of each example, ranked by weights fitted on other projects, in order."""
    projects = sorted({example.project for example in found})
    order = np.random.default_rng(0).permutation(len(projects))
    fold_of = {projects[at]: fold % N_FOLDS for fold, at in enumerate(order)}
    cut = [Example(e.suite, e.project, e.features[:, columns], e.relevant, e.n_relevant) for e in found]
    measured = [(0.0, 0.0)] * len(cut)
    for fold in range(N_FOLDS):
        inside = [i for i, example in enumerate(cut) if fold_of[example.project] != fold]
        weights = fit([cut[i] for i in inside], shares[inside])
        for i, example in enumerate(cut):
            if fold_of[example.project] == fold:
                measured[i] = measures(example, example.features @ weights)
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", nargs="+", type=Path, required=True)
    parser.add_argument("--kbs", type=Path, required=True)
    parser.add_argument("--share", nargs="*", default=[], help="weight of a suite, 1 by default")
    parser.add_argument("--ablate", action="store_true")
    asked = parser.parse_args()
    share_of = {suite: float(share) for suite, _, share in (one.partition("=") for one in asked.share)}
    topics = [json.loads(line) for path in asked.topics for line in path.read_text("utf-8").splitlines()]
    found = examples(topics, asked.kbs)
    n_of = {suite: sum(e.suite == suite for e in found) for suite in {e.suite for e in found}}
    shares = np.array([share_of.get(e.suite, 1.0) / n_of[e.suite] for e in found])
    everything = list(range(len(FEATURES)))

    def tell(label: str, columns: Sequence[int]) -> None:
        got = cross_validated(found, shares, columns)
        print(f"{label:24s}", *(f"{suite} {a:.4f}/{b:.3f}" for suite, (a, b) in sorted(got.items())), flush=True)

    tell("all", everything)
    for out in everything if asked.ablate else ():
        tell(f"without {FEATURES[out]}", [at for at in everything if at != out])
    weights = fit(found, shares)
    print(json.dumps({name: round(float(weight), 3) for name, weight in zip(FEATURES, weights, strict=True)}, indent=1))


if __name__ == "__main__":
    main()
