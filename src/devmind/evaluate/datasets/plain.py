"""The plain form: ``[{query_id, query, ground_truth: [{file, start, end}]}]``, as JSON, JSON Lines or CSV.

Beside those keys it may carry category, repo, commit, language, reference_answer, and a truth's grade and symbol;
any other key of a topic becomes a label. Annotations, cores and recorded text are not part of this form. In CSV a row
is a truth, with the columns file, start, end; or a topic, with ``ground_truth`` as JSON in one cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final, cast

from devmind.evaluate.datasets.files import dump, dump_csv, dump_lines, read_csv, read_rows, write_text
from devmind.evaluate.datasets.foreign import clean_path, extras, row_of
from devmind.evaluate.datasets.own_csv import json_cell, number_cell, require
from devmind.evaluate.datasets.place import Place, Placed
from devmind.evaluate.datasets.record import GRADES
from devmind.evaluate.datasets.row import Row
from devmind.evaluate.types import Dataset, Grade, Span, Topic, Truth

TOPIC_TEXTS: Final = ("category", "repo", "commit", "language", "reference_answer")
TRUTH_CELLS: Final = ("file", "start", "end", "grade", "symbol")
KEYS: Final = ("query_id", "query", "ground_truth", *TOPIC_TEXTS)


def read(path: Path) -> tuple[str, list[Placed]]:
    if path.suffix.lower() == ".csv":
        return path.stem, list(_from_csv(path))
    return path.stem, [_placed(row_of(path, line, value, "query_id")) for line, value in read_rows(path)]


def _placed(row: Row) -> Placed:
    topic = Topic(
        topic_id=row.identity("query_id"),
        query=row.text("query"),
        truths=tuple(map(_truth, row.rows("ground_truth", required=True))),
        category=row.text("category", ""),
        repo=row.text("repo", ""),
        commit=row.text("commit", ""),
        language=row.text("language", ""),
        reference_answer=row.text("reference_answer", ""),
        labels=extras(row.values, KEYS),
    )
    return Placed(topic, row.place)


def _truth(row: Row) -> Truth:
    whole = row.values.get("start") is None and row.values.get("end") is None
    lines = (0, 0) if whole else (row.number("start"), row.number("end"))
    grade = cast(Grade, row.choice("grade", GRADES, "strong"))
    return Truth(Span(clean_path(row.text("file")), *lines), grade, row.text("symbol", ""))


def _from_csv(path: Path) -> Iterator[Placed]:
    header, rows = read_csv(path)
    require(header, ("query_id", "query"), path)
    if "ground_truth" not in header:
        require(header, ("file", "start", "end"), path)
    for query_id, group in groupby(rows, key=lambda row: row[1]["query_id"]):
        members = list(group)
        line, first = members[0]
        values: dict[str, Any] = {key: cell for key, cell in first.items() if cell and key not in TRUTH_CELLS}
        values |= {"query_id": query_id, "query": first["query"]}
        place = Place(str(path), line, query_id)
        if "ground_truth" in header:
            cell = first["ground_truth"]
            values["ground_truth"] = json_cell(cell, "ground_truth", place) if cell else []
        else:
            values["ground_truth"] = [
                truth for at, cells in members if (truth := _cells(cells, Place(str(path), at, query_id)))
            ]
        yield _placed(Row(values, place))


def _cells(cells: dict[str, str], place: Place) -> dict[str, Any]:
    given: dict[str, Any] = {name: cells[name] for name in TRUTH_CELLS if cells.get(name)}
    if given and "file" not in given:
        raise place.error("is empty, but the row has lines; fill it in", field="file")
    return given | {name: number_cell(given[name], name, place) for name in ("start", "end") if name in given}


def write(dataset: Dataset, path: Path) -> None:
    """Write in the container that the path's suffix names: ``.csv``, ``.jsonl``, else JSON."""
    suffix = path.suffix.lower()
    if suffix == ".csv":
        columns = ("query_id", "query", *TOPIC_TEXTS, *TRUTH_CELLS)
        write_text(path, dump_csv(columns, (row for topic in dataset.topics for row in _csv_rows(topic, columns))))
    elif suffix in (".jsonl", ".ndjson"):
        write_text(path, dump_lines(map(_record, dataset.topics)))
    else:
        write_text(path, dump(list(map(_record, dataset.topics)), indent=1) + "\n")


def _record(topic: Topic) -> dict[str, Any]:
    own = {"query_id": topic.topic_id, "query": topic.query, "ground_truth": list(map(_truth_record, topic.truths))}
    texts = {name: getattr(topic, name) for name in TOPIC_TEXTS if getattr(topic, name)}
    return own | texts | {name: value for name, value in topic.labels.items() if name not in KEYS}


def _truth_record(truth: Truth) -> dict[str, Any]:
    record: dict[str, Any] = {"file": truth.span.file}
    if not truth.span.whole_file:
        record |= {"start": truth.span.start_line, "end": truth.span.end_line}
    if truth.grade != "strong":
        record["grade"] = truth.grade
    return record | ({"symbol": truth.symbol} if truth.symbol else {})


def _csv_rows(topic: Topic, columns: tuple[str, ...]) -> Iterator[list[str]]:
    own = {name: str(value) for name, value in _record(topic).items() if name != "ground_truth"}
    for truth in map(_truth_record, topic.truths) if topic.truths else [{}]:
        cells = own | {name: str(value) for name, value in truth.items()}
        yield [cells.get(name, "") for name in columns]
