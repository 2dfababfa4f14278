"""Responses ↔ an append-only file of JSON lines, so that a run which was killed goes on where it stopped.

The first line says what is measured; every other line is one response, and the last line of a topic counts. What was
appended is on disk when `append` returns. A last line that a crash tore is cut off.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from devmind.errors import StoreError, UsageError
from devmind.evaluate.appended import AppendedFile
from devmind.evaluate.types import Failure, Response, Retrieved, Run, Span

FORMAT: Final = 1  # 1: first format
_START: Final = b'{"run": '


@dataclass(frozen=True, slots=True)
class Header:
    """What is measured. Two journals with the same ``identity`` are parts of one run."""

    dataset: str
    dataset_hash: str
    target: str
    settings: Mapping[str, str]
    k: int
    provenance: Mapping[str, str] = field(default_factory=dict)  # when, by which version, …: may differ when resumed

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.dataset_hash, self.target, tuple(sorted(self.settings.items())), self.k)


class Journal:
    """The file ``path``, opened to go on with the run that ``header`` describes; one process at a time.

    Raises:
        UsageError: The file is no journal, is another run's, or another process writes it.
        StoreError: The file cannot be read or written, or is damaged before its last line.
    """

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self._file = AppendedFile(path, what="run")
        try:
            self.header, self.responses = self._load(header)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def append(self, responses: Iterable[Response]) -> None:
        """Write the responses and wait until they are on disk; after an error or an interrupt, none of them is there.

        Raises:
            StoreError: The disk is full, or fails.
        """
        self._file.write(b"".join(_line(encode(response)) for response in responses))

    def _load(self, header: Header) -> tuple[Header, dict[str, Response]]:
        data = self.path.read_bytes()
        if b"\n" not in data and (data.startswith(_START) or _START.startswith(data)):  # empty, or a torn first line
            self._file.cut(0)
            self._file.write(_line({"run": {"format": FORMAT, **asdict(header)}}))
            return header, {}
        known, responses, size = _parse(self.path, data)
        if known.identity != header.identity:
            raise UsageError(f"{self.path} is another run: {_difference(known, header)}; choose another file")
        self._file.cut(size)
        return known, responses


def read_run(path: Path) -> Run:
    """Return the run in the journal ``path``, whether it was finished or not.

    Raises:
        UsageError: The file cannot be read, or is no journal.
        StoreError: It is damaged before its last line.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the run {path}: {error.strerror}") from error
    header, responses, _ = _parse(path, data)
    return run_of(header, responses)


def run_of(header: Header, responses: Mapping[str, Response]) -> Run:
    """Return the responses with all that the header tells of their making."""
    provenance = {"dataset_hash": header.dataset_hash, **header.provenance}
    provenance |= {f"target.{key}": value for key, value in sorted(header.settings.items())}
    return Run(system=header.target, dataset=header.dataset, responses=responses, k=header.k, provenance=provenance)


def is_journal(data: bytes) -> bool:
    return data.startswith(_START)


def encode(response: Response) -> dict[str, Any]:
    """Return a response as JSON values; fields that say nothing are left out. The ``file`` of a hit is its span's."""
    row: dict[str, Any] = {"id": response.topic_id, "hits": [_encode_hit(hit) for hit in response.hits]}
    if response.answer is not None:
        row["answer"] = response.answer
    if response.cited:
        row["cited"] = [[s.file, s.start_line, s.end_line] for s in response.cited]
    row |= {"abstain": response.abstained, "seconds": response.seconds}
    if response.confidence is not None:
        row["confidence"] = response.confidence
    if response.failure is not None:
        row["failure"] = asdict(response.failure)
    if response.dropped:
        row["dropped"] = list(response.dropped)
    if response.notes:
        row["notes"] = list(response.notes)
    if response.spent:
        row["spent"] = dict(response.spent)
    return row


