"""Cases × a system that follows a moving repository → is what it answers what is there now, and after how long.

Each case: index commit A, move to B, ask; if wanted, go back to A and ask again. Asked are the case's question (how
well retrieval finds the new lines), and as probes the added lines together with the file's name, and the removed ones
likewise. Every hit is held against the bytes of the commit. That nothing was out of date proves little by itself: a
case is *proven* by a hit that is right at B and would be wrong at A. The removed lines are asked at A, too: a system
that never showed them proves nothing by not showing them at B.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from devmind.errors import DevMindError
from devmind.evaluate.alignment import cover, match_rule
from devmind.evaluate.datasets.sources import Sources
from devmind.evaluate.freshness.cases import Case, Histories
from devmind.evaluate.freshness.checks import Findings, TextOf, examine, shows, stands, vanished
from devmind.evaluate.freshness.systems import Follower, Move
from devmind.evaluate.measures import depth
from devmind.evaluate.score import score_topic
from devmind.evaluate.statistics import estimate
from devmind.evaluate.types import Estimate, Response, Retrieved, Span, Topic, Truth
from devmind.scan.git import Repository

MEASURES = ("Recall@1", "Recall@5", "Recall@10", "nDCG@10", "file Recall@10")
_OVERLAP = match_rule("overlap")
_PROBE_LINES = 12  # enough to tell the place; a search reads no endless question
_SINGLE_LINES = 5  # asked one by one as well, the longest: a search shows but few hits of one file

OpenFollower = Callable[[Repository, Path], Follower]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one case; a measure is None where the case does not define it, or failed.

    Attributes:
        measures: of the question at B, over the new lines.
        new_found: asked for, the new lines are shown; ranking may hide what is there.
        gone_before: asked for, the removed lines were shown at A (the control); None if all of them stay somewhere.
        at_b, at_a: findings over the hits of all probes at B, and of all after the way back.
        visible_s: from the change until a search shows a hit that is right at B and would be wrong at A; None if
            none does, and the case proves nothing.
        first, second, third: the updates to A, to B, and back.
        failure: why the case could not be measured.
    """

    case_id: str
    repo: str
    file: str
    measures: Mapping[str, float | None] = field(default_factory=dict)
    new_found: bool | None = None
    gone_before: bool | None = None
    at_b: Findings | None = None
    at_a: Findings | None = None
    visible_s: float | None = None
    first: Move | None = None
    second: Move | None = None
    third: Move | None = None
    failure: str = ""

    @property
    def proven(self) -> bool:
        """Whether something was shown that only a system at B can show."""
        return self.visible_s is not None

    @property
    def fresh(self) -> bool:
        """Whether nothing that was shown was out of date."""
        if self.failure or self.at_b is None:
            return False
        seen = [self.at_b] + ([self.at_a] if self.at_a is not None else [])
        return not any(found.n_stale or found.n_gone for found in seen)


@dataclass(frozen=True, slots=True)
class Summary:
    """All cases together. ``estimates``: mean and 95 % interval of each figure, clustered by repository."""

    n_cases: int
    n_failed: int
    n_stale_cases: int
    n_unproven: int
    n_hits: int
    n_stale_hits: int
    n_gone_hits: int
    n_gone_before: int
    n_with_gone: int
    estimates: Mapping[str, Estimate]


