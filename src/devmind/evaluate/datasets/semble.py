"""A folder with ``repos.json`` and ``annotations/<repository>.json``: queries with files, or spans, that answer them.

``relevant`` targets are strong, ``secondary`` ones weak. The queries have no ids there: theirs are repository and
position, unless the entry has an ``id`` (``write`` adds it).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from devmind.errors import UsageError
from devmind.evaluate.datasets.files import dump, read_json_list, write_text
from devmind.evaluate.datasets.foreign import by_repo, clean_path, extras
from devmind.evaluate.datasets.place import Place, Placed
from devmind.evaluate.datasets.row import Row, shown
from devmind.evaluate.types import Dataset, Grade, Span, Topic, Truth

TARGETS: Final[dict[str, Grade]] = {"relevant": "strong", "secondary": "weak"}
KNOWN: Final = ("id", "query", "category", *TARGETS)


def read(folder: Path) -> tuple[str, list[Placed]]:
    found: list[Placed] = []
    repos = folder / "repos.json"
    for line, values in read_json_list(repos)[1]:
        repo = Row(values, Place(str(repos), line))
        path = folder / "annotations" / f"{repo.text('name')}.json"
        if not path.is_file():
            raise UsageError(f"{repos}:{line}: {path} is missing; add it or remove the entry", code="bad_dataset")
        for number, (at, entry) in enumerate(read_json_list(path)[1]):
            name = entry.get("id") if isinstance(entry.get("id"), str) else f"{repo.text('name')}#{number}"
            row = Row(entry, Place(str(path), at, str(name)))
            found.append(Placed(_topic(row, repo), row.place))
    return folder.name, found


def _topic(row: Row, repo: Row) -> Topic:
    return Topic(
        topic_id=row.place.topic,
        query=row.text("query"),
        category=row.text("category", ""),
        truths=tuple(
            _truth(row, f"{kind}[{number}]", target, grade)
            for kind, grade in TARGETS.items()
            for number, target in enumerate(row.items(kind))
        ),
        repo=repo.text("name"),
        commit=repo.text("revision", ""),
        language=repo.text("language", ""),
        provenance=extras(repo.values, ("name", "revision", "language")) | extras(row.values, KNOWN),
    )


def _truth(row: Row, field: str, target: Any, grade: Grade) -> Truth:
    if isinstance(target, str):
        return Truth(Span(clean_path(target)), grade)
    if not isinstance(target, dict):
        raise row.fail(field, f"must be a path, or an object with path, start_line, end_line, not {shown(target)}")
    inner = Row(target, row.place, f"{field}.")
    whole = target.get("start_line") is None and target.get("end_line") is None
    lines = (0, 0) if whole else (inner.number("start_line"), inner.number("end_line"))
    return Truth(Span(clean_path(inner.text("path")), *lines), grade)


def write(dataset: Dataset, folder: Path) -> None:
    """Write the folder; each topic needs a repository, and all topics of one the same commit and language."""
    repos = []
    for name, topics in by_repo(dataset.topics).items():
        first = topics[0]
        if not name or "/" in name:
            raise Place(str(folder), topic=first.topic_id).error(
                f"is {name!r}; here it names a file, so it must be there and hold no '/'", field="repo"
            )
        for topic in topics:
            if (topic.commit, topic.language) != (first.commit, first.language):
                raise Place(str(folder), topic=topic.topic_id).error(
                    f"is at {topic.commit!r} in {topic.language!r}, but {first.topic_id!r} is at {first.commit!r} in "
                    f"{first.language!r}; this format knows one of each for a repository",
                    field="commit",
                )
        url = {"url": first.provenance["url"]} if "url" in first.provenance else {}
        repos.append({"name": name, "language": first.language, "revision": first.commit, **url})
        write_text(folder / "annotations" / f"{name}.json", dump(list(map(_entry, topics)), indent=1) + "\n")
    write_text(folder / "repos.json", dump(repos, indent=1) + "\n")


def _entry(topic: Topic) -> dict[str, Any]:
    targets = {kind: [_target(t.span) for t in topic.truths if t.grade == grade] for kind, grade in TARGETS.items()}
    return {"id": topic.topic_id, "query": topic.query, **targets, "category": topic.category}


def _target(span: Span) -> str | dict[str, Any]:
    if span.whole_file:
        return span.file
    return {"path": span.file, "start_line": span.start_line, "end_line": span.end_line}
