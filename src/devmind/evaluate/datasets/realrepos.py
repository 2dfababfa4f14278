"""JSON Lines of questions over real repositories: id, query, category, ground_truth with symbol, core, role, grade.

``commit_or_version`` becomes the commit, ``lang`` the language; what reports group by becomes labels, the rest
provenance. A whole-file truth keeps no lines: its length belongs to the file, not to the label.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from devmind.evaluate.datasets.files import dump_lines, read_json_lines, write_text
from devmind.evaluate.datasets.foreign import clean_path, extras, row_of
from devmind.evaluate.datasets.place import Placed
from devmind.evaluate.datasets.row import Row
from devmind.evaluate.types import Dataset, Grade, Span, Topic, Truth

GRADES: Final[dict[str, Grade]] = {"primary": "strong", "secondary": "weak"}
GROUPED: Final = ("source", "query_lang", "qtype", "trap_kind")
KNOWN: Final = (
    "id", "query", "category", "ground_truth", "repo", "commit_or_version", "reference_answer", "lang", "leaks",
    *GROUPED,
)  # fmt: skip


def read(path: Path) -> tuple[str, list[Placed]]:
    found = []
    for line, values in read_json_lines(path):
        row = row_of(path, line, values, "id")
        found.append(Placed(_topic(row), row.place))
    return path.stem, found


def _topic(row: Row) -> Topic:
    labels = {name: row.text(name) for name in GROUPED if row.values.get(name)}
    leaks = row.row("leaks").values
    if leaks:
        labels["leak"] = "symbol" if leaks.get("symbol") else "file" if leaks.get("path") else "none"
    return Topic(
        topic_id=row.identity("id"),
        query=row.text("query"),
        category=row.text("category", ""),
        truths=tuple(map(_truth, row.rows("ground_truth", required=True))),
        repo=row.text("repo", ""),
        commit=row.text("commit_or_version", ""),
        language=row.text("lang", ""),
        reference_answer=row.text("reference_answer", ""),
        labels=labels,
        provenance=extras(row.values, KNOWN),
    )


def _truth(row: Row) -> Truth:
    whole = bool(row.values.get("whole_file"))
    lines = (0, 0) if whole else (row.number("start_line"), row.number("end_line"))
    return Truth(
        Span(clean_path(row.text("file")), *lines),
        GRADES[row.choice("grade", GRADES, "primary")],
        row.text("symbol", ""),
        None if whole else row.pair("core"),
        role=row.text("role", ""),
    )


def write(dataset: Dataset, path: Path) -> None:
    write_text(path, dump_lines(map(_record, dataset.topics)))


def _record(topic: Topic) -> dict[str, Any]:
    labels = {name: value for name, value in topic.labels.items() if name not in KNOWN and name != "leak"}
    grouped = {name: topic.labels[name] for name in GROUPED if name in topic.labels}
    leak = topic.labels.get("leak")
    leaks = {"leaks": {"path": leak == "file", "symbol": leak == "symbol"}} if leak else {}
    answer = {"reference_answer": topic.reference_answer} if topic.reference_answer else {}
    return {
        "id": topic.topic_id,
        **grouped,
        "repo": topic.repo,
        "commit_or_version": topic.commit,
        "query": topic.query,
        "lang": topic.language,
        "category": topic.category,
        "ground_truth": list(map(_truth_record, topic.truths)),
        **leaks,
        **answer,
        **{name: value for name, value in {**labels, **topic.provenance}.items() if name not in KNOWN},
    }


def _truth_record(truth: Truth) -> dict[str, Any]:
    span = truth.span
    record: dict[str, Any] = {"file": span.file, "start_line": span.start_line, "end_line": span.end_line}
    record["symbol"] = truth.symbol
    record["grade"] = next(name for name, grade in GRADES.items() if grade == truth.grade)
    if truth.core:
        record["core"] = list(truth.core)
    if truth.role:
        record["role"] = truth.role
    if span.whole_file:
        record["whole_file"] = True
    return record