def decode(row: Mapping[str, Any]) -> Response:
    """Return what `encode` was given; raises ``KeyError`` or ``TypeError`` for anything else."""
    failure = row.get("failure")
    return Response(
        topic_id=row["id"],
        hits=tuple(_decode_hit(hit) for hit in row["hits"]),
        answer=row.get("answer"),
        cited=tuple(Span(*place) for place in row.get("cited", ())),
        abstained=row["abstain"],
        confidence=row.get("confidence"),
        seconds=row["seconds"],
        failure=None if failure is None else Failure(**failure),
        dropped=tuple(row.get("dropped", ())),
        notes=tuple(row.get("notes", ())),
        spent=row.get("spent", {}),
    )


def _encode_hit(hit: Retrieved) -> dict[str, Any]:
    row: dict[str, Any] = {"file": hit.file if hit.span is None else hit.span.file}
    if hit.span is not None:
        row |= {"start_line": hit.span.start_line, "end_line": hit.span.end_line}
    optional = {"symbol": hit.symbol, "score": hit.score, "text": hit.text, "why": dict(hit.why)}
    return row | {key: value for key, value in optional.items() if value not in ("", None, {})}


def _decode_hit(row: Mapping[str, Any]) -> Retrieved:
    return Retrieved(
        span=Span(row["file"], row["start_line"], row["end_line"]) if "start_line" in row else None,
        text=row.get("text", ""),
        score=row.get("score"),
        symbol=row.get("symbol", ""),
        why=row.get("why", {}),
        file=row["file"],
    )


def _line(row: Mapping[str, Any]) -> bytes:
    # a lone surrogate in a target's text has no UTF-8 form; escaped it survives
    return json.dumps(row, ensure_ascii=True, allow_nan=False).encode() + b"\n"


def _parse(path: Path, data: bytes) -> tuple[Header, dict[str, Response], int]:
    """Return header, responses by topic and the length of what is whole; the order is that of the first mention."""
    if not is_journal(data):
        raise UsageError(f"{path} is no run of 'devmind eval': choose another file, or remove it", code="not_a_run")
    end = data.rfind(b"\n") + 1
    lines = data[:end].split(b"\n")[:-1]
    header: Header | None = None
    responses: dict[str, Response] = {}
    size = 0
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            if header is None:
                header = _header(row["run"], path)
            else:
                response = decode(row)
                responses[response.topic_id] = response
        except (ValueError, KeyError, TypeError) as error:
            if number == len(lines) > 1:
                break  # a crash of the machine tore it
            raise StoreError(
                f"{path}:{number}: is damaged ({type(error).__name__}: {error}); remove this line, or the file"
            ) from error
        size += len(line) + 1
    if header is None:
        raise UsageError(f"{path} is a run whose first line was torn: remove the file", code="not_a_run")
    return header, responses, size


def _header(row: Mapping[str, Any], path: Path) -> Header:
    values = dict(row)
    version = values.pop("format")
    if version != FORMAT:
        raise StoreError(
            f"{path} has format {version}, this devmind reads format {FORMAT}: run it again", code="format"
        )
    return Header(**values)


def _difference(known: Header, wanted: Header) -> str:
    """Say what the journal holds and what was asked for, where they differ."""
    if known.dataset_hash != wanted.dataset_hash:
        return (
            f"of dataset {_dataset(known)}, this one is of {_dataset(wanted)} (if only labels changed, "
            "'devmind eval run DATASET --target run:FILE' scores its responses anew)"
        )
    if known.target != wanted.target:
        return f"of target {known.target!r}, this one is of {wanted.target!r}"
    if known.k != wanted.k:
        return f"of {known.k} hits a topic (k), this one is of {wanted.k}"
    keys = sorted(known.settings.keys() | wanted.settings.keys())
    key = next(key for key in keys if known.settings.get(key) != wanted.settings.get(key))
    was, now = known.settings.get(key, "not set"), wanted.settings.get(key, "not set")
    return f"of target {known.target!r} with {key} = {was!r}, this one is with {key} = {now!r}"


def _dataset(header: Header) -> str:
    return f"{header.dataset!r} ({header.dataset_hash[:12]})"
