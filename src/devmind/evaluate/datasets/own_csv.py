"""DevMind's own CSV, for spreadsheets: one row a truth, its span in columns; maps and annotations as JSON. Lossless.

A topic's own cells stand in its first row; in the rows after it they are empty or the same. A topic without truths is
one row without ``file``. Only ``topic_id`` and ``query`` are required columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from devmind.evaluate.datasets.files import dump, dump_csv, parse_json, read_csv, write_text
from devmind.evaluate.datasets.place import Place, Placed
from devmind.evaluate.datasets.record import record_of, topic_of
from devmind.evaluate.datasets.row import Row, shown
from devmind.evaluate.types import Dataset, Topic

TOPIC_TEXTS: Final = ("topic_id", "query", "category", "repo", "commit", "language", "status")
LONG_TEXTS: Final = ("reference_answer", "resolution")
JSON_CELLS: Final = ("labels", "provenance", "annotations")
NUMBERS: Final = ("start_line", "end_line", "core_start", "core_end")
TRUTH_TEXTS: Final = ("grade", "symbol", "role", "text")
COLUMNS: Final = (
    *TOPIC_TEXTS, "file", "start_line", "end_line", "grade", "symbol", "role", "core_start", "core_end", "text",
    *LONG_TEXTS, *JSON_CELLS,
)  # fmt: skip
Cells = Mapping[str, str]


def read(path: Path) -> tuple[str, list[Placed]]:
    header, rows = read_csv(path)
    require(header, ("topic_id", "query"), path)
    for name in header:
        if name not in COLUMNS:
            raise Place(str(path), 1).error(f"is not a known column; known are {', '.join(COLUMNS)}", field=name)
    found = []
    for topic_id, group in groupby(rows, key=lambda row: row[1]["topic_id"]):
        members = list(group)
        place = Place(str(path), members[0][0], topic_id)
        record = _topic_record(members[0][1], place)
        for line, cells in members[1:]:
            _must_agree(members[0][1], cells, Place(str(path), line, topic_id))
        places = [(Place(str(path), line, topic_id), cells) for line, cells in members]
        record["truths"] = [truth for where, cells in places if (truth := _truth_record(cells, where))]
        found.append(Placed(topic_of(Row(record, place)), place))
    return path.stem, found


def require(header: list[str], names: tuple[str, ...], path: Path) -> None:
    """Refuse a table without one of the columns ``names``."""
    for name in names:
        if name not in header:
            has = ", ".join(filter(None, header)) or "none"
            raise Place(str(path), 1).error(f"this column is missing; the columns are {has}", field=name)


def _topic_record(cells: Cells, place: Place) -> dict[str, Any]:
    record: dict[str, Any] = {name: cells[name] for name in (*TOPIC_TEXTS, *LONG_TEXTS) if cells.get(name)}
    record |= {"topic_id": cells["topic_id"], "query": cells["query"]}
    for name in JSON_CELLS:
        if cells.get(name):
            record[name] = json_cell(cells[name], name, place)
    return record


def json_cell(cell: str, name: str, place: Place) -> Any:
    """Return the value of a cell that holds JSON."""
    value = parse_json(cell, place)
    if not isinstance(value, dict | list):
        raise place.error(f"must be JSON, an object or a list, not {shown(value)}", field=name)
    return value


def _must_agree(first: Cells, cells: Cells, place: Place) -> None:
    for name in (*TOPIC_TEXTS, *LONG_TEXTS, *JSON_CELLS):
        if cells.get(name) and cells[name] != first[name]:
            raise place.error(
                f"the topic's first row says {shown(first[name])}, this row {shown(cells[name])}; "
                "leave it empty here, or give this row another topic_id",
                field=name,
            )


def _truth_record(cells: Cells, place: Place) -> dict[str, Any] | None:
    names = ("file", *NUMBERS, *TRUTH_TEXTS)
    given = {name: cells[name] for name in names if cells.get(name)}
    if not given:
        return None
    if "file" not in given:
        raise place.error(f"is empty, but {next(iter(given))!r} is not; fill it in", field="file")
    record: dict[str, Any] = {name: number_cell(given[name], name, place) for name in NUMBERS if name in given}
    record |= {name: given[name] for name in ("file", *TRUTH_TEXTS) if name in given}
    core = record.pop("core_start", None), record.pop("core_end", None)
    if core != (None, None):
        if None in core:
            raise place.error("a core needs both its first and its last line", field="core_end")
        record["core"] = list(core)
    return record


def number_cell(cell: str, name: str, place: Place) -> int:
    """Return the whole number of a cell."""
    digits = cell.strip()
    if not digits.isascii() or not digits.removeprefix("-").isdigit() or len(digits) > 18:
        raise place.error(f"must be a whole number, not {shown(cell)}", field=name)
    return int(digits)


def write(dataset: Dataset, path: Path) -> None:
    write_text(path, dump_csv(COLUMNS, (row for topic in dataset.topics for row in _rows(topic))))


def _rows(topic: Topic) -> Iterator[list[str]]:
    record = record_of(topic)
    own = {name: str(record.get(name, "")) for name in (*TOPIC_TEXTS, *LONG_TEXTS)}
    own |= {name: dump(record[name]) for name in JSON_CELLS if name in record}
    for truth in record.get("truths", [{}]):
        core = truth.pop("core", None) or ("", "")
        cells = own | {name: str(value) for name, value in truth.items()}
        cells |= {"core_start": str(core[0]), "core_end": str(core[1])}
        yield [cells.get(name, "") for name in COLUMNS]
        own = {"topic_id": topic.topic_id}
