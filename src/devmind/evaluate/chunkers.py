"""A dataset × repositories × ways of chunking (and embedders) → how good each is, what it costs, by language.

Every repository is indexed by every variant into a knowledge base of its own, in one process and from nothing, so that
costs belong to a language and compare. Only the index differs between variants: questions, ranking and scoring are one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, get_args

from devmind.embed.tokenizer import count_tokens_by_line
from devmind.embed.types import Embedder
from devmind.errors import UsageError
from devmind.evaluate.alignment import match_rule
from devmind.evaluate.checked import checked_dataset
from devmind.evaluate.compare import compare
from devmind.evaluate.datasets.faults import dataset_of
from devmind.evaluate.datasets.foreign import by_repo
from devmind.evaluate.plot import Chart, Point, Series, figure
from devmind.evaluate.runner import run_target
from devmind.evaluate.score import score_run
from devmind.evaluate.statistics import estimate
from devmind.evaluate.targets.devmind import DevMindTarget
from devmind.evaluate.types import Comparison, Dataset, Estimate, Response, Run, Scores, Span
from devmind.evaluate.usage import stored_bytes, usage
from devmind.index.catalog import Catalog
from devmind.ingest import IngestOptions, Writer
from devmind.settings import Settings, Strategy
from devmind.types import split_lines

STRATEGIES: Final[tuple[Strategy, ...]] = get_args(Strategy)
BASELINE: Final = "layered"
K: Final = 10
# Any overlap finds a truth, so larger chunks find more by being larger. At one budget of text they do not: as much as
# the three to five chunks hold from which an answer is made.
BUDGET_TOKENS: Final = 2_000
IN_BUDGET: Final = f"line Recall@{BUDGET_TOKENS}t"
SPAN_RECALL: Final = "span Recall@10"  # Recall@10 of truths that have lines; a whole file is found by any chunk of it
MEASURES: Final = ("nDCG@10", "Recall@10", SPAN_RECALL, IN_BUDGET, "line Recall@10", "line Precision@10", "tokens@10")
# What a comparison tests: few, so that Holm's correction does not drown a real difference.
COMPARED: Final = ("nDCG@10", "Recall@10", IN_BUDGET, "line Precision@10", "tokens@10")
_NOTHING = Estimate(None, None, None, 0)


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to index."""

    strategy: Strategy
    embedder: str

    def name(self, *, alone: bool) -> str:
        """Return the strategy, with the embedder where there are several."""
        return self.strategy if alone else f"{self.strategy} + {self.embedder}"


@dataclass(frozen=True, slots=True)
class Cost:
    """What one variant took for one repository. ``n_tokens`` are those of all chunks, headers included."""

    repo: str
    seconds: float
    cpu_s: float
    n_chunks: int
    n_tokens: int
    store_bytes: int
    source_bytes: int


@dataclass(frozen=True, slots=True)
class Part:
    """One repository by every variant: its topics, the costs and the runs."""

    repo: str
    dataset: Dataset
    costs: Mapping[Variant, Cost]
    runs: Mapping[Variant, Run]


