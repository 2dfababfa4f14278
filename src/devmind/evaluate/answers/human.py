"""What people said of a system's answers → ``HumanLabel``: acceptable or not, and grades on the judge's scale.

Two places hold it: a file (CSV, JSON Lines or a JSON list, one object a person and topic), and the labels of a dataset,
``acceptable.NAME``. A label is of one answer: a file may hold the ``answer`` that was shown, and a label of another
answer than the run's is stale and not used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, get_args

from devmind.errors import UsageError
from devmind.evaluate.answers.raters import ScaleAgreement, rate_agreement
from devmind.evaluate.answers.rubric import CRITERIA, HIGHEST, LOWEST
from devmind.evaluate.datasets.files import read_csv, read_rows
from devmind.evaluate.datasets.place import Place
from devmind.evaluate.datasets.row import Row
from devmind.evaluate.types import Dataset, Run

Acceptable = Literal["no", "partly", "yes"]
ORDER: Final[tuple[Acceptable, ...]] = get_args(Acceptable)  # as κ and α see it
VALUE: Final[Mapping[Acceptable, float]] = {"no": 0.0, "partly": 0.5, "yes": 1.0}
LABEL: Final = "acceptable."  # of a topic, with the annotator's name behind it
KEYS: Final = ("topic_id", "annotator", "acceptable", *CRITERIA, "answer", "note")
_WORDS: Final[Mapping[str, Acceptable]] = {
    "no": "no", "partly": "partly", "partial": "partly", "yes": "yes", "否": "no", "部分": "partly", "是": "yes",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class HumanLabel:
    """What one person said of one answer. ``answer`` is what was shown, if it is known."""

    topic_id: str
    annotator: str
    acceptable: Acceptable | None = None
    grades: Mapping[str, int] = field(default_factory=dict)
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Acceptability:
    """How people took the first answers.

    ``by_topic``: the mean of the annotators, partly counts half. ``agreement``: over no < partly < yes; its pairs hold
    plain and quadratic κ.
    """

    by_topic: Mapping[str, float]
    n_by_word: Mapping[Acceptable, int]
    agreement: ScaleAgreement


def read_human(path: Path) -> list[HumanLabel]:
    """Return the labels in a file.

    Raises:
        UsageError: It cannot be read, or holds what is no label; names line, topic and field.
    """
    rows: Iterable[tuple[int, Mapping[str, Any]]]
    rows = _csv_rows(path) if path.suffix.lower() == ".csv" else read_rows(path)
    labels = [_label(Row(values, Place(str(path), line))) for line, values in rows]
    if not labels:
        raise UsageError(f"{path}: holds no labels", code="bad_labels")
    _check_unique(labels, path)
    return labels


def labels_of(dataset: Dataset) -> list[HumanLabel]:
    """Return what the topics' own labels say.

    Raises:
        UsageError: A label is none of the words.
    """
    found = []
    for topic in dataset.topics:
        for key, word in topic.labels.items():
            if key.startswith(LABEL) and key != LABEL:
                place = Place(dataset.name, topic=topic.topic_id)
                found.append(
                    HumanLabel(topic.topic_id, key.removeprefix(LABEL), _acceptable(word, place, f"labels.{key}"))
                )
    return found


def current(labels: Sequence[HumanLabel], dataset: Dataset, run: Run) -> tuple[list[HumanLabel], int]:
    """Return the labels of this run's answers, and how many are of another answer.

    Raises:
        UsageError: A label is of a topic that the dataset does not have.
    """
    topics = {topic.topic_id for topic in dataset.topics}
    kept = []
    for label in labels:
        if label.topic_id not in topics:
            raise UsageError(
                f"{label.annotator!r} labelled the topic {label.topic_id!r}, which {dataset.name!r} does not have: "
                "give the dataset that was labelled",
                code="unknown_topic",
            )
        response = run.responses.get(label.topic_id)
        answer = (response.answer or "") if response is not None else ""
        if not label.answer.strip() or label.answer.strip() == answer.strip():
            kept.append(label)
    return kept, len(labels) - len(kept)


def acceptability(labels: Sequence[HumanLabel]) -> Acceptability | None:
    """Return how people took the answers; None if nobody said so."""
    said = [(label.topic_id, label.annotator, label.acceptable) for label in labels if label.acceptable is not None]
    if not said:
        return None
    words: dict[str, dict[str, Acceptable]] = {}
    for topic_id, annotator, word in said:
        words.setdefault(topic_id, {})[annotator] = word
    names = sorted({annotator for _, annotator, _ in said})
    ratings = {
        name: [ORDER.index(by_name[name]) if name in by_name else None for by_name in words.values()] for name in names
    }
    everything = [word for _, _, word in said]
    return Acceptability(
        by_topic={topic: sum(map(VALUE.__getitem__, by.values())) / len(by) for topic, by in words.items()},
        n_by_word={word: everything.count(word) for word in ORDER},
        agreement=rate_agreement(ratings, range(len(ORDER))),
    )


def grades_by_person(labels: Sequence[HumanLabel]) -> dict[str, dict[str, Mapping[str, int]]]:
    """Return annotator → topic → criterion → grade, of those who gave grades."""
    found: dict[str, dict[str, Mapping[str, int]]] = {}
    for label in labels:
        if label.grades:
            found.setdefault(label.annotator, {})[label.topic_id] = label.grades
    return found


def _csv_rows(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """Return rows whose grades are numbers, and without their empty cells."""
    rows: list[tuple[int, dict[str, Any]]] = []
    for line, cells in read_csv(path)[1]:
        values: dict[str, Any] = {key: cell for key, cell in cells.items() if cell.strip()}
        for criterion in CRITERIA:
            if str(values.get(criterion, "")).strip().isdecimal():
                values[criterion] = int(values[criterion])
        rows.append((line, values))
    return rows


def _label(row: Row) -> HumanLabel:
    row.only(KEYS)
    topic_id = row.identity("topic_id")
    place = Place(row.place.file, row.place.line, topic_id)
    named = Row(row.values, place)
    annotator = named.text("annotator").strip()
    if not annotator:
        raise named.fail("annotator", "is empty; name who said it")
    word = named.text("acceptable", "")
    grades = {key: _grade(named, key) for key in CRITERIA if named.values.get(key) is not None}
    if not word and not grades:
        raise named.fail("acceptable", f"is missing, and so are {', '.join(CRITERIA)}: give at least one of them")
    acceptable = _acceptable(word, place, "acceptable") if word else None
    return HumanLabel(topic_id, annotator, acceptable, grades, named.text("answer", ""))


def _grade(row: Row, key: str) -> int:
    grade = row.number(key)
    if not LOWEST <= grade <= HIGHEST:
        raise row.fail(key, f"is {grade}; it must be from {LOWEST} to {HIGHEST}")
    return grade


def _acceptable(word: str, place: Place, field_name: str) -> Acceptable:
    known = _WORDS.get(word.strip().lower())
    if known is None:
        raise place.error(f"is {word[:60]!r}; it must be yes, partly or no (是, 部分, 否)", field=field_name)
    return known


def _check_unique(labels: Sequence[HumanLabel], path: Path) -> None:
    seen: set[tuple[str, str]] = set()
    for label in labels:
        key = (label.topic_id, label.annotator)
        if key in seen:
            raise UsageError(
                f"{path}: {label.annotator!r} labelled the topic {label.topic_id!r} twice: keep one", code="bad_labels"
            )
        seen.add(key)
