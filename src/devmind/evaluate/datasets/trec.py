"""A folder with ``topics.tsv`` (id, tab, query) and ``qrels.txt`` (``qid 0 docid rel``).

Documents are spans: see :mod:`devmind.evaluate.datasets.docid`. Relevance 2 and more is strong, 1 weak; where no
judgement is above 1, the judgements are binary and 1 is strong. Topics may also be in ``<top>`` elements. Only ids,
queries, spans and grades are part of this format; line breaks and tabs in a query become blanks.

Source: the qrels format of trec_eval; NIST's topic files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from devmind.errors import UsageError
from devmind.evaluate.datasets.docid import docid, parse_docid
from devmind.evaluate.datasets.files import read_text, write_text
from devmind.evaluate.datasets.place import Place, Placed
from devmind.evaluate.types import GAIN, Dataset, Span, Topic, Truth

Judgement = tuple[str, str, Span, int, Place]  # topic, repository, span, relevance, where
_TOP = re.compile(r"<top>(.*?)</top>", re.DOTALL)
_NUM = re.compile(r"<num>\s*(?:Number:)?\s*([^\s<]+)")
_TITLE = re.compile(r"<title>\s*(?:Topic:)?\s*([^<]*)")
_BLANKS = re.compile(r"\s+")
NAMES: Final = ("topics", "qrels")


def read(folder: Path) -> tuple[str, list[Placed]]:
    topics_file, qrels_file = (find(folder, name) for name in NAMES)
    queries = list(_topics(topics_file))
    judgements = list(_qrels(qrels_file))
    return folder.name, joined(queries, judgements)


def find(folder: Path, name: str) -> Path:
    """Return the one file of ``folder`` whose name holds ``name``."""
    found = sorted(path for path in folder.iterdir() if name in path.name.lower() and path.is_file())
    if len(found) != 1:
        said = ", ".join(path.name for path in found) or "none"
        raise UsageError(f"{folder} must hold one file named like {name!r}; there is {said}", code="bad_dataset")
    return found[0]


def joined(queries: Sequence[tuple[Topic, Place]], judgements: Sequence[Judgement]) -> list[Placed]:
    """Give each topic the spans that were judged relevant for it, in the order of the judgements."""
    by_topic: dict[str, list[Judgement]] = {topic.topic_id: [] for topic, _ in queries}
    for judgement in judgements:
        topic_id, place = judgement[0], judgement[4]
        if topic_id not in by_topic:
            raise place.error(f"{topic_id!r} has judgements but no query; add it to the topics", field="query id")
        by_topic[topic_id].append(judgement)
    strong = 2 if any(relevance >= 2 for _, _, _, relevance, _ in judgements) else 1
    return [Placed(_with_truths(topic, by_topic[topic.topic_id], strong), place) for topic, place in queries]


def _with_truths(topic: Topic, judgements: Sequence[Judgement], strong: int) -> Topic:
    relevant = [judgement for judgement in judgements if judgement[3] > 0]
    repos = {repo for _, repo, *_ in relevant if repo}
    if len(repos | ({topic.repo} if topic.repo else set())) > 1:
        raise relevant[0][4].error(
            f"the judgements name the repositories {', '.join(sorted(repos))}; a topic is about one", field="docid"
        )
    truths = tuple(Truth(span, "strong" if rel >= strong else "weak") for _, _, span, rel, _ in relevant)
    return replace(topic, truths=truths, repo=topic.repo or next(iter(repos), ""))


def _topics(path: Path) -> Iterator[tuple[Topic, Place]]:
    text = read_text(path)
    if "<top>" in text:
        for match in _TOP.finditer(text):
            place = Place(str(path), text.count("\n", 0, match.start()) + 1)
            number, title = _NUM.search(match[1]), _TITLE.search(match[1])
            if number is None or title is None:
                raise place.error("a <top> needs <num> and <title>", field="num" if number is None else "title")
            yield Topic(number[1], title[1].strip()), Place(place.file, place.line, number[1])
        return
    for line, content in enumerate(text.split("\n"), start=1):
        if content.strip():
            topic_id, tab, query = content.rstrip("\r").partition("\t")
            place = Place(str(path), line, topic_id if tab else "")
            if not tab:
                raise place.error("a line must be an id, a tab and a query", field="query")
            yield Topic(topic_id.strip(), query.strip()), place


def _qrels(path: Path) -> Iterator[Judgement]:
    for line, content in enumerate(read_text(path).split("\n"), start=1):
        cells = content.split()
        if not cells:
            continue
        place = Place(str(path), line, cells[0])
        if len(cells) != 4:
            raise place.error(f"a line must be 'qid 0 docid rel', four words; this one has {len(cells)}")
        yield (cells[0], *parse_docid(cells[2]), relevance(cells[3], place), place)


def relevance(text: str, place: Place) -> int:
    """Return a judgement; BEIR writes whole numbers, some exports write 1.0."""
    try:
        value = float(text)
        if value != int(value):
            raise ValueError(text)
        return int(value)
    except (ValueError, OverflowError) as error:
        raise place.error(f"is {text!r}; relevance must be a whole number", field="rel") from error


def write(dataset: Dataset, folder: Path) -> None:
    topics, qrels = [], []
    for topic in dataset.topics:
        if _BLANKS.search(topic.topic_id):
            raise Place(str(folder), topic=topic.topic_id).error(
                "has a blank; words end at blanks in this format, so rename the topic", field="topic_id"
            )
        topics.append(f"{topic.topic_id}\t{_BLANKS.sub(' ', topic.query).strip()}\n")
        for truth in topic.truths:
            qrels.append(f"{topic.topic_id} 0 {docid(topic.repo, truth.span)} {GAIN[truth.grade]}\n")
    write_text(folder / "topics.tsv", "".join(topics))
    write_text(folder / "qrels.txt", "".join(qrels))
