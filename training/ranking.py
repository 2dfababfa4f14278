"""Topics with known files → the weights of ``retrieve/rank.py``, by a linear listwise model (one command, minutes).

    python -m training.ranking --topics TOPICS.jsonl... --kbs DIR [--share SUITE=WEIGHT...]

``TOPICS`` are lines ``{"repo", "query", "files", "suite"}``; ``DIR`` holds one knowledge base a repository. Features
come from the product's own search and the model is that of ``devmind tune`` (`devmind.evaluate.tune`), here without
weights to start from. Folds are projects: two versions of one project never stand on both sides. Printed:
cross-validated nDCG@10 and Recall@10 by suite, the same without each feature, and the weights fitted on everything.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from devmind.evaluate.tune.examples import FEATURES, RULES, Example, example
from devmind.evaluate.tune.fit import Towards, fit
from devmind.evaluate.tune.folds import Unseen, cross_validated
from devmind.service import Service
from devmind.settings import Settings

L2 = 1e-3
NO_SPREAD = 1e-9  # every feature counts by its own spread, however small: there are topics enough


@dataclass(frozen=True, slots=True)
class Labelled:
    """An example and the suite that it belongs to."""

    suite: str
    example: Example


def project_of(repo: str) -> str:
    """Return the project that a repository is a version of."""
    return repo.split("-", 1)[1] if repo.startswith("semble-") else repo.split("-")[0]


def same_path(a: str, b: str) -> bool:
    return a == b or a.endswith("/" + b) or b.endswith("/" + a)


def collected(topics: Iterable[dict[str, object]], kbs: Path) -> list[Labelled]:
    by_repo: dict[str, list[dict[str, object]]] = {}
    for topic in topics:
        by_repo.setdefault(str(topic["repo"]), []).append(topic)
    found = []
    for repo, own in sorted(by_repo.items()):
        with Service(Settings(home=kbs / repo)) as service:
            found += [_labelled(service, repo, topic) for topic in own]
    return found


def _labelled(service: Service, repo: str, topic: dict[str, object]) -> Labelled:
    files: list[str] = list(topic["files"])  # type: ignore[call-overload]
    gains = dict.fromkeys(files, 1.0)
    return Labelled(
        str(topic["suite"]), example(service, str(topic["query"]), gains, group=project_of(repo), same=same_path)
    )


def learned(without: Iterable[str] = ()) -> list[str]:
    """Return the features that training weighs, without those named."""
    return [name for name in FEATURES if name not in RULES and name not in set(without)]


def towards(names: Sequence[str]) -> Towards:
    """Return the way to fit the features ``names`` from nothing."""
    return Towards(np.zeros(len(FEATURES)), L2, np.isin(FEATURES, names), NO_SPREAD)


def by_suite(found: Sequence[Labelled], measured: Unseen) -> dict[str, tuple[float, float]]:
    """Return the means of nDCG and Recall by suite."""
    suites = np.array([one.suite for one in found])
    return {
        suite: (float(measured.ndcg[suites == suite].mean()), float(measured.recall[suites == suite].mean()))
        for suite in sorted(set(suites.tolist()))
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", nargs="+", type=Path, required=True)
    parser.add_argument("--kbs", type=Path, required=True)
    parser.add_argument("--share", nargs="*", default=[], help="weight of a suite, 1 by default")
    parser.add_argument("--ablate", action="store_true")
    asked = parser.parse_args()
    share_of = {suite: float(share) for suite, _, share in (one.partition("=") for one in asked.share)}
    topics = [json.loads(line) for path in asked.topics for line in path.read_text("utf-8").splitlines()]
    found = collected(topics, asked.kbs)
    examples = [one.example for one in found]
    n_of = {suite: sum(one.suite == suite for one in found) for suite in {one.suite for one in found}}
    shares = np.array([share_of.get(one.suite, 1.0) / n_of[one.suite] for one in found])

    def tell(label: str, names: Sequence[str]) -> None:
        got = by_suite(found, cross_validated(examples, shares, towards(names)))
        print(f"{label:24s}", *(f"{suite} {a:.4f}/{b:.3f}" for suite, (a, b) in got.items()), flush=True)

    tell("all", learned())
    for out in learned() if asked.ablate else ():
        tell(f"without {out}", learned([out]))
    weights = dict(zip(FEATURES, fit(examples, shares, towards(learned())), strict=True))
    print(json.dumps({name: round(float(weights[name]), 3) for name in learned()}, indent=1))


if __name__ == "__main__":
    main()
