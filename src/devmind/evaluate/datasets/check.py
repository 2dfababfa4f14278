"""A dataset and the code it labels → problems, each with its topic, field and, where there is one, a remedy.

Reads code through a resolver and changes nothing; :func:`fixed` applies the remedies.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import PurePosixPath

from devmind.errors import UsageError
from devmind.evaluate.anchor import Anchor, Reanchored, locate, placed_at, reanchor
from devmind.evaluate.datasets.faults import FATAL, faults, truth_faults
from devmind.evaluate.datasets.formats import Texts, lines_of
from devmind.evaluate.datasets.leak import leak_of
from devmind.evaluate.datasets.near import SAME, SAME_WITH_COMMON_TRUTH, near_pairs
from devmind.evaluate.datasets.units import cut_unit, symbols_of, trimmed
from devmind.evaluate.haystack import Haystack
from devmind.evaluate.types import Annotation, Span, Topic, Truth
from devmind.types import Symbol, split_lines

WAIVE = "waive"  # the label that lists, with commas, the kinds of problems that a person has accepted for a topic
LEAK = "leak"
Files = Callable[[str, str, str], Mapping[str, str]]  # repository, commit, suffix → the texts of those files by path
_SHOWN_QUERY = 60
# A definition that kept its name is the same one even if most of it was rewritten; below this, only the name is.
_MIN_OF_THAT_NAME = 0.4
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one field of one topic.

    Attributes:
        kind: stable code: empty_id, empty_query, bad_path, bad_lines, reversed_span, core_outside, duplicate_id,
            trap_with_truths, no_truth, near_duplicate, leak, no_source, missing_path, missing_lines, part_of_unit,
            moved (the labelled lines stand elsewhere), changed (only lines like them do), lost (none do).
        at: position of the topic in the sequence that was checked, from 0.
        span: where the label belongs (moved, changed) or what the whole unit is (part_of_unit).
        remedy: the truth to put in place of the one that ``field`` names.
        waived: the topic's label ``waive`` accepts this kind.
    """

    kind: str
    topic_id: str
    field: str
    message: str
    at: int
    span: Span | None = None
    remedy: Truth | None = None
    waived: bool = False


def check(
    topics: Sequence[Topic],
    texts: Texts | None = None,
    *,
    files: Files | None = None,
    old_texts: Texts | None = None,
) -> list[Problem]:
    """Return all problems, in the order of the topics.

    Args:
        texts: the code; without it, only what the topics say by themselves is checked. It may raise ``UsageError``
            with code ``no_source`` for a repository that is not at hand.
        files: all files of a repository, to find labels whose code went to another file.
        old_texts: the code at the topics' own commits, when ``texts`` reads another one: what a label held there is
            looked for here. Without it, only labels with recorded text are compared.
    """
    found = [problem for at, topic in enumerate(topics) for problem in _alone(at, topic)]
    found += [*_repeated_ids(topics), *_near_duplicates(topics)]
    if texts is not None:
        code = _Code(texts, files, old_texts)
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

    def __init__(self, texts: Texts, files: Files | None, old_texts: Texts | None) -> None:
        self.texts, self.files, self.old_texts = texts, files, old_texts
        self.symbols_by_text: dict[tuple[str, str], Sequence[Symbol]] = {}
        self.haystacks: dict[tuple[str, str, str], Haystack] = {}
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

        def problem(kind: str, key: str, message: str, span: Span | None = None) -> Problem:
            return Problem(kind, topic.topic_id, f"{field}.{key}", message, at, span)

        if expected and (text is None or not _same(lines_of(text, span), expected)):
            return self._moved(topic, truth, expected, problem)
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

    def _moved(self, topic: Topic, truth: Truth, expected: str, problem: Callable[..., Problem]) -> Problem:
        here = _place(truth.span)
        found, n_places = self._found(topic, truth, expected)
        if found is None or found.method == "fuzzy":
            found, n_places = (self._of_that_name(topic, truth, expected) or found), 1
        if found is None or n_places > 1:
            said = f"{n_places} places hold them" if n_places > 1 else "nothing is like them"
            return problem("lost", "text", f"the labelled lines are no longer {here}; {said}: label the topic again")
        to = _place(found.truth.span)
        if found.method == "fuzzy":
            message = (
                f"the code of {here} changed; most like it ({found.similarity:.3f}) is {to}: read it, then label it"
            )
            return replace(problem("changed", "text", message, found.truth.span), remedy=found.truth)
        message = f"the labelled lines are no longer {here}, but {to}"
        return replace(problem("moved", "start_line", message, found.truth.span), remedy=found.truth)

    def _found(self, topic: Topic, truth: Truth, expected: str) -> tuple[Reanchored | None, int]:
        """Return where the lines are now, and how many places of other files hold them as well."""
        file = truth.span.file
        own = self.texts(topic.repo, topic.commit, file)
        near = reanchor(truth, Haystack({file: own}), labelled=expected) if own is not None else None
        if self.files is None or (near is not None and near.method != "fuzzy"):
            return near, 1
        everywhere = self._everywhere(topic, PurePosixPath(file).suffix, self.files)
        found = reanchor(truth, everywhere, labelled=expected) if everywhere.files else None
        if found is None or found.method == "fuzzy" or found.truth.span.file == file:
            return found, 1
        anchor = locate(expected, everywhere)
        return found, anchor.n_places if anchor else 1

    def _of_that_name(self, topic: Topic, truth: Truth, expected: str) -> Reanchored | None:
        """Return the definition that has the truth's name now, if it is one alone and still something like it.

        Lines that are nearly the same end where the likeness does; a definition is a whole unit.
        """
        text = self.texts(topic.repo, topic.commit, truth.span.file)
        if text is None or not truth.symbol:
            return None
        lines = split_lines(text)
        named = [s for s in self._symbols(truth.span.file, text) if s.qualified_name == truth.symbol]
        if len(named) != 1:
            return None
        start, end = trimmed(lines, named[0].start_line, named[0].end_line)
        words, now = _WORDS.findall(expected), _WORDS.findall("\n".join(lines[start - 1 : end]))
        similarity = SequenceMatcher(None, words, now, autojunk=False).ratio()
        if similarity < _MIN_OF_THAT_NAME:
            return None
        anchor = Anchor(Span(truth.span.file, start, end), "fuzzy", similarity, 1)
        return placed_at(truth, expected, Haystack({truth.span.file: text}), anchor)

    def _symbols(self, file: str, text: str) -> Sequence[Symbol]:
        key = (file, text)
        if key not in self.symbols_by_text:
            self.symbols_by_text[key] = symbols_of(file, text)
        return self.symbols_by_text[key]

    def _everywhere(self, topic: Topic, suffix: str, files: Files) -> Haystack:
        key = (topic.repo, topic.commit, suffix)
        if key not in self.haystacks:
            self.haystacks[key] = Haystack(files(*key))
        return self.haystacks[key]

    def _part(self, span: Span, text: str, problem: Callable[..., Problem]) -> Problem | None:
        cut = cut_unit(span, text, self._symbols(span.file, text))
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


