"""A run and the code it was made on → the same run with lines for text that had none, and no hit outside its file.

A hit that lies outside its file, or in a file that does not exist, keeps its rank and finds nothing: a target must not
score by claiming lines that nobody can open. How many hits got their lines in which way is counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from devmind.evaluate.alignment import normal_path
from devmind.evaluate.anchor import align, has_lines, unmapped_share
from devmind.evaluate.checked import checked_topic
from devmind.evaluate.datasets.sources import Sources
from devmind.evaluate.haystack import Haystack
from devmind.evaluate.types import Dataset, Response, Retrieved, Run, Span, Topic
from devmind.types import split_lines


@dataclass(frozen=True, slots=True)
class Placed:
    """A run whose hits have lines where they could be found.

    Attributes:
        n_by_method: hits by how they got their lines: given, exact, whitespace, fuzzy, unmapped.
        outside: for each hit that lies outside its file: topic, hit, and what it claimed.
        with_code: the hits were compared with the code.
    """

    run: Run
    n_by_method: Mapping[str, int]
    outside: tuple[str, ...] = ()
    with_code: bool = False

    @property
    def unmapped_share(self) -> float | None:
        return unmapped_share(self.n_by_method)


@dataclass(slots=True)
class _Counts:
    by_method: Counter[str] = field(default_factory=Counter)
    outside: list[str] = field(default_factory=list)


def placed(dataset: Dataset, run: Run, code: Sources | None) -> Placed:
    """Return ``run`` with every hit placed in the code, as far as that is possible.

    Args:
        code: reads the code at each topic's commit; without it, nothing is changed and hits without lines are counted.

    Raises:
        UsageError: a truth names a file or lines that do not exist, or no source was given for a repository.

    Cost: with text that has no lines, every file of each repository and commit is read once.
    """
    if code is None:
        given = Counter(
            "given" if has_lines(hit) else "unmapped"
            for topic in dataset.topics
            if topic.truths and (response := run.responses.get(topic.topic_id)) is not None
            for hit in response.hits
        )
        return Placed(run, dict(given))
    counts = _Counts()
    responses = dict(run.responses)
    for (repo, commit), topics in _topics_by_place(dataset).items():
        responses |= _placed_there(topics, run, _Code(code, repo, commit), counts)
    return Placed(replace(run, responses=responses), dict(counts.by_method), tuple(counts.outside), with_code=True)


def check_labels(dataset: Dataset, code: Sources) -> None:
    """Refuse a dataset with a truth that is not in the code, before anybody is asked.

    Raises:
        UsageError: a truth names a file or lines that do not exist, or no source was given for a repository.
    """
    for (repo, commit), topics in _topics_by_place(dataset).items():
        n_lines = _Code(code, repo, commit).n_lines([truth.span.file for t in topics for truth in t.truths])
        for topic in topics:
            checked_topic(topic, n_lines=n_lines)


def _topics_by_place(dataset: Dataset) -> dict[tuple[str, str], list[Topic]]:
    found: dict[tuple[str, str], list[Topic]] = defaultdict(list)
    for topic in dataset.topics:
        if topic.truths:
            found[(topic.repo, topic.commit)].append(topic)
    return found


@dataclass(frozen=True, slots=True)
class _Code:
    """The code of one repository at one commit."""

    sources: Sources
    repo: str
    commit: str

    def n_lines(self, files: Sequence[str]) -> dict[str, int]:
        texts = self.sources.many(self.repo, self.commit, map(normal_path, files))
        return {path: len(split_lines(text)) for path, text in texts.items() if text is not None}

    def haystack(self) -> Haystack:
        return Haystack(self.sources.files(self.repo, self.commit, ""))


def _placed_there(topics: Sequence[Topic], run: Run, code: _Code, counts: _Counts) -> dict[str, Response]:
    known = {t.topic_id: run.responses[t.topic_id] for t in topics if t.topic_id in run.responses}
    hits = [hit for response in known.values() for hit in response.hits]
    files = [hit.span.file for hit in hits if hit.span] + [truth.span.file for t in topics for truth in t.truths]
    n_lines = code.n_lines(files)
    for topic in topics:
        checked_topic(topic, n_lines=n_lines)
    haystack = code.haystack() if any(hit.text and not has_lines(hit) for hit in hits) else None
    found = {}
    for topic_id, response in known.items():
        inside = _inside(response, n_lines, counts)
        if haystack is None:
            counts.by_method.update("given" if has_lines(hit) else "unmapped" for hit in inside.hits)
            found[topic_id] = inside
        else:
            aligned = align(inside, haystack)
            counts.by_method.update(aligned.n_by_method)
            found[topic_id] = aligned.response
    return found


def _inside(response: Response, n_lines: Mapping[str, int], counts: _Counts) -> Response:
    """Take the span, and the text that could be placed elsewhere, from hits that claim what does not exist."""
    kept: list[Retrieved] = []
    for number, hit in enumerate(response.hits):
        problem = _problem(hit.span, n_lines) if hit.span is not None else ""
        if problem:
            counts.outside.append(f"topic {response.topic_id!r}: hits[{number}].span {problem}")
            hit = replace(hit, span=None, file=hit.span.file if hit.span else hit.file, text="")
        kept.append(hit)
    return replace(response, hits=tuple(kept))


def _problem(span: Span, n_lines: Mapping[str, int]) -> str:
    length = n_lines.get(normal_path(span.file))
    if length is None:
        return f"is of {span.file!r}, which does not exist at the topic's commit"
    if span.end_line > length:
        return f"ends at line {span.end_line}, but {span.file!r} has {length} lines"
    return ""
