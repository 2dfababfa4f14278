"""``Report`` → JSON values: the file that other programs read, and what the page is drawn from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from devmind.evaluate.alignment import cover, match_rule, normal_path
from devmind.evaluate.anchor import has_lines
from devmind.evaluate.gate import Verdict
from devmind.evaluate.measured import Measured
from devmind.evaluate.measures import lower_is_better
from devmind.evaluate.report.data import Report, counted, failures, meaning, outcomes, shown_groups
from devmind.evaluate.report.provenance import run_provenance
from devmind.evaluate.types import Comparison, Difference, Estimate, Response, Retrieved, Span, Topic, TopicScore, Truth

FORMAT: Final = 1  # 1: first format
COSTS: Final = ("ms", "model_calls", "model_tokens")  # of a topic
SHOWN_FAULTS: Final = 20  # of hits that were left out or lie outside their files; the run holds all
Excerpt = Callable[[Topic, Retrieved], tuple[int, str] | None]  # first line and text of a hit, as it is shown


def report_record(report: Report, *, excerpt: Excerpt | None = None, all_measures: bool = True) -> dict[str, Any]:
    """Return the report as JSON values; what is not defined is null.

    Args:
        excerpt: the code of a hit; without it, hits are places only.
        all_measures: of every topic; else only those that are shown.
    """
    scores = [{score.topic_id: score for score in measured.scores.topics} for measured in report.runs]
    names = None if all_measures else report.measures
    return {
        "format": FORMAT,
        "provenance": dict(report.provenance),
        "measures": list(report.measures),
        "primary": report.primary,
        "about": {name: about(name) for name in report.measures},
        "n_excluded": len(report.asked.excluded),
        "runs": [run_record(measured, names=names) for measured in report.runs],
        "comparisons": [comparison_record(comparison) for comparison in report.comparisons],
        "topics": [
            {
                **_topic(topic),
                "runs": [
                    _responded(topic, measured, known[topic.topic_id], names, excerpt)
                    for measured, known in zip(report.runs, scores, strict=True)
                ],
            }
            for topic in report.asked.dataset.topics
        ],
    }


def about(measure: str) -> dict[str, Any]:
    return {"meaning": meaning(measure), "lower_is_better": lower_is_better(measure), "share": "tokens" not in measure}


def run_record(measured: Measured, *, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return one run without its topics: measures, groups, what failed, how fast it was, how it was made."""
    scores, placed = measured.scores, measured.placed
    responses = [r for t in scores.topics if (r := measured.raw.responses.get(t.topic_id)) is not None]
    return {
        "system": scores.system,
        "k": measured.run.k,
        "match": scores.match,
        "dataset_hash": scores.dataset_hash,
        "n_topics": len(scores.topics),
        "n_missing": scores.n_missing,
        "n_failed": scores.n_failed,
        "outcomes": outcomes(scores),
        "failures": failures(measured),
        "notes": counted(note for response in responses for note in response.notes),
        "n_dropped": sum(len(response.dropped) for response in responses),
        "dropped": [f"topic {r.topic_id!r}: {reason}" for r in responses for reason in r.dropped][:SHOWN_FAULTS],
        "abstention": {
            name: getattr(measured.abstention, name)
            for name in ("n_traps", "refusal_rate", "n_answerable", "false_refusal_rate", "confidence_auroc")
        },
        "lines": {
            "by_method": dict(placed.n_by_method),
            "unmapped_share": placed.unmapped_share,
            "n_outside": len(placed.outside),
            "outside": list(placed.outside[:SHOWN_FAULTS]),
            "with_code": placed.with_code,
        },
        "seconds": _seconds(responses),
        "cost": cost_record(responses),
        "overall": {name: estimate_record(e) for name, e in scores.overall.items() if names is None or name in names},
        "groups": {
            grouping: {
                value: {
                    name: estimate_record(found) for name, found in estimates.items() if names is None or name in names
                }
                for value, estimates in values.items()
            }
            for grouping, values in shown_groups(scores).items()
        },
        "provenance": run_provenance(measured),
    }


def comparison_record(comparison: Comparison, *, by_topic: bool = True) -> dict[str, Any]:
    return {
        "baseline": comparison.baseline,
        "candidate": comparison.candidate,
        "differences": {
            name: difference_record(found, by_topic=by_topic) for name, found in comparison.differences.items()
        },
    }


def difference_record(found: Difference, *, by_topic: bool = True) -> dict[str, Any]:
    row = {
        "baseline": found.baseline,
        "candidate": found.candidate,
        **estimate_record(found.estimate),
        "p": found.p,
        "p_holm": found.p_holm,
        "effect_size": found.effect_size,
        "n_wins": found.n_wins,
        "n_losses": found.n_losses,
        "n_ties": found.n_ties,
        "lower_is_better": lower_is_better(found.measure),
    }
    return row | ({"by_topic": dict(found.by_topic)} if by_topic else {})


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    return {
        "passed": verdict.passed,
        "n_topics": verdict.n_topics,
        "n_missing": verdict.n_missing,
        "n_failed": verdict.n_failed,
        "checks": [
            {
                "kind": check.kind,
                "measure": check.measure,
                "limit": check.limit,
                "passed": check.passed,
                "baseline": check.baseline,
                "candidate": check.candidate,
                **estimate_record(check.estimate),
                "message": check.message,
            }
            for check in verdict.checks
        ],
    }


