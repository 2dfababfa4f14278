"""A dataset and the code it labels → problems, each with its topic, field and, where there is one, a remedy.

Reads code through a resolver and changes nothing; :func:`fixed` applies the remedies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from devmind.errors import UsageError
from devmind.evaluate.datasets.faults import FATAL, faults, truth_faults
from devmind.evaluate.datasets.formats import Texts, lines_of
from devmind.evaluate.datasets.leak import leak_of
from devmind.evaluate.datasets.near import SAME, SAME_WITH_COMMON_TRUTH, near_pairs
from devmind.evaluate.datasets.units import cut_unit, symbols_of
from devmind.evaluate.types import Span, Topic, Truth
from devmind.types import Symbol, split_lines

WAIVE = "waive"  # the label that lists, with commas, the kinds of problems that a person has accepted for a topic
LEAK = "leak"
Paths = Callable[[str, str], Sequence[str]]  # repository, commit → the paths of its files
_SHOWN_QUERY = 60


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one field of one topic.

    Attributes:
        kind: stable code: empty_id, empty_query, bad_path, bad_lines, reversed_span, core_outside, duplicate_id,
            trap_with_truths, no_truth, near_duplicate, leak, no_source, missing_path, missing_lines, moved, lost,
            part_of_unit.
        at: position of the topic in the sequence that was checked, from 0.
        span: where the label belongs (moved) or what the whole unit is (part_of_unit).
        waived: the topic's label ``waive`` accepts this kind.
    """

    kind: str
    topic_id: str
    field: str
    message: str
    at: int
    span: Span | None = None
    waived: bool = False


def check(
    topics: Sequence[Topic],
    texts: Texts | None = None,
    *,
    paths: Paths | None = None,
    old_texts: Texts | None = None,
) -> list[Problem]:
    """Return all problems, in the order of the topics.

    Args:
        texts: the code; without it, only what the topics say by themselves is checked. It may raise ``UsageError``
            with code ``no_source`` for a repository that is not at hand.
        paths: the files of a repository, to find labels whose file was moved or renamed.
        old_texts: the code at the topics' own commits, when ``texts`` reads another one: what a label held there is
            looked for here. Without it, only labels with recorded text are compared.
    """
    found = [problem for at, topic in enumerate(topics) for problem in _alone(at, topic)]
    found += [*_repeated_ids(topics), *_near_duplicates(topics)]
    if texts is not None:
        code = _Code(texts, paths, old_texts)
        found += [problem for at, topic in enumerate(topics) for problem in code.problems(at, topic)]
    return [_with_waiver(problem, topics[problem.at]) for problem in sorted(found, key=lambda problem: problem.at)]


def _with_waiver(problem: Problem, topic: Topic) -> Problem:
    return replace(problem, waived=True) if problem.kind in _waived(topic) else problem


def _waived(topic: Topic) -> frozenset[str]:
    return frozenset(kind.strip() for kind in topic.labels.get(WAIVE, "").split(","))


def _alone(at: int, topic: Topic) -> Iterator[Problem]:
    for fault in faults(topic):
        yield Problem(fault.kind, topic.topic_id, fault.field, fault.message, at)
    leak = leak_of(topic)
    said = topic.labels.get(LEAK, "none" if leak == "none" else "")
    if said != leak and topic.truths:
        named = f"names its {leak}" if leak != "none" else "names neither its file nor its symbol"
        message = f"the query {named}, but the label says {said!r}; rephrase it, or let --fix set the label"
        yield Problem("leak", topic.topic_id, f"labels.{LEAK}", message, at)


def _repeated_ids(topics: Sequence[Topic]) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for at, topic in enumerate(topics):
        if topic.topic_id in first:
            message = f"topic {first[topic.topic_id] + 1} has this id, too; give each its own"
            yield Problem("duplicate_id", topic.topic_id, "topic_id", message, at)
        first.setdefault(topic.topic_id, at)


