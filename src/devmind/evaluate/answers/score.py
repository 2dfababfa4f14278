"""A dataset and a run with answers → how good the answers are, topic by topic and as means with intervals.

A null stays a null: what could not be measured is left out of its mean and counted by kind. Topics that the system
failed on, refused or left out have no cosines, no grades and no statements; they are counted, and cite no truth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from devmind.embed.types import Embedder
from devmind.errors import UsageError
from devmind.evaluate.answers.chat import ChatModel
from devmind.evaluate.answers.citations import PRECISION, RECALL, RESOLVED, citation_measures
from devmind.evaluate.answers.cosines import COSINES, Cosines, place
from devmind.evaluate.answers.entailment import Claims, Entailer, Finding, contradicted, faithfulness
from devmind.evaluate.answers.human import Acceptability, HumanLabel, acceptability, current, grades_by_person
from devmind.evaluate.answers.judge import Compared, Duel, Graded, Judgement, compare_pairs, judge
from devmind.evaluate.answers.material import Material, answer_to, gather
from devmind.evaluate.answers.nulls import Null, by_kind
from devmind.evaluate.answers.raters import Duels, duels, repeat_agreement, with_people
from devmind.evaluate.answers.results import AnswerScore, AnswerScores, Statement
from devmind.evaluate.answers.rubric import CRITERIA
from devmind.evaluate.answers.scenarios import Calibration, calibrate, is_forced, scenario
from devmind.evaluate.answers.statements import statements
from devmind.evaluate.checked import checked_dataset
from devmind.evaluate.datasets.formats import Texts as Code
from devmind.evaluate.statistics import SEED, estimate
from devmind.evaluate.types import Dataset, Estimate, OnPhase, OnStep, Run

FAITHFULNESS: Final = "faithfulness"
CONTRADICTED: Final = "contradicted"
ACCEPTABLE: Final = "acceptable"
JUDGE: Final = "judge "  # before the name of a criterion
MEASURES: Final = (
    *COSINES,
    PRECISION,
    RECALL,
    RESOLVED,
    FAITHFULNESS,
    CONTRADICTED,
    *(f"{JUDGE}{name}" for name in CRITERIA),
    ACCEPTABLE,
)


@dataclass(frozen=True, slots=True)
class Instruments:
    """What answers are measured with; what is None is not measured.

    Attributes:
        code: Repository, commit and path → text, to read what is cited. Without it only cited lines that a hit shows
            are known.
        labels: What people said.
        other: A second run, to be compared pair by pair by the judge.
    """

    embedder: Embedder
    judge: ChatModel | None = None
    entailer: Entailer | None = None
    code: Code | None = None
    labels: Sequence[HumanLabel] = ()
    other: Run | None = None


@dataclass(frozen=True, slots=True)
class _Verdicts:
    """What the instruments said, by topic."""

    judgements: Mapping[str, Judgement]
    duels: Mapping[str, Duel]
    statements: Mapping[str, tuple[Statement, ...]]
    accepted: Acceptability | None


def score_answers(
    dataset: Dataset,
    run: Run,
    instruments: Instruments,
    *,
    match: str = "overlap",
    seed: int = SEED,
    progress: OnPhase | None = None,
) -> AnswerScores:
    """Return the quality of the answers of ``run``.

    Args:
        match: The rule by which a cited span finds a truth; see `devmind.evaluate.alignment`.
        seed: Of the shuffled pairs that set the thresholds.
        progress: Called in this thread with the stage, the calls done and all of its calls.

    Raises:
        UsageError: The dataset is unsound, the run has no answer to any of its topics, or a label is of no topic.
        UpstreamError: A remote embedder failed. A judge that fails is a null.
    """
    checked_dataset(dataset)
    material = gather(dataset, run, instruments.code)
    labels, n_stale = current(instruments.labels, dataset, run)
    placed = place([item.texts for item in material], instruments.embedder)
    calibration = calibrate(dataset.topics, placed, seed=seed)
    verdicts = _Verdicts(
        judgements=_judged(material, instruments, _stage(progress, "judge")),
        duels=_compared(material, instruments, _stage(progress, "pairwise")),
        statements=_checked(material, instruments, _stage(progress, "entailment")),
        accepted=acceptability(labels),
    )
    scores = [
        _score(item, cosines, calibration=calibration, verdicts=verdicts, match=match)
        for item, cosines in zip(material, placed.cosines(), strict=True)
    ]
    judgements = list(verdicts.judgements.values())
    return AnswerScores(
        system=run.system,
        dataset=dataset.name,
        dataset_hash=dataset.content_hash,
        embedder=instruments.embedder.name,
        judge=instruments.judge.config.model if instruments.judge else "",
        entailer=instruments.entailer.name if instruments.entailer else "",
        outcomes=dict(Counter(item.outcome for item in material).most_common()),
        measures=_estimates(scores),
        calibration=calibration,
        scenarios=dict(sorted(Counter(s.scenario for s in scores if s.scenario is not None).items())),
        n_forced=sum(score.forced for score in scores),
        topics=scores,
        nulls=_nulls(verdicts),
        repeats=repeat_agreement(judgements) if any(len(item.repeats) > 1 for item in judgements) else {},
        people=with_people(judgements, grades_by_person(labels), judge="judge") if judgements else {},
        acceptability=verdicts.accepted,
        n_stale=n_stale,
        other=instruments.other.system if instruments.other else "",
        duels=_duels(material, verdicts.duels),
    )


def _judged(material: Sequence[Material], instruments: Instruments, progress: OnStep | None) -> dict[str, Judgement]:
    """Judge answers by their reference, or by what was retrieved where there is none."""
    if instruments.judge is None:
        return {}
    items = []
    for item in material:
        texts, topic = item.texts, item.topic
        refers = bool(texts.reference.strip())
        basis = texts.reference if refers else texts.retrieved
        if texts.answer and basis.strip():
            items.append(Graded(topic.topic_id, topic.query, texts.answer, basis, refers))
    return {found.topic_id: found for found in judge(items, instruments.judge, progress)}


def _compared(material: Sequence[Material], instruments: Instruments, progress: OnStep | None) -> dict[str, Duel]:
    """Compare where both runs answered."""
    other = instruments.other
    if other is None:
        return {}
    if instruments.judge is None:
        raise UsageError("comparing answers pair by pair needs a judge: give its configuration", code="no_judge")
    items = [
        Compared(item.topic.topic_id, item.topic.query, item.texts.answer, theirs, item.texts.reference)
        for item in material
        if item.texts.answer and (theirs := answer_to(item.topic, other))
    ]
    if not items:
        raise UsageError(f"no topic was answered by both this run and the run of {other.system!r}", code="no_pairs")
    return {found.topic_id: found for found in compare_pairs(items, instruments.judge, progress)}


def _checked(
    material: Sequence[Material], instruments: Instruments, progress: OnStep | None
) -> dict[str, tuple[Statement, ...]]:
    """Check each answer's statements against what it cites; an answer that cites nothing supports nothing it states."""
    if instruments.entailer is None:
        return {}
    items = []
    found: dict[str, tuple[Statement, ...]] = {}
    for item in material:
        stated = tuple(statements(item.texts.answer))
        passages = tuple(cited.text or "" for cited in item.cited)
        if not stated:
            continue
        if any(passage.strip() for passage in passages):
            items.append(Claims(item.topic.topic_id, item.topic.query, stated, passages))
        else:
            unread = Null("no_text", "the lines that the answer cites are not at hand")
            finding = unread if item.cited else Finding("neutral")
            found[item.topic.topic_id] = tuple(Statement(text, finding) for text in stated)
    for claims, findings in zip(items, instruments.entailer.entail(items, progress), strict=True):
        found[claims.topic_id] = tuple(map(Statement, claims.statements, findings))
    return found


