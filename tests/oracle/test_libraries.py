"""Our measures against trec_eval (through pytrec_eval and ir_measures) and ranx, on random runs, to 1e-9.

They rank whole documents, so a topic's truths are the first lines of files and a hit finds at most one of them. Where
definitions part, what is compared is chosen to avoid it:

- **Ties**: trec_eval orders equal scores by document id, descending, whatever the order of the list; ranx keeps the
  order of insertion; ours is the order of the list. Runs are exported with strictly decreasing scores.
- **Precision of scores**: trec_eval holds scores as 32-bit floats, so large or close ones tie. Ours are 1..n.
- **Missing topics**: pytrec_eval leaves a topic out that the run lacks, which flatters the run; ir_measures scores it
  0, as we do; ranx fails unless told ``make_comparable``.
- **Empty lists**: pytrec_eval leaves out a topic with an empty list; ranx cannot build a run that holds one.
- **Topics without truths**: trec_eval leaves them out, ranx scores 0; ours have no value. None are compared.
- **nDCG with 2^g - 1**: ir_measures calls gdeval, a Perl script that wants numbers as topic ids and rounds to five
  digits; ranx has it as ``ndcg_burges``.
- **RR@k**: trec_eval has no cut-off; ir_measures cuts the run first. **F1@k** is only in ranx (trec_eval's set_F reads
  the whole list).
- **AP** of trec_eval reads the whole list, as ours; duplicates of a document are an error or dropped elsewhere, here a
  second hit keeps its rank and gains nothing.
- **Compilation**: ranx compiles each measure with numba, for more than a minute in all, and warns of its own casts; its
  formulas are run as plain Python here.
"""

from __future__ import annotations

import random
from typing import Any

import ir_measures
import pytest
import pytrec_eval

from devmind.evaluate.score import score_run
from devmind.evaluate.types import GAIN, Dataset, Response, Retrieved, Run, Scores, Span, Topic, Truth

KS = (1, 3, 5, 10)
N_FILES = 25
DEEP = 20


def random_case(seed: int, *, missing: bool) -> tuple[Dataset, Run]:
    rng = random.Random(seed)
    files = [f"d{i:02}" for i in range(N_FILES)]
    topics, responses = [], {}
    for number in range(40):
        name = f"q{number:02}"
        relevant = rng.sample(files, rng.randint(1, 12))
        truths = tuple(Truth(Span(file, 1, 9), rng.choice(("strong", "weak"))) for file in relevant)
        topics.append(Topic(name, "what?", truths=truths))
        if not (missing and rng.random() < 0.2):
            ranked = rng.sample(files, rng.randint(1, DEEP))
            responses[name] = Response(name, tuple(Retrieved(Span(file, 5, 40)) for file in ranked))
    return Dataset("random", tuple(topics), "h"), Run("ours", "random", responses, DEEP)


def as_qrels(dataset: Dataset) -> dict[str, dict[str, int]]:
    return {t.topic_id: {truth.span.file: GAIN[truth.grade] for truth in t.truths} for t in dataset.topics}


def as_run(run: Run) -> dict[str, dict[str, float]]:
    return {
        name: {hit.span.file: float(len(response.hits) - i) for i, hit in enumerate(response.hits) if hit.span}
        for name, response in run.responses.items()
    }


def ours(scores: Scores, measure: str) -> dict[str, float | None]:
    return {topic.topic_id: topic.measures[measure] for topic in scores.topics}


@pytest.fixture(params=range(5))
def case(request: pytest.FixtureRequest) -> tuple[Dataset, Run, Scores]:
    dataset, run = random_case(request.param, missing=True)
    return dataset, run, score_run(dataset, run, ks=KS)


@pytest.mark.parametrize("prefix", ["", "file "])
def test_ir_measures(case: tuple[Dataset, Run, Scores], prefix: str) -> None:
    dataset, run, scores = case
    theirs = {"RR": "RR", "AP": "AP"}
    for k in KS:
        theirs |= {f"Recall@{k}": f"R@{k}", f"Precision@{k}": f"P@{k}", f"nDCG@{k}": f"nDCG@{k}"}
        theirs |= {f"RR@{k}": f"RR@{k}", f"hit@{k}": f"Success@{k}"}
    for name, theirs_name in theirs.items():
        measure = ir_measures.parse_measure(theirs_name)
        found = ir_measures.iter_calc([measure], as_qrels(dataset), as_run(run))
        expected = {metric.query_id: metric.value for metric in found}
        assert ours(scores, prefix + name) == pytest.approx(expected, abs=1e-9), name


def test_ir_measures_means_over_topics(case: tuple[Dataset, Run, Scores]) -> None:
    dataset, run, scores = case
    measures = [ir_measures.parse_measure(name) for name in ("nDCG@10", "R@10", "RR", "AP")]
    expected = ir_measures.calc_aggregate(measures, as_qrels(dataset), as_run(run))
    for name, measure in zip(("nDCG@10", "Recall@10", "RR", "AP"), measures, strict=True):
        assert scores.overall[name].mean == pytest.approx(expected[measure], abs=1e-9), name


def test_pytrec_eval(case: tuple[Dataset, Run, Scores]) -> None:
    dataset, run, scores = case
    cuts = ",".join(map(str, KS))
    wanted = {f"ndcg_cut.{cuts}", f"recall.{cuts}", f"P.{cuts}", f"success.{cuts}", "map", "recip_rank"}
    said = pytrec_eval.RelevanceEvaluator(as_qrels(dataset), wanted).evaluate(as_run(run))
    theirs = {"AP": "map", "RR": "recip_rank"}
    for k in KS:
        theirs |= {f"nDCG@{k}": f"ndcg_cut_{k}", f"Recall@{k}": f"recall_{k}"}
        theirs |= {f"Precision@{k}": f"P_{k}", f"hit@{k}": f"success_{k}"}
    assert set(said) == set(run.responses)  # it drops the topics that are missing: see above
    for name, theirs_name in theirs.items():
        found = {topic: value for topic, value in ours(scores, name).items() if topic in said}
        assert found == pytest.approx({topic: said[topic][theirs_name] for topic in said}, abs=1e-9), name


@pytest.fixture
def ranx(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # read when numba is imported, so ranx is imported here
    import ranx

    return ranx


def test_ranx(case: tuple[Dataset, Run, Scores], ranx: Any) -> None:
    dataset, run, scores = case
    theirs = {"AP": "map", "RR": "mrr"}
    for k in KS:
        theirs |= {f"nDCG@{k}": f"ndcg@{k}", f"nDCG(exp)@{k}": f"ndcg_burges@{k}", f"Recall@{k}": f"recall@{k}"}
        theirs |= {f"Precision@{k}": f"precision@{k}", f"hit@{k}": f"hit_rate@{k}"}
        theirs |= {f"F1@{k}": f"f1@{k}", f"RR@{k}": f"mrr@{k}"}
    qrels = ranx.Qrels(as_qrels(dataset))
    listed = ranx.Run(as_run(run))
    ranx.evaluate(qrels, listed, list(theirs.values()), make_comparable=True)
    for name, theirs_name in theirs.items():
        assert ours(scores, name) == pytest.approx(dict(listed.scores[theirs_name]), abs=1e-9), name


def test_the_order_of_a_list_survives_export_only_with_decreasing_scores() -> None:
    """The quirk that the strictly decreasing scores are for: equal ones are ranked by id, descending."""
    said = pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"recip_rank"}).evaluate({"q": {"a": 1.0, "b": 1.0}})
    assert said["q"]["recip_rank"] == 0.5
