"""A file with a system's responses → a target that gives them again, so that any system can be measured.

Read are our own journals; JSON Lines ``{"id", "hits": [{"file", "start_line", "end_line"}], "abstain"?, "answer"?}``,
as ``devmind search --batch`` writes them, and the same with ``{"repo", "query"}`` in place of an id; and TREC runs
``qid Q0 docid rank score tag`` whose document ids are paths or ours (`evaluate.datasets.docid`).

Source: TREC run format, as trec_eval reads it: the score orders, not the rank; ties go by rank here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from devmind.errors import DevMindError, UpstreamError, UsageError
from devmind.evaluate.datasets.docid import parse_docid
from devmind.evaluate.journal import is_journal, read_run
from devmind.evaluate.targets.hits import Loose, Rules, number_of, to_hits, usable
from devmind.evaluate.targets.types import MISSING
from devmind.evaluate.types import Dataset, Response, Retrieved, Run, Topic

Key = str | tuple[str, str]  # a topic's id, or its repository and query
_OURS: Final = Rules()
_TREC_COLUMNS: Final = 6


class RunFile:
    """The responses in ``path``.

    Raises:
        UsageError: The file cannot be read, a line is not understood, or a topic stands in it twice.
        StoreError: It is a damaged journal.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            data = path.read_bytes()
        except OSError as error:
            raise UsageError(f"cannot read the run {path}: {error.strerror}", code="bad_run") from error
        self._hash = hashlib.sha256(data).hexdigest()
        self._name, self._responses = _read(path, data)
        if not self._responses:
            raise UsageError(f"the run {path} holds no response: there is nothing to measure", code="bad_run")

    @property
    def name(self) -> str:
        return self._name

    def respond(self, topic: Topic, *, k: int) -> Response:
        """See `Target`; a topic that is not in the file is missing, which is no failure."""
        response = self._responses.get(topic.topic_id) or self._responses.get((topic.repo, topic.query))
        if response is None:
            raise UpstreamError(
                f"{self._path} holds no response to topic {topic.topic_id!r}", retryable=False, code=MISSING
            )
        return response

    def close(self) -> None:
        """Nothing is held open."""

    def settings(self) -> Mapping[str, str]:
        return {"file": self._path.name, "sha256": self._hash}

    def run_over(self, dataset: Dataset, *, k: int) -> Run:
        """Return the responses to the topics of ``dataset``, without a journal; what the file lacks is absent."""
        responses = {}
        for topic in dataset.topics:
            try:
                response = self.respond(topic, k=k)
            except DevMindError:
                continue
            responses[topic.topic_id] = usable(replace(response, topic_id=topic.topic_id), k=k)
        provenance = {f"target.{key}": value for key, value in self.settings().items()}
        provenance["dataset_hash"] = dataset.content_hash
        return Run(system=self._name, dataset=dataset.name, responses=responses, k=k, provenance=provenance)


def _read(path: Path, data: bytes) -> tuple[str, Mapping[Key, Response]]:
    """Return the system's name and its responses."""
    if is_journal(data):
        run = read_run(path)
        responses: dict[Key, Response] = {}
        responses.update(run.responses)
        return run.system, responses
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no text in UTF-8: {error}", code="bad_run") from error
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not numbered:
        return path.stem, {}
    if numbered[0][1].lstrip().startswith("{"):
        return path.stem, _json_responses(path, numbered)
    number, line = numbered[0]
    if line.lstrip().startswith(("[", "<", '"')):
        wanted = "JSON Lines (an object a line, with 'id' and 'hits'), TREC, or a run of 'devmind eval'"
        raise _bad(f"{path}:{number}", f"{line.strip()[:40]!r} begins no run: give {wanted}")
    return _trec_responses(path, numbered)


def _json_responses(path: Path, numbered: list[tuple[int, str]]) -> dict[Key, Response]:
    responses: dict[Key, Response] = {}
    for number, line in numbered:
        where = f"{path}:{number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise _bad(where, f"not a JSON object: {error}") from error
        if not isinstance(row, dict):
            raise _bad(where, "not a JSON object")
        key = _key(row, where)
        if key in responses:
            raise _bad(where, f"field 'id': the topic {key!r} stands in the file twice; keep one of its lines")
        responses[key] = _response(row, key, where)
    return responses


def _key(row: Mapping[str, Any], where: str) -> Key:
    name = row.get("id", row.get("query_id"))
    if isinstance(name, str | int) and not isinstance(name, bool) and name != "":
        return str(name)
    repo, query = row.get("repo"), row.get("query")
    if isinstance(repo, str) and isinstance(query, str):
        return (repo, query)
    raise _bad(where, "names no topic: give it an 'id', or 'repo' and 'query'")


def _response(row: Mapping[str, Any], key: Key, where: str) -> Response:
    found = row.get("hits")
    if not isinstance(found, list):
        raise _bad(where, f"topic {key!r}, field 'hits': is {found!r:.60}, it must be a list, best first")
    answer = row.get("answer")
    if answer is not None and not isinstance(answer, str):
        raise _bad(where, f"topic {key!r}, field 'answer': is no text")
    hits, dropped = to_hits((_loose(hit) for hit in found), _OURS)
    return Response(
        key if isinstance(key, str) else "",
        hits=hits,
        answer=answer,
        abstained=row.get("abstain", row.get("abstained")) is True,
        confidence=number_of(row.get("confidence")),
        seconds=number_of(row.get("seconds")) or 0.0,
        dropped=dropped,
    )


def _loose(hit: Any) -> Loose:
    if not isinstance(hit, dict):
        return Loose(file=hit)
    return Loose(
        file=hit.get("file", hit.get("path")),
        start=hit.get("start_line", hit.get("start")),
        end=hit.get("end_line", hit.get("end")),
        text=hit.get("text", hit.get("content")),
        score=hit.get("score"),
        symbol=hit.get("symbol"),
    )


def _trec_responses(path: Path, numbered: list[tuple[int, str]]) -> tuple[str, dict[Key, Response]]:
    by_topic: dict[str, list[tuple[float, int, int, str]]] = {}
    tag = path.stem
    for number, line in numbered:
        topic_id, _, document, rank, score, tag = _trec_cells(line, f"{path}:{number}")
        by_topic.setdefault(topic_id, []).append((-float(score), int(rank), number, document))
    return tag, {topic_id: _trec_response(topic_id, sorted(rows)) for topic_id, rows in by_topic.items()}


def _trec_cells(line: str, where: str) -> list[str]:
    cells = line.split()
    if len(cells) != _TREC_COLUMNS:
        raise _bad(where, f"a line must be 'qid Q0 docid rank score tag', six words; this one has {len(cells)}")
    for field, cell in (("rank", cells[3]), ("score", cells[4])):
        number = number_of(cell)
        if number is None or number != number or (field == "rank" and not cell.isdecimal()):
            raise _bad(where, f"topic {cells[0]!r}, field {field!r}: {cell!r} is no number")
    return cells


def _trec_response(topic_id: str, rows: list[tuple[float, int, int, str]]) -> Response:
    def hits() -> Iterator[Retrieved]:
        for negative, _, _, document in rows:
            _, span = parse_docid(document)
            yield Retrieved(span=span, score=-negative, file=span.file)

    return Response(topic_id, hits=tuple(hits()))


def _bad(where: str, problem: str) -> UsageError:
    return UsageError(f"{where}: {problem}", code="bad_run")