def _score(
    item: Material, cosines: Cosines, *, calibration: Calibration, verdicts: _Verdicts, match: str
) -> AnswerScore:
    topic_id = item.topic.topic_id
    stated = verdicts.statements.get(topic_id, ())
    judgement = verdicts.judgements.get(topic_id)
    return AnswerScore(
        topic_id=topic_id,
        repo=item.topic.repo,
        outcome=item.outcome,
        measures={
            **cosines.by_name(),
            **_citation_measures(item, stated, match),
            **_statement_measures(stated),
            **({f"{JUDGE}{name}": judgement.mean(name) for name in CRITERIA} if judgement else {}),
            **({ACCEPTABLE: verdicts.accepted.by_topic.get(topic_id)} if verdicts.accepted else {}),
        },
        cosines=cosines,
        scenario=scenario(cosines, calibration),
        forced=is_forced(cosines, calibration),
        statements=stated,
        judgement=judgement,
        duel=verdicts.duels.get(topic_id),
    )


def _citation_measures(item: Material, stated: Sequence[Statement], match: str) -> dict[str, float | None]:
    if not item.topic.truths:
        return {}
    known = [said.finding for said in stated if isinstance(said.finding, Finding)]
    supporting = {n for finding in known for n in finding.passages} if known else None
    return citation_measures(item.topic, item.cited, supporting=supporting, match=match)


def _statement_measures(stated: Sequence[Statement]) -> dict[str, float | None]:
    findings = [item.finding for item in stated]
    return {FAITHFULNESS: faithfulness(findings), CONTRADICTED: contradicted(findings)} if findings else {}


def _duels(material: Sequence[Material], found: Mapping[str, Duel]) -> Duels | None:
    repos = [item.topic.repo for item in material if item.topic.topic_id in found]
    return duels(list(found.values()), repos) if found else None


def _estimates(scores: Sequence[AnswerScore]) -> dict[str, Estimate]:
    measured = {name for score in scores for name in score.measures}
    names = [name for name in MEASURES if name in measured]
    repos = [score.repo for score in scores]
    return {name: estimate([score.measures.get(name) for score in scores], repos) for name in names}


def _nulls(verdicts: _Verdicts) -> dict[str, dict[str, int]]:
    found = {
        "judge": by_kind(repeat for item in verdicts.judgements.values() for repeat in item.repeats),
        "pairwise": by_kind(choice for duel in verdicts.duels.values() for choice in duel.choices),
        "entailment": by_kind(said.finding for stated in verdicts.statements.values() for said in stated),
    }
    return {name: kinds for name, kinds in found.items() if kinds}


def _stage(progress: OnPhase | None, name: str) -> OnStep | None:
    return None if progress is None else lambda n_done, n_all: progress(name, n_done, n_all)
