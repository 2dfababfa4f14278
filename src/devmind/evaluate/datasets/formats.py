"""Path and format → ``Dataset``, and back. The only place that knows which formats there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, get_args

from devmind.errors import UsageError
from devmind.evaluate.datasets import (
    beir,
    label_studio,
    own_csv,
    own_json,
    own_lines,
    plain,
    ragas,
    realrepos,
    semble,
    trec,
)
from devmind.evaluate.datasets.faults import validated
from devmind.evaluate.datasets.files import read_csv, read_rows, read_text
from devmind.evaluate.datasets.place import Placed
from devmind.evaluate.types import Dataset, Span, Topic
from devmind.types import split_lines

Format = Literal[
    "json", "jsonl", "csv", "plain", "realrepos", "semble", "trec", "beir", "ragas", "label-studio"
]  # fmt: skip
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
LOSSLESS: Final[tuple[Format, ...]] = ("json", "jsonl", "csv")  # may be rewritten in place
Texts = Callable[[str, str, str], str | None]  # repository, commit, path → the file's text, None if it is not there
_READERS: Final[Mapping[Format, Callable[[Path], tuple[str, list[Placed]]]]] = {
    "json": own_json.read,
    "jsonl": own_lines.read,
    "csv": own_csv.read,
    "plain": plain.read,
    "realrepos": realrepos.read,
    "semble": semble.read,
    "trec": trec.read,
    "beir": beir.read,
    "ragas": ragas.read,
    "label-studio": label_studio.read,
}
_FOLDERS: Final = ("semble", "trec", "beir")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What some formats show beside the topics.

    Attributes:
        texts: gives the code at each topic's commit; without it only recorded lines are known.
        candidates: spans to show to annotators, by topic id, beside those already labelled.
        blind: hide truths and annotations from annotators.
    """

    texts: Texts | None = None
    candidates: Mapping[str, Sequence[Span]] = field(default_factory=dict)
    blind: bool = True


def read(path: str | Path, format: str = "auto") -> Dataset:
    """Read a dataset.

    Args:
        format: one of :data:`FORMATS`, or ``auto`` to tell from the content.

    Raises:
        UsageError: the file cannot be read, or is not a valid dataset; names file, line, topic and field.
    """
    name, placed = read_placed(path, format)
    return validated(name, placed, file=str(path))


def read_placed(path: str | Path, format: str = "auto") -> tuple[str, list[Placed]]:
    """Read a dataset's name and topics as they stand, with faults that ``check`` would name and ``read`` refuse."""
    place = Path(path)
    return _READERS[known(format) if format != "auto" else detect(place)](place)


def write(dataset: Dataset, path: str | Path, format: str = "auto", *, around: Surroundings | None = None) -> None:
    """Write a dataset; ``auto`` means our own form in the container that the suffix names.

    Raises:
        UsageError: the format is unknown, cannot hold this dataset, or the path cannot be written.
    """
    place, given = Path(path), around or Surroundings()
    chosen: Format = known(format) if format != "auto" else _by_suffix(place)
    match chosen:
        case "json":
            own_json.write(dataset, place)
        case "jsonl":
            own_lines.write(dataset, place)
        case "csv":
            own_csv.write(dataset, place)
        case "plain":
            plain.write(dataset, place)
        case "realrepos":
            realrepos.write(dataset, place)
        case "semble":
            semble.write(dataset, place)
        case "trec":
            trec.write(dataset, place)
        case "beir":
            beir.write(dataset, place, _text_of(given.texts))
        case "ragas":
            ragas.write(dataset, place, _text_of(given.texts))
        case "label-studio":
            shown = {topic.topic_id: _shown(topic, given) for topic in dataset.topics}
            label_studio.write(dataset, place, shown, blind=given.blind)


def known(format: str) -> Format:
    """Return ``format`` as one of :data:`FORMATS`.

    Raises:
        UsageError: it is none of them.
    """
    for name in FORMATS:
        if name == format:
            return name
    raise UsageError(f"unknown format {format!r}; choose one of {', '.join(FORMATS)}", code="unknown_format")


def detect(path: Path) -> Format:
    """Return the format of a file or folder by its content.

    Raises:
        UsageError: the content is none that we know.
    """
    if path.is_dir():
        names = {item.name.lower() for item in path.iterdir()}
        if {"repos.json", "annotations"} <= names:
            return "semble"
        if {"queries.jsonl", "qrels"} <= names:
            return "beir"
        if any("topics" in name for name in names) and any("qrels" in name for name in names):
            return "trec"
        raise _unclear(path, "the folder holds none of the files of " + ", ".join(_FOLDERS))
    if path.suffix.lower() == ".csv":
        header = read_csv(path)[0]
        return "plain" if "query_id" in header else "csv"
    text = read_text(path).lstrip()
    if text.startswith("{") and path.suffix.lower() == ".json":
        return "json"
    rows = read_rows(path)
    if not rows:
        raise UsageError(f"{path}: holds no topics; a dataset needs at least one", code="bad_dataset")
    return _by_keys(path, rows[0][1], is_list=text.startswith("["))


def _by_keys(path: Path, first: Mapping[str, object], *, is_list: bool) -> Format:
    if "topic_id" in first:
        return "json" if is_list else "jsonl"
    if "query_id" in first:
        return "plain"
    if "user_input" in first:
        return "ragas"
    if "data" in first:
        return "label-studio"
    if "ground_truth" in first and "id" in first:
        return "realrepos"
    raise _unclear(path, f"the first object has the keys {', '.join(list(first)[:12])}")


def _unclear(path: Path, seen: str) -> UsageError:
    return UsageError(
        f"{path}: cannot tell the format: {seen}; name it with --format ({', '.join(FORMATS)})", code="unknown_format"
    )


def _by_suffix(path: Path) -> Format:
    match path.suffix.lower():
        case ".json":
            return "json"
        case ".jsonl" | ".ndjson":
            return "jsonl"
        case ".csv":
            return "csv"
    raise UsageError(
        f"{path}: the suffix names no format; use .jsonl, .json or .csv, or --format ({', '.join(FORMATS)})",
        code="unknown_format",
    )


def _text_of(texts: Texts | None) -> Callable[[Topic, Span], str]:
    """Return what gives a truth's lines: as recorded, else from the code, else nothing."""

    def text_of(topic: Topic, span: Span) -> str:
        recorded = next((truth.text for truth in topic.truths if truth.span == span and truth.text), "")
        if recorded or texts is None:
            return recorded
        return lines_of(texts(topic.repo, topic.commit, span.file) or "", span)

    return text_of


def lines_of(text: str, span: Span) -> str:
    """Return the lines of ``span``, joined by ``\\n``."""
    if span.whole_file:
        return text
    return "\n".join(split_lines(text)[span.start_line - 1 : span.end_line])


def _shown(topic: Topic, around: Surroundings) -> list[tuple[str, int, str]]:
    labelled = [*topic.truths, *(truth for annotation in topic.annotations for truth in annotation.truths)]
    spans = [*around.candidates.get(topic.topic_id, ()), *(truth.span for truth in labelled)]
    if around.texts is None:
        return []
    found = {span.file: around.texts(topic.repo, topic.commit, span.file) for span in spans}
    # By path, whatever rank or label a file has: the order must not tell annotators what others found.
    return label_studio.windows(
        sorted(spans, key=lambda span: (span.file, span.start_line)),
        {file: text for file, text in found.items() if text is not None},
    )
