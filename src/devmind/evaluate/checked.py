"""Topics, responses and datasets → the same, once they are known to be sound; else an error that names topic and field.

Scoring trusts its input; this is where trust comes from. It reads no files: who knows how long they are says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from devmind.errors import UsageError
from devmind.evaluate.alignment import normal_path
from devmind.evaluate.types import GAIN, TRAP, Dataset, Response, Retrieved, Span, Topic, Truth

LineCount = Mapping[str, int]  # the number of lines of every file at a topic's commit, by path


def checked_dataset(dataset: Dataset) -> Dataset:
    """Return ``dataset`` if it has topics, each sound and with an id of its own.

    Raises:
        UsageError: it does not; the message names the topic and the field.
    """
    if not dataset.topics:
        raise UsageError(f"dataset {dataset.name!r} has no topics: there is nothing to score")
    seen: set[str] = set()
    for topic in dataset.topics:
        checked_topic(topic)
        if topic.topic_id in seen:
            raise _fault(topic.topic_id, "topic_id", "stands twice in the dataset; give each topic an id of its own")
        seen.add(topic.topic_id)
    return dataset


def checked_topic(topic: Topic, *, n_lines: LineCount | None = None) -> Topic:
    """Return ``topic`` if its truths are possible spans.

    Args:
        n_lines: the lines of each file at the topic's commit; with it, the files of truths must hold their spans.

    Raises:
        UsageError: they are not; the message names the topic and the field.
    """
    if not topic.topic_id:
        raise UsageError(f"topic_id of the topic that asks {topic.query[:60]!r} is empty; give each topic an id")
    if topic.category == TRAP and topic.truths:
        raise _fault(topic.topic_id, "truths", "must be empty for a trap; give the topic another category")
    for i, truth in enumerate(topic.truths):
        _check_truth(topic.topic_id, f"truths[{i}]", truth, n_lines)
    for annotation in topic.annotations:
        for i, truth in enumerate(annotation.truths):
            where = f"annotations[{annotation.annotator}].truths[{i}]"
            # nothing is scored by what an annotator said: that its code is still there, `dataset check` looks after
            _check_truth(topic.topic_id, where, truth, None)
    return topic


def checked_response(topic: Topic, response: Response, *, n_lines: LineCount | None = None) -> Response:
    """Return ``response`` if it responds to ``topic`` with possible spans and numbers.

    Args:
        n_lines: the lines of each file at the topic's commit; with it, files must exist and spans lie inside them.

    Raises:
        UsageError: it does not; the message names the topic and the field.
    """
    if response.topic_id != topic.topic_id:
        raise _fault(topic.topic_id, "topic_id", f"of its response is {response.topic_id!r}; they must be the same")
    for i, hit in enumerate(response.hits):
        _check_hit(topic.topic_id, f"hits[{i}]", hit, n_lines)
    for i, span in enumerate(response.cited):
        _check_span(topic.topic_id, f"cited[{i}]", span, n_lines)
    _check_number(topic.topic_id, "confidence", response.confidence)
    _check_number(topic.topic_id, "seconds", response.seconds)
    return response


def _check_truth(topic_id: str, where: str, truth: Truth, n_lines: LineCount | None) -> None:
    _check_span(topic_id, f"{where}.span", truth.span, n_lines)
    if truth.grade not in GAIN:
        raise _fault(topic_id, f"{where}.grade", f"is {truth.grade!r}; use {' or '.join(GAIN)}")
    if truth.core is not None and not 1 <= truth.core[0] <= truth.core[1]:
        raise _fault(topic_id, f"{where}.core", f"is {truth.core}; give a first and a last line, from 1")


def _check_hit(topic_id: str, where: str, hit: Retrieved, n_lines: LineCount | None) -> None:
    if hit.span is not None:
        _check_span(topic_id, f"{where}.span", hit.span, n_lines)
    _check_number(topic_id, f"{where}.score", hit.score)


def _check_span(topic_id: str, where: str, span: Span, n_lines: LineCount | None) -> None:
    if not span.file:
        raise _fault(topic_id, f"{where}.file", "is empty; give the path inside the repository")
    if not span.whole_file and not 1 <= span.start_line <= span.end_line:
        said = f"lines {span.start_line}-{span.end_line} of {span.file}"
        raise _fault(topic_id, where, f"{said} are reversed or below 1; the first line is 1 and the last is included")
    if n_lines is None:
        return
    length = n_lines.get(normal_path(span.file))
    if length is None:
        raise _fault(topic_id, f"{where}.file", f"{span.file!r} does not exist at the topic's commit; correct the path")
    if span.end_line > length:
        lines = f"line {span.end_line} of {span.file} lies outside the file, which has {length} lines"
        raise _fault(topic_id, where, f"{lines}; check the commit that was indexed")


def _check_number(topic_id: str, where: str, value: float | None) -> None:
    if value is not None and not math.isfinite(value):
        raise _fault(topic_id, where, f"is {value}; give a finite number, or leave it out")


def _fault(topic_id: str, field: str, problem: str) -> UsageError:
    return UsageError(f"topic {topic_id!r}: {field} {problem}", code="bad_evaluation_data")
