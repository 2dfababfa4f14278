"""A question and the code that should answer it, or a whole dataset → at which stage of a search each was lost.

Asks the knowledge base in this process; `devmind.evaluate.diagnose` judges.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from devmind.errors import UsageError
from devmind.evaluate.alignment import normal_path
from devmind.evaluate.diagnose import Diagnosis, Expected, Facts, diagnose, expected_rows, found_at
from devmind.evaluate.facts import Store
from devmind.evaluate.types import Dataset, OnStep, Topic, Truth
from devmind.retrieve.trace import Trace
from devmind.types import Filters, Hit, split_lines

_LINES: Final = re.compile(r"(\d+)(?:-(\d+))?")
N_NAMES: Final = 5  # names of a file that an error lists
ALL_DEFINITIONS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Why:
    """The diagnosis of one question. ``hits`` are what was found instead."""

    query: str
    k: int
    expected: Expected
    diagnosis: Diagnosis
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class TruthDiagnosis:
    truth: Truth
    diagnosis: Diagnosis


@dataclass(frozen=True, slots=True)
class TopicDiagnosis:
    """A topic's truths. It failed when none was found; ``cause`` is then that of the truth which came furthest."""

    topic_id: str
    repo: str
    category: str
    truths: tuple[TruthDiagnosis, ...]

    @property
    def n_found(self) -> int:
        return sum(item.diagnosis.kind == "found" for item in self.truths)

    @property
    def cause(self) -> str:
        return "" if self.n_found else self.furthest.diagnosis.cause or ""

    @property
    def furthest(self) -> TruthDiagnosis:
        """Return the truth that was found, or came nearest to it: a strong one first."""
        return min(self.truths, key=lambda item: (_distance(item.diagnosis), item.truth.grade != "strong"))


@dataclass(frozen=True, slots=True)
class CauseCount:
    """How often a cause explains a failed topic, and a missed truth (of failed topics and of others)."""

    kind: str
    cause: str
    code: str
    n_topics: int
    n_truths: int
    lever: str


@dataclass(frozen=True, slots=True)
class Losses:
    """The diagnosis of a dataset. Traps and topics without truths are counted, not judged.

    ``n_beside``: missed truths that are one step along a relation from a hit.
    """

    dataset: str
    dataset_hash: str
    k: int
    n_topics: int
    n_failed: int
    n_partial: int
    n_unjudged: int
    n_truths: int
    n_missed: int
    n_beside: int
    causes: tuple[CauseCount, ...]
    topics: tuple[TopicDiagnosis, ...]


def why(store: Store, query: str, *, expect: str, repo: str | None = None, k: int = 10) -> Why:
    """Return at which stage of a search for ``query`` the expected code was lost.

    Args:
        expect: ``PATH``, ``PATH:SYMBOL`` or ``PATH:FIRST-LAST``.
        repo: search this repository only, and expect the code there.

    Raises:
        UsageError: no repository knows the path, several do, or the file does not hold the symbol or lines.
    """
    with store.service.catalog.reading():
        expected, gone = _expected(store, expect, repo)
        filters = Filters(repos=(repo,) if repo else ())
        trace = store.service.trace(query, k=k, filters=filters)
        facts = store.facts(trace, expected, rows=expected_rows(trace, expected), gone=gone)
    return Why(query, k, expected, diagnose(trace, expected, facts=facts), trace.hits)