def measure_freshness(
    cases: Sequence[Case],
    histories: Histories,
    open_follower: OpenFollower,
    *,
    k: int = 10,
    rollback: bool = False,
    done: Callable[[Outcome], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Outcome]:
    """Measure each case in a temporary folder; one that fails is an outcome with a failure.

    Args:
        rollback: go back to A at the end, and look for what B had added.
        done: called with each outcome; what it was called with is measured, whatever comes after.

    Raises:
        UsageError: a repository is missing or lacks a commit; nothing was measured then.
    """
    known = [histories.checked(case) for case in cases]
    outcomes = []
    for case in known:
        outcome = _measured(case, histories(case.repo), open_follower, k=k, rollback=rollback, clock=clock)
        outcomes.append(outcome)
        if done is not None:
            done(outcome)
    return outcomes


def summarise(outcomes: Sequence[Outcome]) -> Summary:
    """Return the figures of all outcomes; a case that failed counts 0 in its measures and has no times."""
    repos = [outcome.repo for outcome in outcomes]
    columns: dict[str, list[float | None]] = {
        name: [0.0 if outcome.failure else outcome.measures.get(name) for outcome in outcomes] for name in MEASURES
    }
    columns["fresh"] = [float(outcome.fresh) for outcome in outcomes]
    columns["proven"] = [float(outcome.proven) for outcome in outcomes]
    columns["new lines shown when asked for"] = [_flag(outcome.new_found) for outcome in outcomes]
    columns["seconds until visible"] = [outcome.visible_s for outcome in outcomes]
    for label, move in (("first index", "first"), ("update", "second"), ("way back", "third")):
        moves: list[Move | None] = [getattr(outcome, move) for outcome in outcomes]
        columns[f"{label} seconds"] = [None if m is None else m.seconds for m in moves]
        columns[f"{label} CPU seconds"] = [None if m is None else m.cpu_s for m in moves]
    columns["files reused"] = [
        outcome.second.n_reused / outcome.second.n_files if outcome.second and outcome.second.n_files else None
        for outcome in outcomes
    ]
    columns["files built"] = [
        float(outcome.second.n_files - outcome.second.n_reused) if outcome.second else None for outcome in outcomes
    ]
    estimated = {name: estimate(values, repos) for name, values in columns.items()}
    seen = [found for o in outcomes for found in (o.at_b, o.at_a) if found is not None]
    controls = [o.gone_before for o in outcomes if o.gone_before is not None]
    return Summary(
        n_cases=len(outcomes),
        n_failed=sum(bool(o.failure) for o in outcomes),
        n_stale_cases=sum(not o.fresh and not o.failure for o in outcomes),
        n_unproven=sum(not o.proven and not o.failure for o in outcomes),
        n_hits=sum(found.n_hits for found in seen),
        n_stale_hits=sum(found.n_stale for found in seen),
        n_gone_hits=sum(found.n_gone for found in seen),
        n_gone_before=sum(controls),
        n_with_gone=len(controls),
        estimates={name: found for name, found in estimated.items() if found.n},
    )


def _measured(
    case: Case,
    repository: Repository,
    open_follower: OpenFollower,
    *,
    k: int,
    rollback: bool,
    clock: Callable[[], float],
) -> Outcome:
    with TemporaryDirectory(prefix="devmind-freshness-") as folder:
        follower: Follower | None = None
        try:
            follower = open_follower(repository, Path(folder))
            return _followed(case, _texts(repository), follower, k=k, rollback=rollback, clock=clock)
        except DevMindError as error:
            return Outcome(case.case_id, case.repo, case.file, failure=f"{error.code}: {error}")
        finally:
            if follower is not None:
                follower.close()


def _followed(
    case: Case,
    text_at: Callable[[str], TextOf],
    follower: Follower,
    *,
    k: int,
    rollback: bool,
    clock: Callable[[], float],
) -> Outcome:
    at_a, at_b = text_at(case.commit_a), text_at(case.commit_b)
    gone = vanished(case.removed, at_b(case.file))
    new = vanished(case.added, at_a(case.file))
    follower.change(case.commit_a)
    first = follower.update()
    before = _asked(follower, _probes(case.file, case.removed), k) if gone else []
    follower.change(case.commit_b)
    changed_s = clock()
    second = follower.update()
    seen: list[Retrieved] = []
    visible_s = None
    for probe in [*_probes(case.file, case.added), *_probes(case.file, case.removed)]:
        hits = follower.search(probe, k=k)
        seen += hits
        if visible_s is None and _proves(hits, at_a, at_b):
            visible_s = clock() - changed_s
    asked = follower.search(case.query, k=k)
    third = follower.back() if rollback else None
    again = _asked(follower, [*_probes(case.file, case.added), case.query], k) if rollback else []
    return Outcome(
        case.case_id,
        case.repo,
        case.file,
        measures=_scores(case, asked, k),
        new_found=any(_holds_new(hit, case, at_b) for hit in seen) if case.new_lines else None,
        gone_before=any(shows(hit, case.file, gone) for hit in before) if gone else None,
        at_b=examine([*asked, *seen], at_b, file=case.file, gone=gone),
        at_a=examine(again, at_a, file=case.file, gone=new) if rollback else None,
        visible_s=visible_s,
        first=first,
        second=second,
        third=third,
    )


def _asked(follower: Follower, probes: Sequence[str], k: int) -> list[Retrieved]:
    return [hit for probe in probes for hit in follower.search(probe, k=k)]


def _probes(file: str, lines: Sequence[str]) -> list[str]:
    """Return queries that name the file and quote lines of it, together and one by one: what is asked is whether they
    are there, not how well a question finds them."""
    if not lines:
        return []
    longest = sorted(lines, key=lambda line: (-len(line), line))[:_SINGLE_LINES]
    return ["\n".join([file, *lines[:_PROBE_LINES]]), *(f"{file}\n{line}" for line in longest if len(lines) > 1)]


def _proves(hits: Sequence[Retrieved], at_a: TextOf, at_b: TextOf) -> bool:
    """Return whether a hit is right at B and would be wrong at A."""
    return any(hit.text and stands(hit, at_b) and not stands(hit, at_a) for hit in hits)


def _holds_new(hit: Retrieved, case: Case, at_b: TextOf) -> bool:
    """Return whether a hit stands on new lines and shows them as they are."""
    truths = [Truth(Span(case.file, *lines)) for lines in case.new_lines]
    on_them = cover([hit.span], truths, _OVERLAP).matched[0]
    return on_them and not examine([hit], at_b, file=case.file, gone=()).n_stale


def _scores(case: Case, hits: Sequence[Retrieved], k: int) -> dict[str, float | None]:
    if not case.new_lines:
        return {}
    truths = tuple(Truth(Span(case.file, *lines)) for lines in case.new_lines)
    topic = Topic(case.case_id, case.query, truths=truths, repo=case.repo)
    ks = sorted({d for name in MEASURES if (d := depth(name)) and d <= k})
    scored = score_topic(topic, Response(case.case_id, hits=tuple(hits)), ks=ks or [k]).measures
    return {name: scored.get(name) for name in MEASURES if name in scored}


def _texts(repository: Repository) -> Callable[[str], TextOf]:
    folder = repository.work_tree or repository.git_dir
    sources = Sources({"": folder})
    return lambda commit: lambda path: sources("", commit, path)


def _flag(value: bool | None) -> float | None:
    return None if value is None else float(value)
