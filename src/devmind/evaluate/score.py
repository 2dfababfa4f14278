"""A dataset and a run → every measure of every topic, their means with intervals, overall and by group.

A topic whose response is missing or failed scores 0 in every measure that its truths define, and is counted. A trap, or
a topic without truths, has no measures of retrieval; a trap has ``refusal``, the others ``false refusal``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from devmind.errors import UsageError
from devmind.evaluate.abstention import abstention, refuses_falsely, refuses_trap
from devmind.evaluate.alignment import count_lines, cover, file_cover, match_rule
from devmind.evaluate.anchor import has_lines
from devmind.evaluate.checked import LineCount, checked_dataset, checked_response, checked_topic
from devmind.evaluate.measures import (
    FALSE_REFUSAL,
    FILE,
    KS,
    REFUSAL,
    UNMAPPED,
    line_measures,
    rank_measures,
    span_measures,
    token_measures,
)
from devmind.evaluate.statistics import Floats, estimates
from devmind.evaluate.types import Dataset, Estimate, Outcome, Response, Run, Scores, Topic, TopicScore

NO_GROUP = "(none)"  # topics that lack the label of a grouping

# UTF-8 bytes a token of the built-in tokenizer: the median of eleven repositories in ten languages (2026-11-30), which
# range from 3.6 (Go) to 5.2 (Python with Chinese comments). Exact counting takes four times as long as all measures
# together; pass `devmind.embed.tokenizer.count_tokens` for it.
_BYTES_PER_TOKEN = 4.5

TOPIC_FIELDS = ("category", "language", "repo", "commit", "status")  # of a topic; any other grouping is a label


def estimate_tokens(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / _BYTES_PER_TOKEN)


def score_topic(
    topic: Topic,
    response: Response | None,
    *,
    match: str = "overlap",
    ks: Sequence[int] = KS,
    count_tokens: Callable[[str], int] = estimate_tokens,
    n_lines: LineCount | None = None,
) -> TopicScore:
    """Return the measures of one topic.

    Args:
        response: None if the run has none.
        match: a rule of `devmind.evaluate.alignment`.
        n_lines: the lines of each file at the topic's commit, to refuse spans outside them.

    Raises:
        UsageError: topic or response is unsound, a k is below 1, or the rule does not exist.
    """
    checked_topic(topic, n_lines=n_lines)
    _check_ks(ks)
    if response is not None:
        checked_response(topic, response, n_lines=n_lines)
    failed = response is not None and response.failure is not None
    usable = Response(topic.topic_id) if response is None or failed else response
    measures = _abstention_measures(topic, response)
    if topic.truths:
        measures |= _retrieval_measures(topic, usable, match=match, ks=ks)
        if response is not None and not failed:
            measures |= _cost_measures(usable, ks=ks, count_tokens=count_tokens)
    return TopicScore(topic.topic_id, measures, _outcome(topic, response), topic.repo)


def score_run(
    dataset: Dataset,
    run: Run,
    *,
    match: str = "overlap",
    group_by: Sequence[str] = ("category", "language", "repo"),
    ks: Sequence[int] | None = None,
    count_tokens: Callable[[str], int] = estimate_tokens,
    n_lines: Callable[[Topic], LineCount | None] | None = None,
) -> Scores:
    """Return all measures of ``run``: each mean is over topics (macro), its interval clustered by repository.

    Args:
        match: a rule of `devmind.evaluate.alignment`.
        group_by: fields (category, language, repo, commit, status) or labels of topics.
        ks: cut-offs; by default those of 1, 5, 10 that the run reaches.
        n_lines: returns the lines of each file at a topic's commit, to refuse spans outside them.

    Raises:
        UsageError: dataset or run is unsound, the run is of other topics, or it is shallower than a k.
    """
    checked_dataset(dataset)
    match_rule(match)
    _check_same_topics(dataset, run)
    depths = _depths(run, ks)
    topics = [
        score_topic(
            topic,
            run.responses.get(topic.topic_id),
            match=match,
            ks=depths,
            count_tokens=count_tokens,
            n_lines=n_lines(topic) if n_lines else None,
        )
        for topic in dataset.topics
    ]
    table = _Table(topics)
    return Scores(
        system=run.system,
        overall=table.estimates(range(len(topics))),
        groups={grouping: _by_value(dataset, table, grouping) for grouping in group_by},
        topics=topics,
        n_missing=sum(topic.outcome == "missing" for topic in topics),
        n_failed=sum(topic.outcome == "failed" for topic in topics),
        match=match,
        dataset_hash=dataset.content_hash,
        confidence_auroc=abstention(dataset, run).confidence_auroc,
    )


def overall_of(topics: Sequence[TopicScore]) -> dict[str, Estimate]:
    """Return the mean over topics of every measure, with its interval: what `score_run` calls ``overall``."""
    return _Table(topics).estimates(range(len(topics)))


class _Table:
    """Scores as an array, so that the means and intervals of all measures are made together."""

    def __init__(self, topics: Sequence[TopicScore]) -> None:
        self.measures = tuple(dict.fromkeys(measure for topic in topics for measure in topic.measures))
        self._repos = [topic.repo for topic in topics]
        rows = [[_number(topic.measures.get(measure)) for measure in self.measures] for topic in topics]
        self._values: Floats = np.array(rows, dtype=np.float64)

    def estimates(self, rows: Iterable[int]) -> dict[str, Estimate]:
        kept = list(rows)
        found = estimates(self._values[kept], [self._repos[row] for row in kept])
        return dict(zip(self.measures, found, strict=True))


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _by_value(dataset: Dataset, table: _Table, grouping: str) -> dict[str, Mapping[str, Estimate]]:
    rows: dict[str, list[int]] = {}
    for row, topic in enumerate(dataset.topics):
        value = getattr(topic, grouping) if grouping in TOPIC_FIELDS else topic.labels.get(grouping)
        rows.setdefault(value or NO_GROUP, []).append(row)
    return {value: table.estimates(rows[value]) for value in sorted(rows)}


def _retrieval_measures(topic: Topic, response: Response, *, match: str, ks: Sequence[int]) -> dict[str, float | None]:
    rule = match_rule(match)
    files = [hit.span for hit in response.hits]
    hits = [hit.span if has_lines(hit) else None for hit in response.hits]
    found = cover(hits, topic.truths, rule)
    lines = {k: count_lines(hits[:k], topic.truths) for k in ks}
    return {
        **rank_measures(found, ks),
        **span_measures(found, ks),
        **line_measures(lines),
        **rank_measures(file_cover(files, topic.truths), ks, prefix=FILE),
    }


def _cost_measures(
    response: Response, *, ks: Sequence[int], count_tokens: Callable[[str], int]
) -> dict[str, float | None]:
    """Return what a response that came costs; one that is missing costs nothing, which is no merit."""
    n_hits = len(response.hits)
    unmapped = sum(not has_lines(hit) for hit in response.hits) / n_hits if n_hits else None
    return {UNMAPPED: unmapped, **token_measures([hit.text for hit in response.hits], ks, count_tokens)}


def _abstention_measures(topic: Topic, response: Response | None) -> dict[str, float | None]:
    if topic.is_trap:
        return {REFUSAL: float(refuses_trap(response))}
    return {FALSE_REFUSAL: float(refuses_falsely(response))} if topic.truths else {}


def _outcome(topic: Topic, response: Response | None) -> Outcome:
    if response is None:
        return "missing"
    if response.failure is not None:
        return "failed"
    if topic.is_trap:
        return "trap"
    return "scored" if topic.truths else "no_truth"


def _depths(run: Run, ks: Sequence[int] | None) -> Sequence[int]:
    if run.k < 1:
        raise UsageError(f"run of {run.system!r}: k is {run.k}; it must be 1 or more")
    if ks is None:
        return [k for k in KS if k <= run.k]
    _check_ks(ks)
    if max(ks) > run.k:
        raise UsageError(f"run of {run.system!r} has {run.k} hits a topic: it cannot be scored at k = {max(ks)}")
    return ks


def _check_ks(ks: Sequence[int]) -> None:
    if not ks or min(ks) < 1:
        raise UsageError(f"ks {list(ks)} must hold at least one cut-off, each 1 or more")


def _check_same_topics(dataset: Dataset, run: Run) -> None:
    """A run may cover more topics than a split of its dataset, but must cover some of it."""
    if run.responses and not any(topic.topic_id in run.responses for topic in dataset.topics):
        example = next(iter(run.responses))
        raise UsageError(
            f"run of {run.system!r} over dataset {run.dataset!r} has no topic of {dataset.name!r} "
            f"(it has {example!r}): score it against its own dataset"
        )
