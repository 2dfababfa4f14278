"""Whole runs: what each outcome counts as, and that a null is never a 0."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from devmind.errors import UsageError
from devmind.evaluate.answers.entailment import JudgeEntailer
from devmind.evaluate.answers.export import as_json
from devmind.evaluate.answers.human import HumanLabel
from devmind.evaluate.answers.score import Instruments, score_answers
from devmind.evaluate.types import Dataset, Failure, Response, Retrieved, Run, Span, Topic, Truth
from tests.evaluate.answers.conftest import JudgeOn, Words

THINGS = ("cart", "tax", "login", "badge", "price", "stock", "order", "refund", "coupon", "parcel", "bill", "ledger")


def topic_of(n: int) -> Topic:
    thing = THINGS[n]
    return Topic(
        f"t{n}", f"what does the {thing} do?", "code understanding", (Truth(Span(f"{thing}.py", 1, 2)),),
        repo=f"r{n % 2}", reference_answer=f"the {thing} keeps {thing} rows",
    )  # fmt: skip


def response_of(n: int, *, text: str = "", answer: str = "") -> Response:
    thing = THINGS[n]
    text = text or f"class {thing}: the {thing} keeps {thing} rows\nend"
    return Response(
        f"t{n}",
        hits=(Retrieved(Span(f"{thing}.py", 1, 2), text=text), Retrieved(Span("other.py", 1, 1), text="something")),
        answer=answer or f"The {thing} keeps {thing} rows. See {thing}.py:1-2.",
        cited=(Span(f"{thing}.py", 1, 2),),
    )


@pytest.fixture
def whole() -> tuple[Dataset, Run]:
    topics = tuple(map(topic_of, range(len(THINGS))))
    return Dataset("d", topics, "h"), Run("sys", "d", {t.topic_id: response_of(n) for n, t in enumerate(topics)}, 5)


def with_responses(run: Run, *responses: Response) -> Run:
    return replace(run, responses={**run.responses, **{r.topic_id: r for r in responses}})


def test_every_outcome_is_counted_and_only_answers_are_measured(whole: tuple[Dataset, Run], words: Words) -> None:
    dataset, run = whole
    trap = Topic("trap", "where is the teapot?", "trap", repo="r0")
    dataset = replace(dataset, topics=(*dataset.topics, trap))
    responses = dict(
        with_responses(
            run,
            Response("t1", answer="Not found in the indexed code.", abstained=True, hits=response_of(1).hits),
            Response("t2", failure=Failure("timeout", "late")),
            Response("t3", answer=" \n", hits=response_of(3).hits),
            Response("trap", answer="Not found in the indexed code.", abstained=True),
        ).responses
    )
    del responses["t4"]
    scores = score_answers(dataset, replace(run, responses=responses), Instruments(words))
    by_topic = {topic.topic_id: topic for topic in scores.topics}
    assert scores.outcomes == {"answered": 8, "abstained": 1, "failed": 1, "no answer": 1, "missing": 1, "trap": 1}
    assert (scores.measures["Correctness"].n, scores.measures["Recall Score"].n) == (8, 10)
    assert scores.measures["citation Recall"].mean == pytest.approx(8 / 12)  # what was not answered cites no truth
    assert (scores.measures["citation Precision"].mean, scores.measures["citation Precision"].n) == (1, 8)
    assert set(by_topic["trap"].measures.values()) == {None}
    assert [by_topic[f"t{n}"].scenario for n in (1, 2, 3, 4)] == [None] * 4


def test_the_four_scenarios_of_a_run(whole: tuple[Dataset, Run], words: Words) -> None:
    dataset, run = whole
    run = with_responses(
        run,
        response_of(0, text="unrelated passage about something else entirely"),
        response_of(1, answer="Nobody can say anything."),
        response_of(2, text="unrelated passage about something else entirely", answer="Nobody can say anything."),
    )
    scores = score_answers(dataset, run, Instruments(words))
    found = {topic.topic_id: topic.scenario for topic in scores.topics}
    assert [found[f"t{n}"] for n in range(4)] == ["A", "B", "D", "C"]
    assert scores.scenarios == {"A": 1, "B": 1, "C": 9, "D": 1}
    assert scores.calibration.thresholds["Correctness"].auroc is not None


def test_all_instruments_together(whole: tuple[Dataset, Run], words: Words, judge_on: JudgeOn) -> None:
    dataset, run = whole
    model, _ = judge_on(repeats=2)
    other = replace(with_responses(run, *(response_of(n, answer="Nobody can say.") for n in range(12))), system="other")
    labels = [
        HumanLabel("t0", "ann", "yes", {"accuracy": 4}),
        HumanLabel("t1", "ann", "no", {"accuracy": 5}),
        HumanLabel("t2", "ann", "no", answer="another answer"),
    ]
    stages: list[str] = []
    scores = score_answers(
        dataset,
        run,
        Instruments(words, judge=model, entailer=JudgeEntailer(model), labels=labels, other=other),
        progress=lambda stage, n_done, n_all: stages.append(f"{stage} {n_done}/{n_all}"),
    )
    assert scores.measures["judge accuracy"].mean == 5
    assert scores.measures["faithfulness"].mean == 1
    assert scores.measures["contradicted"].mean == 0
    assert (scores.measures["acceptable"].mean, scores.measures["acceptable"].n, scores.n_stale) == (0.5, 2, 1)
    assert scores.duels is not None
    assert (scores.duels.n_ours, scores.duels.position_bias.mean, scores.other) == (12, 0, "other")
    assert scores.nulls == {}
    assert scores.topics[0].statements[0].text == "The cart keeps cart rows."
    assert {"judge 24/24", "pairwise 48/48", "entailment 12/12"} <= set(stages)
    assert set(scores.people) == {"accuracy"}
    json.dumps(as_json(scores), allow_nan=False)


def test_nulls_are_counted_and_the_run_goes_on(whole: tuple[Dataset, Run], words: Words, judge_on: JudgeOn) -> None:
    dataset, run = whole
    model, _ = judge_on(faults=("500", "half", "html"), repeats=1, n_tries=1, concurrency=1)
    scores = score_answers(dataset, run, Instruments(words, judge=model))
    assert scores.nulls == {"judge": {"html": 1, "http_500": 1, "truncated": 1}}
    assert (scores.measures["judge accuracy"].n, scores.measures["judge accuracy"].mean) == (9, 5)
    assert scores.topics[0].measures["judge accuracy"] is None
    bad, _ = judge_on("no_json", repeats=1)
    scores = score_answers(dataset, run, Instruments(words, judge=bad, entailer=JudgeEntailer(bad)))
    assert scores.nulls == {"judge": {"no_json": 12}, "entailment": {"no_json": 12}}
    assert scores.measures["judge accuracy"] == scores.measures["faithfulness"]
    assert (scores.measures["faithfulness"].mean, scores.measures["faithfulness"].n) == (None, 0)


def test_an_answer_that_cites_nothing_supports_nothing(
    whole: tuple[Dataset, Run], words: Words, judge_on: JudgeOn
) -> None:
    dataset, run = whole
    run = with_responses(
        run, replace(response_of(0), cited=()), replace(response_of(1), cited=(Span("unseen.py", 1, 9),))
    )
    model, _ = judge_on()
    scores = score_answers(dataset, run, Instruments(words, entailer=JudgeEntailer(model)))
    assert scores.topics[0].measures["faithfulness"] == 0
    assert scores.topics[1].measures["faithfulness"] is None
    assert scores.nulls == {"entailment": {"no_text": 1}}


def test_an_answer_without_a_reference_is_judged_by_what_was_retrieved(
    whole: tuple[Dataset, Run], words: Words, judge_on: JudgeOn
) -> None:
    dataset, run = whole
    bare = replace(dataset, topics=(replace(dataset.topics[0], reference_answer=""), *dataset.topics[1:]))
    model, stub = judge_on(repeats=1, concurrency=1)
    scores = score_answers(bare, run, Instruments(words, judge=model))
    assert "<<<CODE " in stub.asked[0].body["messages"][1]["content"]
    assert scores.topics[0].measures["Correctness"] is None
    assert scores.topics[0].measures["Groundedness"] is not None


def test_scores_are_the_same_again(whole: tuple[Dataset, Run], words: Words) -> None:
    dataset, run = whole
    assert score_answers(dataset, run, Instruments(words)) == score_answers(dataset, run, Instruments(words))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda run: replace(run, responses={}), "has no topic of 'd'"),
        (lambda run: replace(run, responses={"t0": replace(response_of(0), answer=None)}), "has no answers, only hits"),
    ],
)
def test_a_run_without_answers_is_refused(
    change: Callable[[Run], Run], problem: str, whole: tuple[Dataset, Run], words: Words
) -> None:
    dataset, run = whole
    with pytest.raises(UsageError, match=problem):
        score_answers(dataset, change(run), Instruments(words))


def test_pairs_need_a_judge_and_a_topic_in_common(whole: tuple[Dataset, Run], words: Words, judge_on: JudgeOn) -> None:
    dataset, run = whole
    with pytest.raises(UsageError, match="needs a judge"):
        score_answers(dataset, run, Instruments(words, other=run))
    model, _ = judge_on(repeats=1)
    with pytest.raises(UsageError, match="no topic was answered by both"):
        score_answers(dataset, run, Instruments(words, judge=model, other=replace(run, responses={}, system="x")))