@dataclass(frozen=True, slots=True)
class Measured:
    """One variant over the topics of all repositories that were measured.

    ``scores`` match by the rule that was asked for, but for `SPAN_RECALL` and `IN_BUDGET`; ``query_s`` are seconds a
    topic. ``against`` compares with the baseline; None for the baseline, or without one.
    """

    variant: Variant
    name: str
    dataset: Dataset
    costs: Mapping[str, Cost]
    scores: Scores
    query_s: Mapping[str, float]
    against: Comparison | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One variant in one language ("" for all): what a table shows."""

    language: str
    variant: str
    n_topics: int
    n_repos: int
    index_s: float
    index_cpu_s: float
    n_chunks: int
    tokens_per_chunk: float
    store_bytes: int
    source_bytes: int
    query_s: Estimate
    measures: Mapping[str, Estimate]


def measure_repositories(
    dataset: Dataset,
    sources: Mapping[str, Path],
    variants: Sequence[Variant],
    embedders: Mapping[str, Embedder],
    *,
    step: Callable[[str, str], None] = lambda _repo, _what: None,
) -> Iterator[Part]:
    """Yield what every variant made of one repository after the other; each is whole, whatever comes after it.

    Args:
        sources: the folder of every repository of the dataset; "" serves topics that name none.
        embedders: by the names that the variants use.
        step: called before each indexing with the repository and what is to be done.

    Raises:
        UsageError: the dataset is empty, a repository has no source, or nothing is to be measured.
    """
    checked_dataset(dataset)
    if not variants:
        raise UsageError("no variant to measure: name a strategy and an embedder", code="bad_option")
    topics = by_repo(dataset.topics)
    folders = {repo: _folder(repo, sources) for repo in topics}
    for repo, members in topics.items():
        asked = dataset_of(repo or dataset.name, members)
        # The first to index a repository loads grammars and fills the caches of words for all that come after it.
        step(repo, "warming up")
        _in_scratch(asked, folders[repo], variants[0], embedders[variants[0].embedder], ask=False)
        costs: dict[Variant, Cost] = {}
        runs: dict[Variant, Run] = {}
        for variant in dict.fromkeys(variants):
            step(repo, variant.strategy)
            costs[variant], runs[variant] = _in_scratch(asked, folders[repo], variant, embedders[variant.embedder])
        yield Part(repo, asked, costs, runs)


def summarise(
    dataset: Dataset, parts: Sequence[Part], *, match: str = "path", baseline: Strategy = BASELINE
) -> list[Measured]:
    """Return the scores and costs of each variant over the repositories in ``parts``, the baseline's strategy first.

    Args:
        match: the rule by which hits find truths.
        baseline: the strategy that the others with the same embedder are compared with.

    Raises:
        UsageError: nothing was measured, or the rule does not exist.
    """
    match_rule(match)
    if not parts:
        raise UsageError("no repository was measured: there is nothing to compare", code="no_topics")
    asked = dataset_of(dataset.name, [topic for part in parts for topic in part.dataset.topics])
    variants = sorted(parts[0].costs, key=lambda variant: variant.strategy != baseline)
    alone = len({variant.embedder for variant in variants}) == 1
    known: dict[str, Measured] = {}
    results = []
    for variant in variants:
        measured = _scored(asked, parts, variant, alone=alone, match=match, baseline=known.get(variant.embedder))
        if variant.strategy == baseline:
            known[variant.embedder] = measured
        results.append(measured)
    return results


def rows(measured: Sequence[Measured]) -> list[Row]:
    """Return a row for each variant over all, then by language, languages in alphabetical order."""
    languages = sorted({topic.language for topic in measured[0].dataset.topics if topic.language})
    return [_row(one, language) for language in ("", *languages) for one in measured]


def _folder(repo: str, sources: Mapping[str, Path]) -> Path:
    folder = sources.get(repo, sources.get(""))
    if folder is None:
        raise UsageError(f"no source for the repository {repo!r}: name it with --source {repo}=DIR", code="no_source")
    if not folder.is_dir():
        raise UsageError(f"the source {folder} of {repo or 'all topics'!r} is not a folder: check the path")
    return folder


def _in_scratch(
    dataset: Dataset, folder: Path, variant: Variant, embedder: Embedder, *, ask: bool = True
) -> tuple[Cost, Run]:
    """Index one repository in a temporary folder and ask its topics; without ``ask`` the run is empty."""
    repo = dataset.topics[0].repo
    with TemporaryDirectory(prefix="devmind-chunkers-") as scratch:
        home = Path(scratch) / "kb"
        wall, cpu = time.perf_counter(), usage().cpu_s
        with Writer(home, IngestOptions(strategy=variant.strategy, n_workers=1), embedder=embedder) as writer:
            report = writer.add(str(folder), name=repo or None)
        wall, cpu = time.perf_counter() - wall, usage().cpu_s - cpu
        cost = Cost(repo, wall, cpu, report.n_chunks, _tokens(home), stored_bytes(home), report.bytes_indexed)
        if not ask:
            return cost, Run(variant.strategy, dataset.name, {}, K)
        target = DevMindTarget(Settings(home=home, strategy=variant.strategy), embedder=embedder, narrow=True)
        try:
            target.respond(dataset.topics[0], k=K)  # opens files; the time of a question is that of a running system
            return cost, run_target(dataset, target, k=K, out=Path(scratch) / "run.jsonl")
        finally:
            target.close()


def _tokens(home: Path) -> int:
    catalog = Catalog(home / "catalog.sqlite")
    try:
        return int(catalog.rows("SELECT coalesce(sum(n_tokens), 0) FROM chunk")[0][0])
    finally:
        catalog.close()


def _scored(
    dataset: Dataset,
    parts: Sequence[Part],
    variant: Variant,
    *,
    alone: bool,
    match: str,
    baseline: Measured | None,
) -> Measured:
    name = variant.name(alone=alone)
    responses = {topic_id: r for part in parts for topic_id, r in part.runs[variant].responses.items()}
    run = Run(name, dataset.name, responses, K)
    scores = _all_scores(dataset, run, match)
    against = None if baseline is None else compare(baseline.scores, scores, measures=_common(baseline.scores, scores))
    return Measured(
        variant=variant,
        name=name,
        dataset=dataset,
        costs={part.repo: part.costs[variant] for part in parts},
        scores=scores,
        query_s={topic_id: response.seconds for topic_id, response in responses.items()},
        against=against,
    )


def _all_scores(dataset: Dataset, run: Run, match: str) -> Scores:
    """Return the scores of a run together with `SPAN_RECALL` and `IN_BUDGET`."""
    scores = score_run(dataset, run, match=match, group_by=("language",))
    spans = score_run(dataset, run, match="overlap", ks=[K], group_by=("language",))
    cut = Run(run.system, run.dataset, {i: within_budget(r) for i, r in run.responses.items()}, run.k)
    budgeted = score_run(dataset, cut, match="overlap", ks=[K], group_by=("language",))
    with_spans = _with_measure(scores, spans, f"Recall@{K}", SPAN_RECALL)
    return _with_measure(with_spans, budgeted, f"line Recall@{K}", IN_BUDGET)


def within_budget(response: Response, *, budget_tokens: int = BUDGET_TOKENS) -> Response:
    """Return the response with as many of its first lines, hit by hit, as the budget holds."""
    hits = []
    left = budget_tokens
    for hit in response.hits:
        lines = split_lines(hit.text)
        counts = count_tokens_by_line(lines)
        n_lines = sum(total <= left for total in accumulate(counts))
        if hit.span is None or hit.span.whole_file or not n_lines:
            break
        span = Span(hit.span.file, hit.span.start_line, min(hit.span.end_line, hit.span.start_line + n_lines - 1))
        hits.append(replace(hit, span=span, text="\n".join(lines[:n_lines])))
        left -= sum(counts[:n_lines])
        if n_lines < len(lines):
            break
    return replace(response, hits=tuple(hits))


def _with_measure(scores: Scores, other: Scores, measure: str, name: str) -> Scores:
    """Return ``scores`` with a measure of ``other``, which is over the same topics, under a name of its own."""
    groups = {
        grouping: {
            value: {**found, name: other.groups[grouping][value].get(measure, _NOTHING)}
            for value, found in by_value.items()
        }
        for grouping, by_value in scores.groups.items()
    }
    topics = [
        replace(one, measures={**one.measures, name: two.measures.get(measure)})
        for one, two in zip(scores.topics, other.topics, strict=True)
    ]
    overall = {**scores.overall, name: other.overall.get(measure, _NOTHING)}
    return replace(scores, overall=overall, groups=groups, topics=topics)


def _common(baseline: Scores, scores: Scores) -> list[str]:
    return [name for name in COMPARED if name in baseline.overall and name in scores.overall]


def _row(measured: Measured, language: str) -> Row:
    members = [topic for topic in measured.dataset.topics if not language or topic.language == language]
    costs = [measured.costs[repo] for repo in by_repo(members)]
    n_chunks = sum(cost.n_chunks for cost in costs)
    scored = measured.scores.groups["language"][language] if language else measured.scores.overall
    return Row(
        language=language,
        variant=measured.name,
        n_topics=len(members),
        n_repos=len(costs),
        index_s=sum(cost.seconds for cost in costs),
        index_cpu_s=sum(cost.cpu_s for cost in costs),
        n_chunks=n_chunks,
        tokens_per_chunk=sum(cost.n_tokens for cost in costs) / n_chunks if n_chunks else 0.0,
        store_bytes=sum(cost.store_bytes for cost in costs),
        source_bytes=sum(cost.source_bytes for cost in costs),
        query_s=estimate(
            [measured.query_s.get(topic.topic_id) for topic in members], [topic.repo for topic in members]
        ),
        measures={name: scored.get(name, _NOTHING) for name in MEASURES},
    )


def picture(table: Sequence[Row]) -> str:
    """Return charts of quality against each cost, over all languages: one point a variant."""
    overall = [row for row in table if not row.language]
    costs: tuple[tuple[str, str, Callable[[Row], float | None]], ...] = (
        ("tokens that ten hits hold", "tokens of ten hits", lambda row: row.measures["tokens@10"].mean),
        ("processor time to index", "CPU seconds a megabyte", _cpu_per_mb),
        ("size of the store", "stored bytes a source byte", lambda row: row.store_bytes / max(1, row.source_bytes)),
        (
            "time of a question",
            "milliseconds",
            lambda row: None if row.query_s.mean is None else row.query_s.mean * 1e3,
        ),
    )
    charts = [
        Chart(f"nDCG@10 against {title}", x_label, "nDCG@10", _points(overall, cost), y_zoom=True)
        for title, x_label, cost in costs
    ]
    return figure("Chunking: quality against cost", charts, note="Bars: 95 % intervals over repositories.")


def _points(table: Sequence[Row], cost: Callable[[Row], float | None]) -> list[Series]:
    found = []
    for row in table:
        x, quality = cost(row), row.measures["nDCG@10"]
        points = []
        if x is not None and quality.mean is not None:
            points.append(Point(x, quality.mean, quality.low, quality.high, row.variant))
        found.append(Series(row.variant, points, line=False))
    return found


def _cpu_per_mb(row: Row) -> float:
    return row.index_cpu_s / max(1, row.source_bytes) * 1e6