def _near_duplicates(topics: Sequence[Topic]) -> Iterator[Problem]:
    by_repo: dict[str, list[int]] = defaultdict(list)
    for at, topic in enumerate(topics):
        if topic.query.strip():
            by_repo[topic.repo].append(at)
    for members in by_repo.values():
        for one, other, similarity in near_pairs(
            [topics[at].query for at in members], threshold=SAME_WITH_COMMON_TRUTH
        ):
            earlier, later = topics[members[one]], topics[members[other]]
            if similarity >= SAME or _common_truth(earlier, later):
                message = (
                    f"asks nearly the same ({similarity:.2f}) as {earlier.topic_id!r}: "
                    f"{earlier.query[:_SHOWN_QUERY]!r}; keep one, or make them differ"
                )
                yield Problem("near_duplicate", later.topic_id, "query", message, members[other])


def _common_truth(one: Topic, other: Topic) -> bool:
    return any(overlap(a.span, b.span) for a in one.truths for b in other.truths)


def overlap(a: Span, b: Span) -> bool:
    """Return whether two spans of one repository share a line; a whole file shares one with every span of it."""
    if a.file != b.file:
        return False
    return a.whole_file or b.whole_file or (a.start_line <= b.end_line and b.start_line <= a.end_line)


class _Code:
    """The code of one check: remembers what it parsed, and which repositories it has already reported as absent."""

    def __init__(self, texts: Texts, paths: Paths | None, old_texts: Texts | None) -> None:
        self.texts, self.paths, self.old_texts = texts, paths, old_texts
        self.symbols_by_text: dict[tuple[str, str], Sequence[Symbol]] = {}
        self.absent: set[str] = set()

    def problems(self, at: int, topic: Topic) -> Iterator[Problem]:
        try:
            for field, truth in _all_truths(topic):
                if problem := self._problem(topic, truth, field, at):
                    yield problem
        except UsageError as error:
            if error.code != "no_source":
                raise
            if str(error) not in self.absent:
                self.absent.add(str(error))
                message = f"{error} (this topic and all others of this repository were not compared with code)"
                yield Problem("no_source", topic.topic_id, "repo", message, at)

    def _problem(self, topic: Topic, truth: Truth, field: str, at: int) -> Problem | None:
        span = truth.span
        if any(fault.kind in FATAL for fault in truth_faults(truth, "")):
            return None  # already named
        text = self.texts(topic.repo, topic.commit, span.file)
        expected = self._expected(topic, truth)
        where = f" at {topic.commit[:12]}" if topic.commit and self.old_texts is None else ""

        def problem(kind: str, key: str, message: str, remedy: Span | None = None) -> Problem:
            return Problem(kind, topic.topic_id, f"{field}.{key}", message, at, remedy)

        if expected and (text is None or not _same(lines_of(text, span), expected)):
            return self._moved(topic, span, expected, problem)
        if text is None:
            return problem("missing_path", "file", f"there is no file {span.file!r}{where}; correct the path")
        n_lines = len(split_lines(text))
        if span.end_line > n_lines:
            message = f"ends at line {span.end_line}, but {span.file} has {n_lines} lines{where}; correct the lines"
            return problem("missing_lines", "end_line", message)
        return self._part(span, text, problem)

    def _expected(self, topic: Topic, truth: Truth) -> str:
        """Return the lines that the label meant, "" if nobody recorded them."""
        if truth.span.whole_file:
            return ""
        if truth.text or self.old_texts is None:
            return truth.text
        before = self.old_texts(topic.repo, topic.commit, truth.span.file)
        return lines_of(before, truth.span) if before is not None else ""

    def _moved(self, topic: Topic, span: Span, expected: str, problem: Callable[..., Problem]) -> Problem:
        here = f"{span.file}:{span.start_line}-{span.end_line}"
        found = self._places(topic, span, expected)
        if len(found) == 1:
            to = f"{found[0].file}:{found[0].start_line}-{found[0].end_line}"
            return problem("moved", "start_line", f"the labelled lines are no longer {here}, but {to}", found[0])
        said = f"{len(found)} places hold them" if found else "they are nowhere"
        return problem("lost", "text", f"the labelled lines are no longer {here}; {said}: label the topic again")

    def _places(self, topic: Topic, span: Span, expected: str) -> list[Span]:
        """Return where the lines are now: in their own file, else in files of the same name, else anywhere."""
        own = self.texts(topic.repo, topic.commit, span.file)
        if own is not None and (found := _occurrences(span.file, own, expected)):
            return found
        others = [path for path in (self.paths(topic.repo, topic.commit) if self.paths else ()) if path != span.file]
        name = span.file.rpartition("/")[2]
        for same_name in (True, False):
            found = []
            for path in others:
                if (path.rpartition("/")[2] == name) == same_name and path.rpartition(".")[2] == name.rpartition(".")[
                    2
                ]:
                    found += _occurrences(path, self.texts(topic.repo, topic.commit, path) or "", expected)
            if found:
                return found
        return []

    def _part(self, span: Span, text: str, problem: Callable[..., Problem]) -> Problem | None:
        key = (span.file, text)
        if key not in self.symbols_by_text:
            self.symbols_by_text[key] = symbols_of(span.file, text)
        cut = cut_unit(span, text, self.symbols_by_text[key])
        if cut is None:
            return None
        message = (
            f"lines {span.start_line}-{span.end_line} hold only a part of {cut.kind} {cut.name} "
            f"({cut.whole.start_line}-{cut.whole.end_line}); label whole units"
        )
        return problem("part_of_unit", "end_line", message, cut.whole)


