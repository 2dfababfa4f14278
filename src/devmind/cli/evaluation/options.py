"""Options that commands of evaluation share, and how their text becomes values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from devmind.errors import UsageError
from devmind.settings import expanded

if TYPE_CHECKING:
    from devmind.evaluate.datasets.sources import Sources
    from devmind.evaluate.datasets.split import Half
    from devmind.evaluate.measured import Asked, Scoring
    from devmind.evaluate.types import Dataset

DatasetFile = Annotated[Path, typer.Argument(metavar="DATASET", help="A dataset in a file or folder of any format.")]
DatasetOption = Annotated[
    Path, typer.Option("--dataset", metavar="DATASET", help="The dataset that the runs were made with.")
]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, or a file of responses.")]
Format = Annotated[str, typer.Option("--format", help="The dataset's format; told from the content without it.")]
Split = Annotated[str, typer.Option("--split", help="development, test or all.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why the test half is read; logged.")]
Source = Annotated[
    list[str] | None,
    typer.Option("--source", metavar="[REPO=]FOLDER", help="Where the code of REPO, or of all topics, is."),
]
Root = Annotated[
    Path | None, typer.Option("--root", metavar="DIR", help="Folder whose subfolders are the repositories.")
]
At = Annotated[str, typer.Option("--at", metavar="REF", help="Read the code at this ref, not at the topics' commits.")]
K = Annotated[int, typer.Option("-k", min=1, max=1000, help="Hits a topic.")]
Match = Annotated[
    str,
    typer.Option("--match", help="When a hit finds a truth: overlap, contain, nested, iou50, core, function, path."),
]
By = Annotated[
    list[str] | None,
    typer.Option("--by", metavar="LABEL", help="Group by this, too: category, language, repo, commit or a label."),
]
Measures = Annotated[
    list[str] | None, typer.Option("--measure", metavar="NAME", help="Only this measure (may be repeated).")
]
MaxLost = Annotated[
    float, typer.Option("--max-lost", metavar="SHARE", help="Topics that may be missing or failed; more is an error.")
]


def sources_of(source: Sequence[str] | None, root: Path | None, at: str = "") -> Sources | None:
    """Return what reads the code, or None if no folder was named."""
    if not source and root is None:
        return None
    from devmind.evaluate.datasets.sources import Sources

    folders: dict[str, Path] = {}
    for item in source or ():
        name, folder = name_and_folder(item)
        folders[name] = folder
    return Sources(folders, root=root, at=at)


def name_and_folder(item: str) -> tuple[str, Path]:
    """Read ``[NAME=]FOLDER``: either may hold ``/`` and ``=``; the first reading whose folder exists counts."""
    whole = expanded(item)
    if "=" not in item or whole.is_dir():
        return "", whole
    parts = item.split("=")
    for n_parts in range(1, len(parts)):
        name, folder = "=".join(parts[:n_parts]), expanded("=".join(parts[n_parts:]))
        if name and str(folder) != "." and folder.is_dir():
            return name, folder
    name, _, rest = item.partition("=")
    return name, expanded(rest)


def half_of_name(text: str) -> Half:
    from devmind.evaluate.datasets.split import HALVES

    for half in HALVES:
        if text == half:
            return half
    raise UsageError(f"unknown split {text!r}; choose one of {', '.join(HALVES)}")


def topics_of(file: Path, *, form: str, split: str, reason: str, command: str) -> Dataset:
    """Return the topics of one half; a reading of test topics is logged."""
    from devmind.evaluate.datasets.split import read_half

    half = half_of_name(split)
    now = datetime.now().astimezone()
    return read_half(file, half, format=form, command=command, reason=reason, now=now)


def asked_topics(file: Path, *, form: str, split: str, reason: str, command: str) -> Asked:
    """Return the accepted topics of one half; a reading of test topics is logged."""
    from devmind.evaluate.measured import asked

    return asked(topics_of(file, form=form, split=split, reason=reason, command=command))


def scoring_of(match: str, by: Sequence[str] | None, code: Sources | None, *, asked: Asked) -> Scoring:
    from devmind.evaluate.alignment import match_rule
    from devmind.evaluate.measured import GROUPINGS, Scoring
    from devmind.evaluate.score import TOPIC_FIELDS

    known = {*TOPIC_FIELDS, *GROUPINGS, *(label for topic in asked.dataset.topics for label in topic.labels)}
    for name in by or ():
        if name not in known:
            raise UsageError(f"--by {name!r}: no topic has this label; known are {', '.join(sorted(known))}")

    match_rule(match)  # an unknown rule is told before anything is measured
    return Scoring(match=match, group_by=tuple(dict.fromkeys((*GROUPINGS, *(by or ())))), code=code)


def limits_by_measure(option: str, items: Sequence[str] | None) -> Mapping[str, float]:
    """Read ``MEASURE=NUMBER`` items of an option; a measure may stand once."""
    found: dict[str, float] = {}
    for item in items or ():
        name, _, text = item.rpartition("=")
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not name or math.isnan(value):
            raise UsageError(f"{option} {item!r} must have the form MEASURE=NUMBER, such as 'Recall@10=0.02'")
        if name in found:
            raise UsageError(f"{option} names {name!r} twice: keep one")
        found[name] = value
    return found
