"""Scores of topics and runs: what counts as what, groups, and input that makes no sense."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from devmind.errors import UsageError
from devmind.evaluate.abstention import abstention
from devmind.evaluate.score import NO_GROUP, score_run, score_topic
from devmind.evaluate.types import Dataset, Failure, Response, Retrieved, Run, Span, Topic, Truth

FAILED = Failure("timeout", "no response in 30 s", n_tries=3)
Q = "q"


def test_a_failed_response_scores_0_even_if_some_hits_came(topic: Any, response: Any) -> None:
    said = score_topic(topic("a[1,9]"), response("a[1,9]", failure=FAILED))
    assert said.outcome == "failed"
    assert said.measures["Recall@1"] == said.measures["line Precision@1"] == said.measures["file RR"] == 0


def test_what_a_missing_response_costs_is_not_known(topic: Any) -> None:
    said = score_topic(topic("a[1,9]"), None)
    assert said.outcome == "missing" and said.measures["nDCG@10"] == 0
    assert said.measures.get("tokens@5") is None and said.measures.get("unmapped") is None


def test_a_response_without_hits_returns_no_tokens(topic: Any, response: Any) -> None:
    said = score_topic(topic("a[1,9]"), response(""))
    assert said.outcome == "scored" and said.measures["tokens@5"] == 0 and said.measures["line Precision@5"] == 0


def test_tokens_are_those_of_the_first_k_texts(topic: Any) -> None:
    hits = tuple(Retrieved(Span("a", 1, 1), text="word " * n) for n in (1, 2, 4, 8, 16, 32))
    said = score_topic(topic("a[1,9]"), Response(Q, hits), ks=(1, 5), count_tokens=lambda text: len(text.split()))
    assert (said.measures["tokens@1"], said.measures["tokens@5"]) == (1, 31)
    unknown = replace(hits[1], text="")
    said = score_topic(topic("a[1,9]"), Response(Q, (hits[0], unknown)), ks=(1, 5))
    assert said.measures["tokens@1"] == 2 and said.measures["tokens@5"] is None


def test_a_hit_without_lines_keeps_its_rank(topic: Any) -> None:
    hits = (Retrieved(None, text="lost"), Retrieved(Span("a", 1, 9)))
    said = score_topic(topic("a[1,9]"), Response(Q, hits)).measures
    assert (said["RR"], said["file RR"], said["unmapped"]) == (0.5, 0.5, 0.5)


def test_a_piece_of_a_known_file_finds_the_file_and_no_lines(topic: Any) -> None:
    said = score_topic(topic("a[1,9]"), Response(Q, (Retrieved(Span("a"), text="not found in a"),))).measures
    assert (said["file RR"], said["RR"], said["unmapped"]) == (1, 0, 1)


def test_a_hit_that_is_a_whole_file_holds_every_line_but_its_size_is_not_known(topic: Any, response: Any) -> None:
    said = score_topic(topic("a[1,9]"), response("a"), match="contain").measures
    assert said["Recall@1"] == said["line Recall@1"] == 1
    assert said["line Precision@1"] is None and said["IoU@1"] is None


def test_a_truth_that_is_a_whole_file_is_measured_by_files(topic: Any, response: Any) -> None:
    said = score_topic(topic("a b[1,9]"), response("b[1,5]")).measures
    assert (said["Recall@1"], said["file Recall@1"]) == (1, 0.5)
    said = score_topic(topic("a"), response("a[1,5]")).measures
    assert said["Recall@1"] is None and said["line Recall@1"] is None and said["file Recall@1"] == 1
    assert score_topic(topic("a b[1,9]"), response("b[10,12] a[1,5]"), match="path").measures["Recall@5"] == 0.5


def test_the_same_span_twice_is_one_truth(topic: Any, response: Any) -> None:
    said = score_topic(topic("a[1,9]*weak a[1,9]*strong ./a[1,9] b[1,9]"), response("a[1,9]")).measures
    assert said["Recall@1"] == 0.5


def test_weak_truths_count_wholly_in_recall_and_less_in_graded_gain(topic: Any, response: Any) -> None:
    said = score_topic(topic("a[1,9]*weak b[1,9]"), response("a[1,9] b[1,9]"), ks=(2,)).measures
    assert said["Recall@2"] == 1 and said["nDCG(binary)@2"] == 1
    third = 1 / math.log2(3)
    assert said["nDCG@2"] == pytest.approx((1 + 2 * third) / (2 + third))
    assert said["nDCG(exp)@2"] == pytest.approx((1 + 3 * third) / (3 + third))


def test_one_hit_that_holds_all_truths_is_perfect_except_by_the_strict_measure(topic: Any, response: Any) -> None:
    said = score_topic(topic("a[1,9] a[20,29]"), response("a[1,40]")).measures
    assert said["nDCG@10"] == 1 and said["all@1"] == 1
    assert said["nDCG(strict)@10"] == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_a_chain_is_made_of_neighbouring_steps(topic: Any, response: Any) -> None:
    said = score_topic(topic("a[1,9] b[1,9] c[1,9] d[1,9]"), response("a[1,9] b[1,9] d[1,9]")).measures
    assert (said["chain@5"], said["all@5"], said["file all@5"]) == (pytest.approx(1 / 3), 0, 0)
    assert score_topic(topic("a[1,9]"), response("a[1,9]")).measures["chain@5"] is None


def test_the_core_and_the_function_rule(topic: Any, response: Any) -> None:
    truths = (Truth(Span("a", 1, 30), core=(20, 22)), Truth(Span("b", 1, 9), symbol="run"))
    asked = Topic(Q, "what?", truths=truths)
    assert score_topic(asked, response("a[1,19] b[5,6]"), match="core").measures["Recall@5"] == 0.5
    assert score_topic(asked, response("a[1,60]"), match="function").measures["Recall@5"] == 0
    assert score_topic(asked, response("b[1,10]"), match="function").measures["Recall@5"] == 1


def test_refusals(topic: Any, response: Any, dataset: Any, run: Any) -> None:
    traps = [topic("", f"t{i}", category="trap") for i in range(5)]
    asked = [topic("a[1,9]", f"q{i}") for i in range(4)]
    answers = run(
        response("a[1,9]", "t0", abstained=True, confidence=0.1),
        response("", "t1"),  # nothing at all: refused
        response("a[1,9]", "t2", confidence=0.6),
        response("", "t3", failure=FAILED, abstained=True),  # a failure has refused nothing; nor has t4, missing
        response("a[1,9]", "q0", confidence=0.9),
        response("a[1,9]", "q1", abstained=True, confidence=0.5),
        response("", "q2"),  # no hits is a miss, not a refusal
    )
    data = dataset(*traps, *asked)
    said = abstention(data, answers)
    assert (said.n_traps, said.refusal_rate) == (5, 0.4)
    assert (said.n_answerable, said.false_refusal_rate) == (4, 0.25)
    assert said.confidence_auroc == 0.75
    scores = score_run(data, answers)
    assert scores.overall["refusal"].mean == 0.4 and scores.overall["false refusal"].mean == 0.25
    assert (scores.n_missing, scores.n_failed) == (2, 1)
    assert [t.outcome for t in scores.topics[:5]] == ["trap", "trap", "trap", "failed", "missing"]


def test_a_topic_without_truths_that_is_no_trap_has_no_measures(topic: Any, response: Any, dataset: Any) -> None:
    said = score_topic(topic(""), response("a[1,9]"))
    assert said.outcome == "no_truth" and not said.measures


def test_groups_by_field_and_by_label(topic: Any, response: Any, dataset: Any, run: Any) -> None:
    data = dataset(
        topic("a[1,9]", "q1", category="symbol lookup", repo="r1", labels={"leak": "none"}),
        topic("a[1,9]", "q2", category="symbol lookup", repo="r2", labels={"leak": "file"}),
        topic("a[1,9]", "q3", category="multi-hop", repo="r2"),
    )
    scores = score_run(data, run(response("a[1,9]", "q1")), group_by=("category", "leak", "repo"))
    assert {name: g["Recall@10"].mean for name, g in scores.groups["category"].items()} == {
        "symbol lookup": 0.5,
        "multi-hop": 0,
    }
    assert {name: g["Recall@10"].n for name, g in scores.groups["leak"].items()} == {"none": 1, "file": 1, NO_GROUP: 1}
    assert {name: g["Recall@10"].mean for name, g in scores.groups["repo"].items()} == {"r1": 1, "r2": 0}
    assert scores.overall["Recall@10"].mean == pytest.approx(1 / 3)


def test_a_run_is_scored_no_deeper_than_it_reaches(topic: Any, response: Any, dataset: Any, run: Any) -> None:
    data, answers = dataset(topic("a[1,9]")), run(response("a[1,9]"), k=5)
    scores = score_run(data, answers)
    assert "Recall@5" in scores.overall and "Recall@10" not in scores.overall
    with pytest.raises(UsageError, match="has 5 hits a topic: it cannot be scored at k = 10"):
        score_run(data, answers, ks=(10,))


def hits(**fields: Any) -> Response:
    return Response(Q, (Retrieved(Span("a", 1, 9)), Retrieved(**{"span": Span("a", 1, 9), **fields})))


LENGTHS = {"a": 9}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (hits(score=math.nan), r"topic 'q': hits\[1\].score is nan"),
        (hits(score=math.inf), r"topic 'q': hits\[1\].score is inf"),
        (hits(span=Span("a", 9, 1)), r"topic 'q': hits\[1\].span lines 9-1 of a are reversed"),
        (hits(span=Span("a", 0, 4)), r"topic 'q': hits\[1\].span lines 0-4 of a"),
        (hits(span=Span("a", 5, 10)), r"topic 'q': hits\[1\].span line 10 of a lies outside the file, .* 9 lines"),
        (hits(span=Span("b", 1, 2)), r"topic 'q': hits\[1\].span.file 'b' does not exist at the topic's commit"),
        (hits(span=Span("", 1, 2)), r"topic 'q': hits\[1\].span.file is empty"),
        (Response("other"), r"topic 'q': topic_id of its response is 'other'"),
        (Response(Q, confidence=math.nan), r"topic 'q': confidence is nan"),
        (Response(Q, seconds=math.inf), r"topic 'q': seconds is inf"),
        (Response(Q, cited=(Span("a", 3, 2),)), r"topic 'q': cited\[0\] lines 3-2"),
    ],
)
def test_responses_that_make_no_sense(bad: Response, message: str, topic: Any) -> None:
    with pytest.raises(UsageError, match=message):
        score_topic(topic("a[1,9]"), bad, n_lines=LENGTHS)


def test_a_sound_response_passes_the_same_check(topic: Any) -> None:
    assert score_topic(topic("a[1,9]"), hits(score=1.0), n_lines=LENGTHS).outcome == "scored"


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (Truth(Span("a", 20, 10)), r"topic 'q': truths\[0\].span lines 20-10 of a are reversed"),
        (Truth(Span("a", 1, 10)), r"topic 'q': truths\[0\].span line 10 of a lies outside the file"),
        (Truth(Span("z", 1, 2)), r"topic 'q': truths\[0\].span.file 'z' does not exist"),
        (Truth(Span("a", 1, 9), "good"), r"topic 'q': truths\[0\].grade is 'good'; use strong or weak"),  # type: ignore[arg-type]
        (Truth(Span("a", 1, 9), core=(5, 4)), r"topic 'q': truths\[0\].core is \(5, 4\)"),
    ],
)
def test_truths_that_make_no_sense(truth: Truth, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        score_topic(Topic(Q, "what?", truths=(truth,)), None, n_lines=LENGTHS)


def test_datasets_that_make_no_sense(topic: Any, dataset: Any, run: Any, response: Any) -> None:
    answers = run(response("a[1,9]"))
    with pytest.raises(UsageError, match="dataset 'set' has no topics"):
        score_run(Dataset("set", (), "h"), answers)
    with pytest.raises(UsageError, match="topic 'q': topic_id stands twice"):
        score_run(dataset(topic("a[1,9]"), topic("b[1,9]")), answers)
    with pytest.raises(UsageError, match="topic 'q': truths must be empty for a trap"):
        score_run(dataset(topic("a[1,9]", category="trap")), answers)
    with pytest.raises(UsageError, match="topic_id of the topic that asks 'what\\?' is empty"):
        score_run(dataset(topic("a[1,9]", "")), answers)


def test_runs_and_settings_that_make_no_sense(topic: Any, dataset: Any, run: Any, response: Any) -> None:
    data = dataset(topic("a[1,9]"))
    with pytest.raises(UsageError, match=r"has no topic of 'set' \(it has 'other'\)"):
        score_run(data, run(response("", "other")))
    with pytest.raises(UsageError, match="k is 0"):
        score_run(data, Run("ours", "set", {}, 0))
    with pytest.raises(UsageError, match="match rule 'fuzzy' does not exist: use overlap, contain"):
        score_run(data, run(response("")), match="fuzzy")
    with pytest.raises(UsageError, match=r"ks \[0\] must hold"):
        score_topic(topic("a[1,9]"), None, ks=(0,))


def test_the_length_of_files_is_asked_by_topic(topic: Any, dataset: Any, run: Any, response: Any) -> None:
    data = dataset(topic("a[1,9]", "q1", repo="r1"), topic("a[1,9]", "q2", repo="r2"))
    lengths = {"r1": {"a": 9}, "r2": {"a": 8}}
    with pytest.raises(UsageError, match=r"topic 'q2': truths\[0\].span line 9 of a lies outside"):
        score_run(data, run(response("a[1,9]", "q1")), n_lines=lambda topic: lengths[topic.repo])
