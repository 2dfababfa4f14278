"""A BEIR folder: ``corpus.jsonl`` {_id, title, text}, ``queries.jsonl`` {_id, text}, ``qrels/<split>.tsv``.

The documents are the spans of the truths; see :mod:`devmind.evaluate.datasets.docid`. Category, repository, commit,
language and labels stand in the queries' ``metadata``. The split's file name (dev, test) is the label ``split``.

Source: the BEIR benchmark's data format; its qrels begin with one header line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from devmind.errors import UsageError
from devmind.evaluate.datasets.docid import docid, parse_docid
from devmind.evaluate.datasets.files import dump_lines, read_json_lines, read_text, write_text
from devmind.evaluate.datasets.foreign import extras, row_of
from devmind.evaluate.datasets.place import Place, Placed
from devmind.evaluate.datasets.trec import Judgement, joined, relevance
from devmind.evaluate.types import GAIN, Dataset, Span, Topic, Truth

HEADER: Final = "query-id\tcorpus-id\tscore"
HALF_BY_FILE: Final = {"train": "development", "dev": "development", "test": "test"}
FILE_BY_HALF: Final = {"development": "dev", "test": "test"}
TEXTS: Final = ("category", "repo", "commit", "language")
TextOf = Callable[[Topic, Span], str]


def read(folder: Path) -> tuple[str, list[Placed]]:
    splits = sorted((folder / "qrels").glob("*.tsv"))
    if not splits:
        raise UsageError(f"{folder / 'qrels'} holds no .tsv file; without it no query has relevant documents")
    judgements: list[Judgement] = []
    half_by_topic: dict[str, str] = {}
    for path in splits:
        found = list(_qrels(path))
        judgements += found
        half = HALF_BY_FILE.get(path.stem, "") if len(splits) > 1 else ""
        half_by_topic |= {judgement[0]: half for judgement in found if half}
    path = folder / "queries.jsonl"
    queries = [_query(path, line, values) for line, values in read_json_lines(path)]
    halved = [(_with_half(topic, half_by_topic.get(topic.topic_id, "")), place) for topic, place in queries]
    texts = {str(row["_id"]): row.get("text") for row in _corpus(folder)}
    return folder.name, [_with_texts(item, texts) for item in joined(halved, judgements)]


def _corpus(folder: Path) -> Iterator[dict[str, Any]]:
    path = folder / "corpus.jsonl"
    for line, values in read_json_lines(path):
        row_of(path, line, values, "_id").identity("_id")
        yield values


def _query(path: Path, line: int, values: dict[str, Any]) -> tuple[Topic, Place]:
    row = row_of(path, line, values, "_id")
    metadata = row.row("metadata")
    topic = Topic(
        row.identity("_id"),
        row.text("text"),
        category=metadata.text("category", ""),
        repo=metadata.text("repo", ""),
        commit=metadata.text("commit", ""),
        language=metadata.text("language", ""),
        labels=metadata.strings("labels"),
        provenance=extras(metadata.values, (*TEXTS, "labels")),
    )
    return topic, row.place


def _qrels(path: Path) -> Iterator[Judgement]:
    for line, content in enumerate(read_text(path).split("\n"), start=1):
        cells = content.rstrip("\r").split("\t")
        if not content.strip() or (line == 1 and cells[-1].strip().lower() == "score"):
            continue
        place = Place(str(path), line, cells[0])
        if len(cells) != 3:
            raise place.error(
                f"a line must be a query id, a corpus id and a score, with tabs; it has {len(cells)} cells"
            )
        yield (cells[0], *parse_docid(cells[1]), relevance(cells[2].strip(), place), place)


def _with_half(topic: Topic, half: str) -> Topic:
    return replace(topic, labels={**topic.labels, "split": half}) if half else topic


def _with_texts(item: Placed, texts: dict[str, Any]) -> Placed:
    topic = item.topic
    truths = tuple(
        replace(truth, text=str(texts.get(docid(topic.repo, truth.span)) or texts.get(truth.span.file) or ""))
        for truth in topic.truths
    )
    return replace(item, topic=replace(topic, truths=truths))


def write(dataset: Dataset, folder: Path, text_of: TextOf) -> None:
    """Write the folder; ``text_of`` gives a document's text, which is empty where nobody knows it."""
    corpus: dict[str, dict[str, str]] = {}
    qrels: dict[str, list[str]] = {}
    for topic in dataset.topics:
        half = FILE_BY_HALF.get(topic.labels.get("split", ""), "test")
        lines = qrels.setdefault(half, [])
        for truth in topic.truths:
            name = docid(topic.repo, truth.span)
            corpus.setdefault(name, {"_id": name, "title": _title(truth), "text": text_of(topic, truth.span)})
            lines.append(f"{topic.topic_id}\t{name}\t{GAIN[truth.grade]}\n")
    write_text(folder / "corpus.jsonl", dump_lines(corpus.values()))
    write_text(folder / "queries.jsonl", dump_lines(map(_record, dataset.topics)))
    for half, lines in qrels.items():
        write_text(folder / "qrels" / f"{half}.tsv", f"{HEADER}\n{''.join(lines)}")


def _title(truth: Truth) -> str:
    return f"{truth.span.file} {truth.symbol}".strip()


def _record(topic: Topic) -> dict[str, Any]:
    metadata: dict[str, Any] = {name: getattr(topic, name) for name in TEXTS if getattr(topic, name)}
    labels = {name: value for name, value in topic.labels.items() if name != "split"}
    return {
        "_id": topic.topic_id,
        "text": topic.query,
        "metadata": metadata | ({"labels": labels} if labels else {}) | dict(topic.provenance),
    }
