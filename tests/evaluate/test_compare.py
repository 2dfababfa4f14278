"""Two runs over one dataset."""

from __future__ import annotations

from typing import Any

import pytest

from devmind.errors import UsageError
from devmind.evaluate.compare import compare
from devmind.evaluate.measures import HEADLINE
from devmind.evaluate.score import score_run

N = 12


@pytest.fixture
def both(topic: Any, response: Any, dataset: Any, run: Any) -> Any:
    """The candidate finds q0–q5, which the baseline misses; the baseline finds q11, which the candidate misses."""
    data = dataset(*(topic("a[1,9]", f"q{i}", repo=f"r{i % 4}") for i in range(N)))
    base = run(*(response("a[1,9]" if i > 5 else "b[1,9]", f"q{i}") for i in range(N)), system="base")
    better = run(*(response("a[1,9]" if i < 11 else "b[1,9]", f"q{i}", abstained=i == 0) for i in range(N)))
    return data, base, better


def test_differences(both: Any) -> None:
    data, base, better = both
    said = compare(score_run(data, base), score_run(data, better), measures=HEADLINE)
    assert (said.baseline, said.candidate) == ("base", "ours")
    assert list(said.differences) == list(HEADLINE)
    found = said.differences["Recall@10"]
    assert (found.baseline, found.candidate) == (0.5, pytest.approx(11 / 12))
    assert (found.n_wins, found.n_losses, found.n_ties) == (6, 1, 5)
    assert found.estimate.mean == pytest.approx(5 / 12) and found.estimate.n == N
    assert found.estimate.low is not None and 0 < found.estimate.low < 5 / 12
    assert found.p == 16 / 128  # 7 differences of size 1: |sum| ≥ 5 with 6 or 7 signs alike, in 16 of 128 vectors
    assert found.p_holm == pytest.approx(min(1, found.p * len(HEADLINE)))
    assert found.effect_size == pytest.approx(5 / 12 / 0.668558, abs=1e-5)
    assert found.by_topic["q0"] == 1 and found.by_topic["q11"] == -1 and found.by_topic["q7"] == 0


def test_where_less_is_better_a_rise_is_a_loss(both: Any) -> None:
    data, base, better = both
    found = compare(score_run(data, base), score_run(data, better)).differences["false refusal"]
    assert found.by_topic["q0"] == 1 and (found.n_wins, found.n_losses) == (0, 1)


def test_a_run_does_not_differ_from_itself(both: Any) -> None:
    data, base, _ = both
    scores = score_run(data, base)
    for found in compare(scores, scores).differences.values():
        if found.estimate.n:
            assert (found.estimate.mean, found.p, found.n_wins, found.n_losses) == (0, 1, 0, 0)
            assert found.effect_size is None


def test_the_order_of_topics_does_not_matter(both: Any, dataset: Any) -> None:
    data, base, better = both
    turned = dataset(*reversed(data.topics))
    first = compare(score_run(data, base), score_run(data, better))
    second = compare(score_run(data, base), score_run(turned, better))
    assert first == second


def test_scores_that_cannot_be_compared(both: Any, dataset: Any) -> None:
    data, base, better = both
    scores = score_run(data, base)
    with pytest.raises(UsageError, match="match by 'overlap' and 'iou50'"):
        compare(scores, score_run(data, better, match="iou50"))
    with pytest.raises(UsageError, match=r"are of different datasets \('abc' and 'def'\)"):
        compare(scores, score_run(dataset(*data.topics, content_hash="def"), better))
    with pytest.raises(UsageError, match="only the baseline has topic 'q0'"):
        compare(scores, score_run(dataset(*data.topics[1:]), better))
    with pytest.raises(UsageError, match="scores of 'base' have no measure 'Recall@7'"):
        compare(scores, score_run(data, better), measures=("Recall@7",))