def _all_truths(topic: Topic) -> Iterator[tuple[str, Truth]]:
    for number, truth in enumerate(topic.truths):
        yield f"truths[{number}]", truth


def _normal(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _same(one: str, other: str) -> bool:
    return _normal(one) == _normal(other)


def _occurrences(file: str, text: str, expected: str) -> list[Span]:
    lines, wanted = _normal(text), _normal(expected)
    if not any(wanted):
        return []
    first = wanted[0]
    return [
        Span(file, at + 1, at + len(wanted))
        for at, line in enumerate(lines)
        if line == first and lines[at : at + len(wanted)] == wanted
    ]


def fixed(topics: Sequence[Topic], problems: Sequence[Problem]) -> tuple[list[Topic], int]:
    """Return the topics with moved spans at their places and ``leak`` labels set, and how many problems that settles.

    What a topic waives is left as it is.
    """
    by_topic: Mapping[int, list[Problem]] = defaultdict(list)
    for problem in problems:
        if problem.kind in ("moved", "leak") and not problem.waived:
            by_topic[problem.at].append(problem)
    changed = [_remedied(topic, by_topic.get(at, ())) for at, topic in enumerate(topics)]
    return changed, sum(map(len, by_topic.values()))


def _remedied(topic: Topic, problems: Sequence[Problem]) -> Topic:
    truths = list(topic.truths)
    for problem in problems:
        if problem.span is not None:
            number = int(problem.field.removeprefix("truths[").partition("]")[0])
            truths[number] = _moved_to(truths[number], problem.span)
    topic = replace(topic, truths=tuple(truths))
    if not topic.truths or "leak" in _waived(topic):
        return topic
    return replace(topic, labels={**topic.labels, LEAK: leak_of(topic)})


def _moved_to(truth: Truth, span: Span) -> Truth:
    shift = span.start_line - truth.span.start_line
    core = (truth.core[0] + shift, truth.core[1] + shift) if truth.core else None
    return replace(truth, span=span, core=core)


def recorded(topics: Sequence[Topic], texts: Texts) -> list[Topic]:
    """Return the topics with the lines of each span in ``text``, so that they can be found again in moved code."""

    def with_text(topic: Topic, truth: Truth) -> Truth:
        text = None if truth.span.whole_file else texts(topic.repo, topic.commit, truth.span.file)
        return truth if text is None else replace(truth, text=lines_of(text, truth.span))

    return [replace(topic, truths=tuple(with_text(topic, truth) for truth in topic.truths)) for topic in topics]