def _place(span: Span) -> str:
    return f"{span.file}:{span.start_line}-{span.end_line}"


def fixed(
    topics: Sequence[Topic], problems: Sequence[Problem], *, with_changed: bool = False
) -> tuple[list[Topic], int]:
    """Return the topics with moved labels at their places and ``leak`` labels set, and how many problems that settles.

    What a topic waives is left as it is.

    Args:
        with_changed: also follow labels whose code changed to the lines most like it.
    """
    kinds = {"moved", "leak"} | ({"changed"} if with_changed else set())
    by_topic: Mapping[int, list[Problem]] = defaultdict(list)
    for problem in problems:
        if problem.kind in kinds and not problem.waived:
            by_topic[problem.at].append(problem)
    changed = [_remedied(topic, by_topic.get(at, ())) for at, topic in enumerate(topics)]
    return changed, sum(map(len, by_topic.values()))


def followed(
    topics: Sequence[Topic],
    problems: Sequence[Problem],
    commit_of: Callable[[str, str], str],
    *,
    with_changed: bool = False,
) -> tuple[list[Topic], int]:
    """Do as :func:`fixed`, and move each topic whose labels all hold there to the commit that was checked.

    A topic with a label that could not be followed keeps all its labels and its commit: they belong together.

    Args:
        commit_of: the commit that was checked, by repository and the topic's own commit; "" if there is none.
    """
    stuck_kinds = {"lost", "missing_path", "missing_lines"} | (set() if with_changed else {"changed"})
    absent = {topics[problem.at].repo for problem in problems if problem.kind == "no_source"}
    stuck = {problem.at for problem in problems if problem.kind in stuck_kinds}
    stuck |= {at for at, topic in enumerate(topics) if topic.repo in absent or not topic.truths}
    free = [problem for problem in problems if problem.kind == "leak" or problem.at not in stuck]
    changed, n_fixed = fixed(topics, free, with_changed=with_changed)
    moved = [
        topic if at in stuck else replace(topic, commit=commit_of(topic.repo, topic.commit) or topic.commit)
        for at, topic in enumerate(changed)
    ]
    return moved, n_fixed


def _remedied(topic: Topic, problems: Sequence[Problem]) -> Topic:
    truths = list(topic.truths)
    moves: dict[Span, Span] = {}
    for problem in problems:
        if problem.remedy is not None:
            number = int(problem.field.removeprefix("truths[").partition("]")[0])
            moves[truths[number].span] = problem.remedy.span
            truths[number] = problem.remedy
    annotations = tuple(_moved_along(annotation, moves) for annotation in topic.annotations)
    topic = replace(topic, truths=tuple(truths), annotations=annotations)
    if not topic.truths or "leak" in _waived(topic):
        return topic
    return replace(topic, labels={**topic.labels, LEAK: leak_of(topic)})


def _moved_along(annotation: Annotation, moves: Mapping[Span, Span]) -> Annotation:
    """Move what an annotator marked to where a truth of the same lines went; what nobody kept stays where it was."""

    def moved(truth: Truth) -> Truth:
        span = moves.get(truth.span, truth.span)
        return truth if span == truth.span else replace(truth, span=span, core=None)

    return replace(annotation, truths=tuple(map(moved, annotation.truths)))


def recorded(topics: Sequence[Topic], texts: Texts) -> list[Topic]:
    """Return the topics with the lines of each span in ``text``, so that they can be found again in moved code."""

    def with_text(topic: Topic, truth: Truth) -> Truth:
        text = None if truth.span.whole_file else texts(topic.repo, topic.commit, truth.span.file)
        return truth if text is None else replace(truth, text=lines_of(text, truth.span))

    return [replace(topic, truths=tuple(with_text(topic, truth) for truth in topic.truths)) for topic in topics]
