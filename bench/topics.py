"""Both suites → one list of topics with their true files, and the suites' own scorers of a topic."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import Stemmer

from bench.corpora import ONLY, OUT, SUITES, json_lines
from training.ranking import project_of

SEMBLE: Final = "semble"
QUESTIONS, BUGS, TRANSLATED = "swe-qa", "swe-bench-lite", "semble-zh"
COMMITS, CHAINS, TRAPS = "commit-history", "chain-static", "hand-trap"
CHINESE: Final = (TRANSLATED, COMMITS, CHAINS)
_WORD = re.compile(r"[A-Za-z0-9]+")

Hits = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A topic.

    Attributes:
        repo: name of its knowledge base.
        files: the true ones, none of a trap.
        named: whether the query names a true file (`names_file`); told of the semble suite only.
        truth: as the suite has it.
    """

    topic_id: str
    suite: str
    repo: str
    query: str
    files: tuple[str, ...]
    named: bool
    truth: Mapping[str, Any]

    @property
    def project(self) -> str:
        """Versions of one project succeed and fail together."""
        return project_of(self.repo)


def topics() -> list[Asked]:
    """Return the topics of both suites whose repository is wanted and has a knowledge base."""
    found = (topic for topic in (*_semble(), *_realrepos()) if fnmatch(topic.repo, ONLY))
    return [topic for topic in found if (OUT / "kb" / topic.repo / "catalog.sqlite").exists()]


def by_repo(asked: Iterable[Asked]) -> dict[str, list[Asked]]:
    found: dict[str, list[Asked]] = defaultdict(list)
    for topic in asked:
        found[topic.repo].append(topic)
    return dict(sorted(found.items()))


def scores(topic: Asked, hits: Hits) -> dict[str, float]:
    """Return what the topic's suite says of ``hits``, by the suite's names of the measures."""
    if topic.suite == SEMBLE:
        found = scorer("semble").score_query(hits, topic.truth["targets"], topic.truth["root"])
        return {name: float(value) for name, value in found.items() if name != "ranks"}
    return dict(scorer("realrepos").score_item(topic.truth, hits))


@cache
def scorer(suite: str) -> ModuleType:
    """Return the scoring script of a suite, loaded."""
    path = SUITES / suite / "score.py"
    spec = importlib.util.spec_from_file_location(f"score_{suite}", path)
    if spec is None or spec.loader is None or not path.exists():
        sys.exit(f"no scorer at {path}: set BENCH_SUITES to the folder of the suites")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names_file(query: str, files: Iterable[str]) -> bool:
    """Whether the name of one of ``files`` stands in the query: every run of letters and digits of it, stemmed.

    The suite says that 57 % of its queries name their file, and not how it counts; by this rule of the primary files,
    and by few others, it is 57 %.
    """
    asked = _words(query)
    return any(_words(Path(file).stem) <= asked for file in files)


def _words(text: str) -> set[str]:
    return set(_stemmer().stemWords([word.lower() for word in _WORD.findall(text)]))


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


def _semble() -> Iterable[Asked]:
    for item in scorer("semble").load_bench():
        primary = [target["path"] for target in item["targets"] if target["kind"] == "relevant"]
        yield Asked(
            topic_id=item["id"],
            suite=SEMBLE,
            repo=f"semble-{item['repo']}",
            query=item["query"],
            files=tuple(dict.fromkeys(target["path"] for target in item["targets"])),
            named=names_file(item["query"], primary),
            truth=item,
        )


def _realrepos() -> Iterable[Asked]:
    for item in json_lines(SUITES / "realrepos" / "dev.jsonl"):
        truths = item.get("ground_truth") or []
        yield Asked(
            topic_id=item["id"],
            suite=item["source"],
            repo=item["repo"],
            query=item["query"],
            files=tuple(dict.fromkeys(truth["file"] for truth in truths)),
            named=False,
            truth=item,
        )


def peer_hits(path: Path) -> dict[tuple[str, str], Hits]:
    """Return the hits of a stored run of the semble suite by (repository, query)."""
    lines = (json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip())
    return {(row["repo"], row["query"]): row["hits"] for row in lines}