def estimate_record(found: Estimate) -> dict[str, Any]:
    return {"mean": found.mean, "low": found.low, "high": found.high, "n": found.n}


def cost_record(responses: Sequence[Response]) -> dict[str, float | None]:
    """Return the mean cost of a topic that was responded to: milliseconds, calls of models and their tokens.

    Calls and tokens are those that the target told; 0 where it told none.
    """
    known = [response for response in responses if response.failure is None]
    if not known:
        return dict.fromkeys(COSTS)
    means = (
        1000 * sum(response.seconds for response in known),
        sum(response.spent.get("calls", 0) for response in known),
        sum(response.spent.get("tokens", 0) for response in known),
    )
    return {name: float(total) / len(known) for name, total in zip(COSTS, means, strict=True)}


def _seconds(responses: Sequence[Response]) -> dict[str, float] | None:
    took = [response.seconds for response in responses if response.failure is None and response.seconds > 0]
    if not took:
        return None
    p50, p95, p99 = np.percentile(np.array(took), [50, 95, 99])
    return {"p50": float(p50), "p95": float(p95), "p99": float(p99), "max": max(took)}


def _topic(topic: Topic) -> dict[str, Any]:
    return {
        "id": topic.topic_id,
        "query": topic.query,
        "category": topic.category,
        "repo": topic.repo,
        "commit": topic.commit,
        "language": topic.language,
        "labels": dict(topic.labels),
        "reference_answer": topic.reference_answer,
        "truths": [_truth(truth) for truth in topic.truths],
        "by_file_only": bool(topic.truths) and all(truth.span.whole_file for truth in topic.truths),
    }


def _truth(truth: Truth) -> dict[str, Any]:
    return {**_span(truth.span), "grade": truth.grade, "symbol": truth.symbol}


def _span(span: Span) -> dict[str, Any]:
    lines = (None, None) if span.whole_file else (span.start_line, span.end_line)
    return {"file": span.file, "start": lines[0], "end": lines[1]}


def _responded(
    topic: Topic, measured: Measured, score: TopicScore, names: Sequence[str] | None, excerpt: Excerpt | None
) -> dict[str, Any]:
    values = score.measures if names is None else {name: score.measures.get(name) for name in names}
    row: dict[str, Any] = {"outcome": score.outcome, "measures": dict(values), "hits": []}
    raw, response = measured.raw.responses.get(topic.topic_id), measured.run.responses.get(topic.topic_id)
    if raw is None or response is None:
        return row
    row |= {"seconds": raw.seconds, "abstained": raw.abstained, "confidence": raw.confidence, "answer": raw.answer}
    if raw.failure is not None:
        row["failure"] = {
            "kind": raw.failure.kind, "message": raw.failure.message, "n_tries": raw.failure.n_tries,
        }  # fmt: skip
        return row
    row |= {"notes": list(raw.notes), "dropped": list(raw.dropped)}
    found = _found(topic, response, measured.scores.match)
    row["found_at"] = next((rank for rank, truths in enumerate(found, start=1) if truths), None)
    row["hits"] = [
        _hit(topic, before, after, truths=truths, excerpt=excerpt)
        for before, after, truths in zip(raw.hits, response.hits, found, strict=True)
    ]
    return row


def _hit(
    topic: Topic, raw: Retrieved, hit: Retrieved, *, truths: Sequence[int], excerpt: Excerpt | None
) -> dict[str, Any]:
    """Return a hit at its place; one that was taken from it, being outside its file, at the place it claimed."""
    span = hit.span or raw.span
    row: dict[str, Any] = {**_span(span or Span(hit.file or raw.file)), "symbol": hit.symbol, "score": hit.score}
    row["truths"] = list(truths)
    if hit.span is None and raw.span is not None:
        row["outside"] = True
    elif not has_lines(hit):
        row["unmapped"] = True
    shown = excerpt(topic, _shown(raw, hit)) if excerpt else None
    if shown is not None:
        row |= {"first": shown[0], "text": shown[1]}
    return row


def _shown(raw: Retrieved, hit: Retrieved) -> Retrieved:
    return Retrieved(hit.span, text=raw.text, symbol=hit.symbol, file=hit.file or raw.file)


def _found(topic: Topic, response: Response, match: str) -> list[tuple[int, ...]]:
    """Return for each hit the numbers, in the topic, of all truths that it finds.

    A truth that is a whole file has no lines that a rule could match: here any hit in the file finds it, as in the
    measures of files.
    """
    rule = match_rule(match)
    of_file = {
        number: t.span.file for number, t in enumerate(topic.truths) if not rule.applies_to(t) and t.span.whole_file
    }
    found: list[tuple[int, ...]] = []
    for hit in response.hits:
        covered = cover([hit.span if has_lines(hit) else None], topic.truths, rule)
        numbers = [topic.truths.index(covered.truths[number]) for number in covered.new[0]]
        here = normal_path(hit.span.file) if hit.span else ""
        found.append((*numbers, *(number for number, file in of_file.items() if normal_path(file) == here)))
    return found
