"""Topics with answers → grades of a judge, repeated with swapped positions; or which of two runs answered better.

A repeat that gives no verdict is a `Null`, is counted, and the others go on. A topic that has no verdict at all has no
grade.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from devmind.evaluate.answers.chat import ChatModel, Question, Reply
from devmind.evaluate.answers.ledger import Kept
from devmind.evaluate.answers.nulls import Null
from devmind.evaluate.answers.replies import Object, one_of, read_object, whole_number
from devmind.evaluate.answers.rubric import CRITERIA, HIGHEST, LOWEST, Messages, grading, preferring, words_for
from devmind.evaluate.types import OnStep

Grades = Mapping[str, int]  # by criterion
Choice = Literal["first", "second", "tie"]
Preference = Literal["ours", "theirs", "tie"]
_CHOICES: Final[tuple[Choice, ...]] = ("first", "second", "tie")


@dataclass(frozen=True, slots=True)
class Graded:
    """What is to be graded. ``basis`` is the reference answer, or code where ``refers`` is false."""

    topic_id: str
    question: str
    answer: str
    basis: str
    refers: bool = True


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts on one answer, in the order of the repeats."""

    topic_id: str
    repeats: tuple[Grades | Null, ...]

    @property
    def grades(self) -> tuple[Grades, ...]:
        return tuple(grades for grades in self.repeats if not isinstance(grades, Null))

    def mean(self, criterion: str) -> float | None:
        """Return the mean over the repeats that gave a verdict."""
        known = [grades[criterion] for grades in self.grades]
        return sum(known) / len(known) if known else None


@dataclass(frozen=True, slots=True)
class Compared:
    """Two answers to one question: ``ours`` of the run under measurement, ``theirs`` of the other."""

    topic_id: str
    question: str
    ours: str
    theirs: str
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Duel:
    """The choices on one pair, two for each repeat: ours first, then theirs first."""

    topic_id: str
    choices: tuple[Choice | Null, ...]

    @property
    def rounds(self) -> tuple[Preference | Null, ...]:
        """Return the preference of each repeat: what holds in both positions, else a tie."""
        return tuple(_settled(*self.choices[at : at + 2]) for at in range(0, len(self.choices), 2))

    @property
    def preference(self) -> Preference | None:
        """Return what most repeats say; a tie where none has more; None without a verdict."""
        known = [found for found in self.rounds if not isinstance(found, Null)]
        if not known:
            return None
        margin = known.count("ours") - known.count("theirs")
        return "ours" if margin > 0 else "theirs" if margin < 0 else "tie"


def judge(items: Sequence[Graded], model: ChatModel, progress: OnStep | None = None) -> list[Judgement]:
    """Return the judgement of each item, in order; every second repeat shows answer and basis in swapped positions."""
    n = model.config.repeats
    questions = [
        Question(_grading(item, model.config.language, number), number) for item in items for number in range(n)
    ]
    replies = model.ask_all(questions, progress)
    verdicts = [_grades(reply, items[at // n]) for at, reply in enumerate(replies)]
    return [Judgement(item.topic_id, tuple(verdicts[at * n : at * n + n])) for at, item in enumerate(items)]


def compare_pairs(items: Sequence[Compared], model: ChatModel, progress: OnStep | None = None) -> list[Duel]:
    """Return the duel of each item, in order; each repeat is asked in both positions."""
    n = 2 * model.config.repeats
    questions = [
        Question(_preferring(item, model.config.language, swapped=number % 2 == 1), number // 2)
        for item in items
        for number in range(n)
    ]
    replies = model.ask_all(questions, progress)
    choices = [_choice(reply, items[at // n]) for at, reply in enumerate(replies)]
    return [Duel(item.topic_id, tuple(choices[at * n : at * n + n])) for at, item in enumerate(items)]


def _grading(item: Graded, language: str, number: int) -> Callable[[str], Messages]:
    words = words_for(language, item.question)
    return lambda fence: grading(
        words,
        fence,
        question=item.question,
        answer=item.answer,
        basis=item.basis,
        refers=item.refers,
        swapped=number % 2 == 1,
    )


def _preferring(item: Compared, language: str, *, swapped: bool) -> Callable[[str], Messages]:
    words = words_for(language, item.question)
    first, second = (item.theirs, item.ours) if swapped else (item.ours, item.theirs)
    return lambda fence: preferring(
        words, fence, question=item.question, first=first, second=second, reference=item.reference
    )


def _grades(reply: Reply, item: Graded) -> Grades | Null:
    found = _object(reply, CRITERIA, judged=(item.answer, item.basis, item.question))
    if isinstance(found, Null):
        return found
    grades: dict[str, int] = {}
    for criterion in CRITERIA:
        grade = whole_number(found[criterion], LOWEST, HIGHEST)
        if isinstance(grade, Null):
            return Null(grade.kind, f"{criterion}: {grade.message}")
        grades[criterion] = grade
    return grades


def _choice(reply: Reply, item: Compared) -> Choice | Null:
    found = _object(reply, ("better",), judged=(item.ours, item.theirs, item.reference, item.question))
    if isinstance(found, Null):
        return found
    word = one_of(found["better"], _CHOICES)
    return word if isinstance(word, Null) else next(choice for choice in _CHOICES if choice == word)


def _object(reply: Reply, keys: Sequence[str], *, judged: Sequence[str]) -> Object | Null:
    return read_object(reply, keys, judged=judged) if isinstance(reply, Kept) else reply


def _settled(ours_first: Choice | Null, theirs_first: Choice | Null) -> Preference | Null:
    if isinstance(ours_first, Null):
        return ours_first
    if isinstance(theirs_first, Null):
        return theirs_first
    if (ours_first, theirs_first) == ("first", "second"):
        return "ours"
    return "theirs" if (ours_first, theirs_first) == ("second", "first") else "tie"