def diagnose_dataset(
    store: Store,
    dataset: Dataset,
    *,
    k: int = 10,
    repos: Sequence[str] = (),
    progress: OnStep = lambda done, total: None,
) -> Losses:
    """Return what became of every truth of a dataset.

    Args:
        repos: only topics of these repositories.
        progress: is told how many topics are done, of how many.

    Raises:
        UsageError: no topic has truths, or none is about a repository of this knowledge base.
    """
    topics = [topic for topic in dataset.topics if not repos or topic.repo in repos]
    judged = [topic for topic in topics if topic.truths]
    found = []
    with store.service.catalog.reading():
        _check(store, dataset, judged, repos)
        for number, topic in enumerate(judged, start=1):
            found.append(diagnose_topic(store, topic, k=k))
            progress(number, len(judged))
    return Losses(
        dataset=dataset.name,
        dataset_hash=dataset.content_hash,
        k=k,
        n_topics=len(found),
        n_failed=sum(not topic.n_found for topic in found),
        n_partial=sum(0 < topic.n_found < len(topic.truths) for topic in found),
        n_unjudged=len(topics) - len(judged),
        n_truths=sum(len(topic.truths) for topic in found),
        n_missed=sum(len(topic.truths) - topic.n_found for topic in found),
        n_beside=sum(item.diagnosis.neighbour is not None for topic in found for item in topic.truths),
        causes=_counted(found),
        topics=tuple(found),
    )


def diagnose_topic(store: Store, topic: Topic, *, k: int = 10) -> TopicDiagnosis:
    """Return what became of each truth of a topic, searched in the topic's repository if it names one."""
    known = topic.repo in store.repositories()
    filters = Filters(repos=(topic.repo,) if known else ())
    trace = store.service.trace(topic.query, k=k, filters=filters, legs=False)
    pairs = [(truth, _of_truth(store, topic, truth)) for truth in topic.truths]
    if any(found_at(trace.hits, expected) is None for _, expected in pairs):
        trace = store.service.trace(topic.query, k=k, filters=filters)
    truths = tuple(
        TruthDiagnosis(truth, _diagnosed(store, topic, truth=truth, expected=expected, trace=trace))
        for truth, expected in pairs
    )
    return TopicDiagnosis(topic.topic_id, topic.repo, topic.category, truths)


def _diagnosed(store: Store, topic: Topic, *, truth: Truth, expected: Expected, trace: Trace) -> Diagnosis:
    if found_at(trace.hits, expected) is not None:
        return diagnose(trace, expected, facts=Facts())
    lines = None if truth.span.whole_file else (truth.span.start_line, truth.span.end_line)
    labelled = truth.text or store.labelled_text(topic.repo, expected.path, commit=topic.commit, lines=lines)
    facts = store.facts(trace, expected, rows=expected_rows(trace, expected), labelled=labelled)
    return diagnose(trace, expected, facts=facts)


def _of_truth(store: Store, topic: Topic, truth: Truth) -> Expected:
    path = normal_path(truth.span.file)
    repo = topic.repo or next((name for name in sorted(store.repositories()) if path in store.files(name)), "")
    span = truth.span
    return Expected(repo, path, () if span.whole_file else ((span.start_line, span.end_line),), truth.symbol)


def _check(store: Store, dataset: Dataset, judged: Sequence[Topic], repos: Sequence[str]) -> None:
    known = store.repositories()
    asked = sorted({topic.repo for topic in judged})
    if not judged:
        of = f" about {', '.join(repos)}" if repos else ""
        raise UsageError(
            f"{dataset.name} has no topic{of} with a truth: there is nothing to diagnose", code="no_topics"
        )
    if not any(not repo or repo in known for repo in asked):
        raise UsageError(
            f"the topics are about {', '.join(asked[:N_NAMES])}, this knowledge base holds "
            f"{', '.join(sorted(known)) or 'nothing'}: index them with 'devmind add', under these names",
            code="unknown_repository",
        )


def _counted(topics: Sequence[TopicDiagnosis]) -> tuple[CauseCount, ...]:
    """Count failed topics and missed truths by kind, cause and code; the most frequent first."""
    missed = [item.diagnosis for topic in topics for item in topic.truths if item.diagnosis.cause]
    failed = [topic.furthest.diagnosis for topic in topics if not topic.n_found]
    n_truths, n_topics = Counter(map(_key, missed)), Counter(map(_key, failed))
    found = [
        CauseCount(kind, cause, code, n_topics[kind, cause, code, lever], count, lever)
        for (kind, cause, code, lever), count in n_truths.items()
    ]
    return tuple(
        sorted(found, key=lambda row: (-row.n_topics, -row.n_truths, row.kind, row.cause, row.code, row.lever))
    )


