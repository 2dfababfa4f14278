"""Scores × a baseline and limits → a verdict that a build can act on; or an error, when nothing could be judged.

A drop is missed only when the whole interval of the difference lies below what is allowed: noise fails no build. And
nothing passes for want of evidence: no limits, no topics, an endpoint that was down, a measure that is not defined, or
a baseline of another dataset are errors, not passes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final, Literal

from devmind.errors import UpstreamError, UsageError
from devmind.evaluate.compare import compare
from devmind.evaluate.measures import lower_is_better
from devmind.evaluate.types import Comparison, Estimate, Scores

Kind = Literal["drop", "floor", "ceiling"]

# Failed topics score 0. A few are noise of a network; more say that the endpoint was down, not that quality fell.
MAX_LOST: Final = 0.05
_TIE: Final = 1e-12  # a difference that rounding alone makes
_MIN_TOPICS: Final = 2  # one topic has no interval, and no difference of it could ever be missed


@dataclass(frozen=True, slots=True)
class Limits:
    """What must hold.

    Attributes:
        allowed: by measure, how far its mean may fall below the baseline's (rise, where lower is better); 0 or more.
        floors: by measure, the lowest mean that passes.
        ceilings: by measure where lower is better, the highest mean that passes.
        max_lost: share of topics that may be missing or failed; with more, nothing is judged.
    """

    allowed: Mapping[str, float] = field(default_factory=dict)
    floors: Mapping[str, float] = field(default_factory=dict)
    ceilings: Mapping[str, float] = field(default_factory=dict)
    max_lost: float = MAX_LOST


@dataclass(frozen=True, slots=True)
class Check:
    """One limit and what was measured. ``estimate`` is of the difference for a drop, of the mean for the others."""

    kind: Kind
    measure: str
    limit: float
    passed: bool
    candidate: float
    estimate: Estimate
    baseline: float | None = None

    @property
    def message(self) -> str:
        """Say in one sentence what was measured and what is allowed."""
        if self.kind == "drop":
            drop = "rise" if lower_is_better(self.measure) else "drop"
            said = f"{_shown(self.baseline)} → {_shown(self.candidate)}, difference {_interval(self.estimate)}"
            return f"{self.measure}: {said}; allowed {drop} {self.limit:g}"
        return f"{self.measure}: {_interval(self.estimate)}; {self.kind} {self.limit:g}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """All limits, each passed or missed. ``comparison`` is None without a baseline."""

    checks: tuple[Check, ...]
    n_topics: int
    n_missing: int
    n_failed: int
    comparison: Comparison | None = None

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)


def judge(candidate: Scores, baseline: Scores | None, limits: Limits) -> Verdict:
    """Return the verdict over ``candidate``.

    Raises:
        UsageError: there are no limits, one names no measure, one has no sense, the baseline is missing or of another
            dataset or rule, or a measure is defined for too few topics.
        UpstreamError: more topics than ``max_lost`` are missing or failed.
    """
    _check_limits(candidate, baseline, limits)
    refuse_lost(candidate, limits.max_lost)
    comparison = compare(baseline, candidate, measures=list(limits.allowed)) if baseline and limits.allowed else None
    checks = [_drop(name, limit, comparison) for name, limit in limits.allowed.items()] if comparison else []
    checks += [_bound("floor", name, limit, candidate) for name, limit in limits.floors.items()]
    checks += [_bound("ceiling", name, limit, candidate) for name, limit in limits.ceilings.items()]
    if baseline is not None and comparison is not None:
        _refuse_thin(comparison, baseline, limits.max_lost)
    return Verdict(tuple(checks), len(candidate.topics), candidate.n_missing, candidate.n_failed, comparison)


def refuse_lost(scores: Scores, max_lost: float = MAX_LOST) -> None:
    """Refuse scores that are mostly of an endpoint that was down.

    Raises:
        UsageError: there is no topic.
        UpstreamError: more topics than ``max_lost`` are missing or failed, or all are.
    """
    n_topics = len(scores.topics)
    if not n_topics:
        raise UsageError(f"scores of {scores.system!r} are of no topic: nothing can be judged", code="no_topics")
    n_lost = scores.n_missing + scores.n_failed
    if n_lost == n_topics or n_lost > max_lost * n_topics + _TIE:
        raise UpstreamError(
            f"{n_lost} of {n_topics} topics of {scores.system!r} have no response ({scores.n_failed} failed, "
            f"{scores.n_missing} missing), more than {max_lost:.0%}: nothing is judged; run it again to ask those "
            "topics, or allow more with --max-lost",
            retryable=True,
            code="too_many_lost",
        )


def _check_limits(candidate: Scores, baseline: Scores | None, limits: Limits) -> None:
    if not (limits.allowed or limits.floors or limits.ceilings):
        raise UsageError(
            "no limits: say what must hold with --allow MEASURE=DROP, --floor MEASURE=VALUE or "
            "--ceiling MEASURE=VALUE; a gate without any would pass whatever was measured",
            code="no_limits",
        )
    if limits.allowed and baseline is None:
        raise UsageError("--allow compares with a baseline: name it with --baseline FILE", code="no_baseline")
    if not 0 <= limits.max_lost <= 1:
        raise UsageError(f"--max-lost is {limits.max_lost}; it is a share of the topics, from 0 to 1")
    for option, given in (("allow", limits.allowed), ("floor", limits.floors), ("ceiling", limits.ceilings)):
        for name, value in given.items():
            _check_measure(option, name, candidate)
            if not math.isfinite(value) or (option == "allow" and value < 0):
                wanted = "0 or more" if option == "allow" else "a finite number"
                raise UsageError(f"--{option} {name}={value:g}: must be {wanted}")
    for name in limits.floors:
        if lower_is_better(name):
            raise UsageError(f"--floor {name}: less of it is better; bound it from above with --ceiling")
    for name in limits.ceilings:
        if not lower_is_better(name):
            raise UsageError(f"--ceiling {name}: more of it is better; bound it from below with --floor")


def _check_measure(option: str, name: str, scores: Scores) -> None:
    if name in scores.overall:
        return
    near = get_close_matches(name, scores.overall, n=3, cutoff=0.4)
    hint = f"did you mean {', '.join(near)}?" if near else f"known are {', '.join(scores.overall)}"
    raise UsageError(f"--{option} {name!r}: there is no such measure of {scores.system!r}; {hint}", code="bad_measure")


def _drop(name: str, limit: float, comparison: Comparison) -> Check:
    found = comparison.differences[name]
    estimate = found.estimate
    if estimate.n < _MIN_TOPICS or estimate.low is None or estimate.high is None:
        raise UsageError(
            f"{name} is defined for {estimate.n} topics of both runs: a difference needs at least {_MIN_TOPICS}; "
            "choose another measure, or a larger dataset",
            code="too_few_topics",
        )
    best = -estimate.low if lower_is_better(name) else estimate.high  # the best that the interval leaves possible
    return Check(
        kind="drop",
        measure=name,
        limit=limit,
        passed=best >= -limit - _TIE,
        candidate=_known(found.candidate),
        estimate=estimate,
        baseline=found.baseline,
    )


def _bound(kind: Literal["floor", "ceiling"], name: str, limit: float, candidate: Scores) -> Check:
    estimate = candidate.overall[name]
    if estimate.mean is None:
        raise UsageError(f"{name} is defined for no topic of {candidate.system!r}: choose another measure for --{kind}")
    good = estimate.mean >= limit - _TIE if kind == "floor" else estimate.mean <= limit + _TIE
    return Check(kind, name, limit, good, estimate.mean, estimate)


def _refuse_thin(comparison: Comparison, baseline: Scores, max_lost: float) -> None:
    """A measure that is not defined for failed topics must not be judged by the few that are left."""
    for name, found in comparison.differences.items():
        n_before = baseline.overall[name].n
        if found.estimate.n < (1 - max_lost) * n_before - _TIE:
            raise UsageError(
                f"{name} can be compared for {found.estimate.n} topics only, of {n_before} in the baseline; "
                "run the missing ones, or allow more with --max-lost",
                code="too_few_topics",
            )


def _known(value: float | None) -> float:
    return math.nan if value is None else value


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return _shown(estimate.mean)
    return f"{_shown(estimate.mean)} [{_shown(estimate.low)}, {_shown(estimate.high)}]"


def _shown(value: float | None) -> str:
    """Return a share with four digits, to tell a near miss; a count of tokens without any."""
    if value is None:
        return "undefined"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.4f}"
