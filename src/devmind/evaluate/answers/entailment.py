"""Statements of answers × the text they cite → entailed, neutral or contradicted.

The seam is `Entailer`. Two stand behind it: a judge over a chat endpoint (here), and a natural-language-inference model
on this machine (`devmind.evaluate.answers.local_nli`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, get_args

from devmind.evaluate.answers.chat import ChatModel, Question, Reply
from devmind.evaluate.answers.ledger import Kept
from devmind.evaluate.answers.nulls import Null
from devmind.evaluate.answers.replies import one_of, read_object, whole_number
from devmind.evaluate.answers.rubric import Messages, entailing, words_for
from devmind.evaluate.types import OnStep

Label = Literal["entailed", "neutral", "contradicted"]
LABELS: Final[tuple[Label, ...]] = get_args(Label)
# One reply lists this many verdicts; a model that has to list more begins to skip some.
STATEMENTS_A_CALL: Final = 15


@dataclass(frozen=True, slots=True)
class Claims:
    """What one answer states and what it cites. ``question`` gives the language of the judge's rubric."""

    topic_id: str
    question: str
    statements: tuple[str, ...]
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What the passages say to a statement. ``passages``: which of them entail it, numbered from 0."""

    label: Label
    passages: tuple[int, ...] = ()


class Entailer(Protocol):
    """Judges statements by passages, and by nothing else."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def entail(self, items: Sequence[Claims], progress: OnStep | None = None) -> list[list[Finding | Null]]:
        """Return for each item a finding, or why there is none, for each of its statements, in order."""
        ...


class JudgeEntailer:
    """Asks a chat model about all statements of an answer together."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return f"judge:{self._model.config.model}"

    def entail(self, items: Sequence[Claims], progress: OnStep | None = None) -> list[list[Finding | Null]]:
        """See `Entailer`."""
        calls = [(number, batch) for number, item in enumerate(items) for batch in _batches(item.statements)]
        language = self._model.config.language
        questions = [Question(_entailing(items[number], batch, language)) for number, batch in calls]
        found: list[list[Finding | Null]] = [[] for _ in items]
        for (number, batch), reply in zip(calls, self._model.ask_all(questions, progress), strict=True):
            found[number] += _findings(reply, batch, items[number].passages)
        return found


def faithfulness(findings: Sequence[Finding | Null]) -> float | None:
    """Return the share of the statements with a finding that are entailed; None without one."""
    return _share(findings, "entailed")


def contradicted(findings: Sequence[Finding | Null]) -> float | None:
    """Return the share of the statements with a finding that the cited text refutes; None without one."""
    return _share(findings, "contradicted")


def _share(findings: Sequence[Finding | Null], label: Label) -> float | None:
    known = [finding.label for finding in findings if not isinstance(finding, Null)]
    return known.count(label) / len(known) if known else None


def _batches(statements: Sequence[str]) -> list[Sequence[str]]:
    return [statements[at : at + STATEMENTS_A_CALL] for at in range(0, len(statements), STATEMENTS_A_CALL)]


def _entailing(item: Claims, statements: Sequence[str], language: str) -> Callable[[str], Messages]:
    words = words_for(language, item.question)
    return lambda fence: entailing(words, fence, passages=item.passages, statements=statements)


def _findings(reply: Reply, statements: Sequence[str], passages: Sequence[str]) -> list[Finding | Null]:
    """Return a finding for each statement; an entry that is missing or wrong is a null of its own."""
    n_statements = len(statements)
    judged = (*statements, *passages)
    found = read_object(reply, ("statements",), judged=judged) if isinstance(reply, Kept) else reply
    if not isinstance(found, Null) and not isinstance(found["statements"], list):
        found = Null("bad_value", "'statements' is no list")
    if isinstance(found, Null):
        return [found] * n_statements
    by_number: dict[int, Finding | Null] = {}
    for entry in found["statements"]:
        number = whole_number(entry.get("n"), 1, n_statements) if isinstance(entry, dict) else None
        if isinstance(number, int):
            twice = Null("ambiguous", f"statement {number} has two verdicts")
            by_number[number] = twice if number in by_number else _finding(entry, len(passages))
    missing = Null("missing_key", "the judge left the statement out")
    return [by_number.get(number, missing) for number in range(1, n_statements + 1)]


def _finding(entry: Mapping[str, Any], n_passages: int) -> Finding | Null:
    word = one_of(entry.get("label"), LABELS)
    if isinstance(word, Null):
        return word
    label = next(label for label in LABELS if label == word)
    named = entry.get("passages")
    numbers = [whole_number(n, 1, n_passages) for n in named] if isinstance(named, list) else []
    passages = tuple(dict.fromkeys(n - 1 for n in numbers if isinstance(n, int)))
    return Finding(label, passages if label == "entailed" else ())