def _key(diagnosis: Diagnosis) -> tuple[str, str, str, str]:
    return diagnosis.kind, diagnosis.cause or "", diagnosis.code, diagnosis.lever


def _distance(diagnosis: Diagnosis) -> tuple[int, float]:
    """Return how far from the hits it ended: rank or place; the best rank of a leg; not in the index."""
    if diagnosis.rank is not None:
        return 0, diagnosis.rank
    if diagnosis.place is not None:
        return 1, diagnosis.place
    ranks = [leg.rank for leg in diagnosis.legs if leg.rank is not None]
    return (2, min(ranks)) if ranks else (3, 0.0)


# What is expected --------------------------------------------------------------------------------------------------


def _expected(store: Store, expect: str, repo: str | None) -> tuple[Expected, str]:
    """Return the code that ``PATH[:SYMBOL]`` means, and in which way the index lacks it if only the source has it."""
    repos = [repo] if repo else sorted(store.repositories())
    if repo:
        store.service.require(repo)
    whole = [name for name in repos if _is_known(store, name, normal_path(expect))]
    path, colon, part = (expect, "", "") if whole else expect.partition(":")
    path = normal_path(path)
    holders = whole or [name for name in repos if _is_known(store, name, path)]
    if not path or not holders:
        near = ", ".join(store.nearest_paths(repos, path)) if path else ""
        raise UsageError(
            f"no file {path!r} in {', '.join(repos) or 'this knowledge base'}"
            + (f"; nearest: {near}" if near else "; 'devmind files REPO' lists the files"),
            code="unknown_path",
        )
    if len(holders) > 1:
        raise UsageError(f"{path} is in {', '.join(holders)}: say which with --repo", code="ambiguous_path")
    if not colon or not store.is_indexed(holders[0], path):
        return Expected(holders[0], path, (), part), ""
    if not part:
        raise UsageError(f"--expect {expect!r} ends in a colon: name a symbol or lines behind it, or leave it off")
    lines = _LINES.fullmatch(part)
    if lines:
        return Expected(holders[0], path, (_span(store, holders[0], path, part),)), ""
    return _symbol(store, holders[0], path, part)


def _is_known(store: Store, repo: str, path: str) -> bool:
    return store.is_known(repo, path) or store.text_now(repo, path)[1] is not None


def _span(store: Store, repo: str, path: str, part: str) -> tuple[int, int]:
    first, _, last = part.partition("-")
    start, end, n_lines = int(first), int(last or first), len(store.indexed_lines(repo, path))
    if not 1 <= start <= end <= n_lines:
        raise UsageError(f"lines {part} of {path}: give a first and a last line between 1 and {n_lines}")
    return start, end


def _symbol(store: Store, repo: str, path: str, symbol: str) -> tuple[Expected, str]:
    rows = store.service.symbols(symbol, repo=repo, limit=ALL_DEFINITIONS)
    spans = tuple((row["start_line"], row["end_line"]) for row in rows if row["path"] == path)
    if spans:
        return Expected(repo, path, spans, symbol), ""
    name = re.split(r"[.:#]+", symbol)[-1]
    now = store.text_now(repo, path)[1]
    if now is not None and re.search(rf"\b{re.escape(name)}\b", now):
        known = set(store.indexed_lines(repo, path))
        if any(name in line for line in split_lines(now) if line not in known):
            return Expected(repo, path, (), symbol), f"{symbol} is in the source of {path}, but not in what was indexed"
    names = store.names_in(repo, path, like=symbol)
    held = f"it defines {', '.join(names[:N_NAMES])}" + (" and others" if len(names) > N_NAMES else "")
    raise UsageError(
        f"{path} holds no definition of {symbol!r}: {held if names else 'it defines nothing that is known'}",
        code="unknown_symbol",
    )
