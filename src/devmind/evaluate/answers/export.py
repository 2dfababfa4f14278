"""The quality of a run's answers → a JSON object; nothing that was measured is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from devmind import __version__
from devmind.evaluate.agreement import Agreement
from devmind.evaluate.answers.entailment import Finding
from devmind.evaluate.answers.human import Acceptability
from devmind.evaluate.answers.judge import Duel, Judgement
from devmind.evaluate.answers.nulls import Null
from devmind.evaluate.answers.raters import Duels, ScaleAgreement
from devmind.evaluate.answers.results import AnswerScore, AnswerScores
from devmind.evaluate.answers.scenarios import MEANINGS, SCENARIOS, Calibration


def as_json(scores: AnswerScores) -> dict[str, Any]:
    """Return the object that ``devmind eval answers --json`` writes."""
    return {
        "system": scores.system,
        "dataset": scores.dataset,
        "dataset_hash": scores.dataset_hash,
        "devmind": __version__,
        "embedder": scores.embedder,
        "judge": scores.judge or None,
        "entailer": scores.entailer or None,
        "outcomes": dict(scores.outcomes),
        "measures": {name: asdict(estimate) for name, estimate in scores.measures.items()},
        "calibration": _calibration(scores.calibration),
        "scenarios": [
            {"scenario": name, "meaning": MEANINGS[name], "n": scores.scenarios.get(name, 0)} for name in SCENARIOS
        ],
        "n_without_scenario": sum(topic.scenario is None for topic in scores.topics),
        "n_forced": scores.n_forced,
        "nulls": {name: dict(kinds) for name, kinds in scores.nulls.items()},
        "repeat_agreement": _agreements(scores.repeats),
        "human_agreement": {name: _scale(found) for name, found in scores.people.items()},
        "acceptability": _acceptability(scores.acceptability),
        "n_stale_labels": scores.n_stale,
        "pairwise": _duels(scores.other, scores.duels) if scores.duels else None,
        "topics": [_topic(topic) for topic in scores.topics],
    }


def _calibration(found: Calibration) -> dict[str, Any]:
    return {
        "within": found.within,
        "percentile": found.percentile,
        "seed": found.seed,
        "correctness_floor": found.floor,
        "thresholds": [asdict(threshold) for threshold in found.thresholds.values()],
    }


def _topic(score: AnswerScore) -> dict[str, Any]:
    row: dict[str, Any] = {
        "topic_id": score.topic_id,
        "outcome": score.outcome,
        "scenario": score.scenario,
        "forced": score.forced,
        "measures": dict(score.measures),
    }
    if score.statements:
        row["statements"] = [{"text": said.text, **_finding(said.finding)} for said in score.statements]
    if score.judgement is not None:
        row["judge"] = _judgement(score.judgement)
    if score.duel is not None:
        row["pairwise"] = _duel(score.duel)
    return row


def _finding(finding: Finding | Null) -> dict[str, Any]:
    if isinstance(finding, Null):
        return {"label": None, **_null(finding)}
    return {"label": finding.label, "passages": list(finding.passages)}


def _judgement(found: Judgement) -> list[dict[str, Any]]:
    return [_null(grades) if isinstance(grades, Null) else dict(grades) for grades in found.repeats]


def _duel(found: Duel) -> dict[str, Any]:
    choices = [_null(choice) if isinstance(choice, Null) else choice for choice in found.choices]
    return {"preference": found.preference, "choices": choices}


def _null(null: Null) -> dict[str, str]:
    return {"null": null.kind, "message": null.message}


def _agreements(found: Mapping[str, Agreement]) -> dict[str, Any]:
    return {name: asdict(agreement) for name, agreement in found.items()}


def _scale(found: ScaleAgreement) -> dict[str, Any]:
    return {"alpha_ordinal": asdict(found.alpha), "pairs": [asdict(pair) for pair in found.pairs]}


def _acceptability(found: Acceptability | None) -> dict[str, Any] | None:
    return None if found is None else {"n_by_word": dict(found.n_by_word), "agreement": _scale(found.agreement)}


def _duels(other: str, found: Duels) -> dict[str, Any]:
    return {"other": other, **asdict(found)}
