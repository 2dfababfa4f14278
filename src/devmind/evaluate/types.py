"""The values that evaluation speaks: topics with their truths, what a system responded, one run of a system.

Nothing here does I/O. Lines are 1-based and inclusive; ranks start at 1; a path is relative to its repository's root,
with ``/``. A measure that is not defined for a topic is None, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Grade = Literal["strong", "weak"]
Outcome = Literal["scored", "missing", "failed", "trap", "no_truth"]
GAIN: Mapping[Grade, int] = {"strong": 2, "weak": 1}  # for graded measures; binary ones count every truth as 1
OnStep = Callable[[int, int], None]  # steps done, steps in all
OnPhase = Callable[[str, int, int], None]  # phase, steps done, steps in all

TRAP = "trap"  # the category of topics about things that do not exist


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a file. ``start_line`` 0 and ``end_line`` 0 stand for the whole file (length unknown)."""

    file: str
    start_line: int = 0
    end_line: int = 0

    @property
    def whole_file(self) -> bool:
        return self.start_line == 0 and self.end_line == 0


@dataclass(frozen=True, slots=True)
class Truth:
    """A span that answers a topic. ``core``: the lines inside it that matter most, if known (start, end).

    ``role`` says what the span is in a chain (component, api, route, handler, service, …), for multi-hop topics.
    """

    span: Span
    grade: Grade = "strong"
    symbol: str = ""
    core: tuple[int, int] | None = None
    text: str = ""  # the span's lines when it was labelled, to find it again in moved code; may be empty
    role: str = ""


@dataclass(frozen=True, slots=True)
class Annotation:
    """What one annotator said about one topic: its truths, independently of others."""

    annotator: str
    truths: tuple[Truth, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Topic:
    """An evaluation query. No truths and category ``trap`` means: the right response is to abstain.

    ``labels`` are free (query_lang, source, leak stratum, split, …); reports can group by any of them. ``provenance``
    says how a generated topic came about; ``status`` is what a person decided about it.
    """

    topic_id: str
    query: str
    category: str = ""
    truths: tuple[Truth, ...] = ()
    repo: str = ""
    commit: str = ""
    language: str = ""
    reference_answer: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: tuple[Annotation, ...] = ()
    resolution: str = ""  # how conflicting annotations were settled, by whom
    provenance: Mapping[str, str] = field(default_factory=dict)
    status: Literal["accepted", "rejected", "pending"] = "accepted"

    @property
    def is_trap(self) -> bool:
        return not self.truths and self.category == TRAP


@dataclass(frozen=True, slots=True)
class Dataset:
    """Topics in file order with unique ids. ``content_hash`` covers every topic, not the name."""

    name: str
    topics: tuple[Topic, ...]
    content_hash: str


@dataclass(frozen=True, slots=True)
class Retrieved:
    """One hit as a target returned it. ``span`` is None while text without lines is not aligned to the commit.

    ``file`` is the path or document name that the target gave with text that has no lines; else it is the span's.
    """

    span: Span | None
    text: str = ""
    score: float | None = None
    symbol: str = ""
    why: Mapping[str, float] = field(default_factory=dict)
    file: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A target could not respond. ``kind`` is a stable code: timeout, http_500, not_json, truncated, refused, …"""

    kind: str
    message: str
    n_tries: int = 1


@dataclass(frozen=True, slots=True)
class Response:
    """What a target said to one topic: hits best first, an answer if it gives one, or the failure.

    ``answer`` is None for a target that only retrieves. ``confidence`` is the target's own, if it gives one.
    ``dropped`` says which parts of what the target returned could not be used, and why. ``notes`` are stable codes of
    what a reader of the figures must know, such as ``query_truncated``. ``spent`` counts calls of models and their
    tokens, where the target tells.
    """

    topic_id: str
    hits: tuple[Retrieved, ...] = ()
    answer: str | None = None
    cited: tuple[Span, ...] = ()
    abstained: bool = False
    confidence: float | None = None
    seconds: float = 0.0
    failure: Failure | None = None
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    spent: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """One system's responses over a dataset. A topic without a response scores 0 and is counted as missing.

    ``provenance``: versions, settings, commit, dataset hash, date: all that is needed to make the run again.
    """

    system: str
    dataset: str
    responses: Mapping[str, Response]
    k: int
    provenance: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicScore:
    """The measures of one topic by name (``Recall@10``, …); None where a measure is not defined for it."""

    topic_id: str
    measures: Mapping[str, float | None]
    outcome: Outcome
    repo: str = ""  # the topic's, because topics of one repository are not independent of each other


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over ``n`` topics with its 95 % interval; None where nothing was defined."""

    mean: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Scores:
    """All measures of one run: overall (macro over topics) and by every value of every grouping."""

    system: str
    overall: Mapping[str, Estimate]
    groups: Mapping[str, Mapping[str, Mapping[str, Estimate]]]  # grouping → value → measure → estimate
    topics: Sequence[TopicScore]
    n_missing: int
    n_failed: int
    match: str = "overlap"  # the rule by which hits found truths
    dataset_hash: str = ""
    confidence_auroc: float | None = None  # how well confidence tells topics with an answer from traps


@dataclass(frozen=True, slots=True)
class Difference:
    """Candidate minus baseline in one measure, paired by topic. A win is a topic where the candidate is better.

    ``p`` is two-sided; ``p_holm`` is adjusted for all measures compared together. ``by_topic`` holds the topics where
    the measure is defined in both.
    """

    measure: str
    baseline: float | None
    candidate: float | None
    estimate: Estimate
    p: float | None
    p_holm: float | None
    effect_size: float | None
    n_wins: int
    n_losses: int
    n_ties: int
    by_topic: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs over one dataset, measure by measure, in the order that was asked for."""

    baseline: str
    candidate: str
    differences: Mapping[str, Difference]
