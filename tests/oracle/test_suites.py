"""Our numbers against the scoring scripts of the benchmark suites, run on the same topics and the same runs.

The suites are not part of the project: without their folder (``BENCH_SUITES``) these tests are skipped; `test_spans.py`
checks the same rules against an implementation that is always there. What the scripts name differently: their
``contain`` is our ``nested`` (either holds the other); their nDCG is binary; semble's gives every target a rank of its
own in the ideal, and whole files count in its ranking of chunks: our rule ``path`` with ``nDCG(strict)``.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from devmind.evaluate.score import score_run
from devmind.evaluate.statistics import mean
from devmind.evaluate.types import Dataset, Response, Retrieved, Run, Scores, Span, Topic, Truth

SUITES = Path(os.environ.get("BENCH_SUITES", "../shared/bench")).resolve()
REALREPOS, SEMBLE = SUITES / "realrepos", SUITES / "semble"
PEERS = sorted((SEMBLE / "runs").glob("*.jsonl"))

pytestmark = pytest.mark.skipif(not SUITES.is_dir(), reason="the benchmark suites are not beside the project")

RULES = {"overlap": "overlap", "iou50": "iou50", "contain": "nested", "core": "core"}
FILES = {
    **{f"file_recall@{k}": f"file Recall@{k}" for k in (1, 5, 10)},
    **{f"file_hit@{k}": f"file hit@{k}" for k in (1, 5, 10)},
    "file_mrr@10": "file RR@10",
    "file_ndcg@10": "file nDCG(binary)@10",
    "file_all@10": "file all@10",
}
SPANS = {
    **{f"recall@{k}": f"Recall@{k}" for k in (1, 5, 10)},
    **{f"hit@{k}": f"hit@{k}" for k in (1, 5, 10)},
    "mrr@10": "RR@10",
    "ndcg@10": "nDCG(binary)@10",
}
SEMBLE_MEASURES = {
    "ndcg10": "nDCG(strict)@10",
    "ndcg5": "nDCG(strict)@5",
    "recall5": "Recall@5",
    "recall10": "Recall@10",
    "mrr10": "RR@10",
    "hit1": "hit@1",
}


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def as_retrieved(hits: list[dict[str, Any]], root: str = "") -> tuple[Retrieved, ...]:
    return tuple(Retrieved(Span(under(root, h["file"]), h["start_line"], h["end_line"])) for h in hits)


def under(root: str, path: str) -> str:
    """Paths of semble are written from the repository's root or from the part that its questions are about."""
    return path if not root or path.startswith(f"{root}/") else f"{root}/{path}"


def realrepos_dataset(items: list[dict[str, Any]]) -> Dataset:
    topics = []
    for item in items:
        truths = tuple(
            Truth(
                Span(g["file"]) if g.get("whole_file") else Span(g["file"], g["start_line"], g["end_line"]),
                "weak" if g.get("grade") == "secondary" else "strong",
                core=tuple(g["core"]) if g.get("core") else None,
            )
            for g in item["ground_truth"]
        )
        labels = {"source": item["source"]}
        made = Topic(item["id"], item["query"], item["category"], truths, item["repo"], labels=labels)
        topics.append(made)
    return Dataset("realrepos", tuple(topics), "h")


def a_plausible_run(items: list[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    """Hits at, near and far from the truths, of any length, repeated, in whole files, and some topics left out."""
    rng = random.Random(seed)
    everywhere = [g for item in items for g in item["ground_truth"]]

    def hit(item: dict[str, Any]) -> dict[str, Any]:
        g = rng.choice(item["ground_truth"] if item["ground_truth"] and rng.random() < 0.6 else everywhere)
        start = max(1, g["start_line"] + rng.choice((0, 0, rng.randint(-60, 60))))
        end = max(start, g["end_line"] + rng.choice((0, 0, rng.randint(-60, 60))))
        return {"file": rng.choice(("", "", "./")) + g["file"], "start_line": start, "end_line": end}

    rows = []
    for item in items:
        if rng.random() < 0.9:
            hits = [hit(item) for _ in range(rng.choice((0, 3, 10, 10, 10, 14)))]
            row = {"id": item["id"], "hits": hits, "abstain": rng.random() < 0.3, "confidence": rng.random()}
            rows.append(row)
    return rows


def as_run(rows: list[dict[str, Any]]) -> Run:
    responses = {
        row["id"]: Response(
            row["id"], as_retrieved(row["hits"]), abstained=row["abstain"], confidence=row["confidence"]
        )
        for row in rows
    }
    return Run("random", "realrepos", responses, k=14)


def script_says(script: Path, arguments: list[str], out: Path) -> dict[str, Any]:
    subprocess.run([sys.executable, str(script), *arguments, "--json", str(out)], check=True, capture_output=True)
    said: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return said


@pytest.mark.parametrize("seed", range(3))
def test_realrepos(seed: int, tmp_path: Path) -> None:
    bench = REALREPOS / "dev.jsonl"
    items = json_lines(bench)
    rows = a_plausible_run(items, seed)
    results = tmp_path / "run.jsonl"
    results.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    arguments = ["--bench", str(bench), "--results", str(results)]
    said = script_says(REALREPOS / "score.py", arguments, tmp_path / "scores.json")
    dataset, run = realrepos_dataset(items), as_run(rows)
    groupings = ("category", "repo", "source")
    for theirs, rule in RULES.items():
        scores = score_run(dataset, run, match=rule, group_by=groupings, ks=(1, 5, 10))
        assert scores.n_missing == said["missing"]
        for their_name, our_name in [*FILES.items(), *((f"{theirs}_{a}", b) for a, b in SPANS.items())]:
            assert scores.overall[our_name].mean == pytest.approx(said["micro"][their_name], abs=1e-12), their_name
            for grouping in groupings:
                macro = macro_over(scores, grouping)[our_name]
                assert macro == pytest.approx(said[f"macro_{grouping}"][their_name], abs=1e-12), (grouping, their_name)
    assert scores.overall["refusal"].mean == pytest.approx(said["trap"]["abstain_rate"])
    assert scores.overall["refusal"].n == said["trap"]["n"]
    assert scores.overall["false refusal"].mean == pytest.approx(said["trap"]["false_abstain_rate"])
    assert scores.confidence_auroc == pytest.approx(said["trap"]["auroc_confidence"])


def macro_over(scores: Scores, grouping: str) -> dict[str, float | None]:
    """Return the mean of the groups' means, by measure: every group counts the same, however many topics it has."""
    groups = scores.groups[grouping].values()
    return {measure: mean([group[measure].mean for group in groups]) for measure in scores.overall}


def semble_topics() -> Iterator[tuple[Topic, str]]:
    """Yield each topic with the part of its repository that the paths of its targets may start from."""
    for spec in json.loads((SEMBLE / "repos.json").read_text("utf-8")):
        root = spec.get("benchmark_root") or ""
        annotations = SEMBLE / "annotations" / f"{spec['name']}.json"
        for i, item in enumerate(json.loads(annotations.read_text("utf-8"))):
            targets = [t if isinstance(t, dict) else {"path": t} for t in item["relevant"] + item.get("secondary", [])]
            truths = tuple(
                Truth(Span(under(root, t["path"]), int(t.get("start_line") or 0), int(t.get("end_line") or 0)))
                for t in targets
            )
            topic_id = f"{spec['name']}#{i}"
            labels = {"query": item["query"]}
            yield Topic(topic_id, item["query"], truths=truths, repo=spec["name"], labels=labels), root


def semble_scores(run: Path) -> Scores:
    hits = {(row["repo"], row["query"]): row["hits"] for row in json_lines(run)}
    topics, responses = [], {}
    for topic, root in semble_topics():
        topics.append(topic)
        if (topic.repo, topic.query) in hits:
            found = as_retrieved(hits[topic.repo, topic.query], root)
            responses[topic.topic_id] = Response(topic.topic_id, found)
    dataset = Dataset("semble", tuple(topics), "h")
    return score_run(dataset, Run(run.stem, "semble", responses, k=10), match="path", group_by=("repo",))


@pytest.mark.parametrize("run", PEERS, ids=lambda run: run.stem)
def test_semble(run: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    arguments = [str(run), "--match", "strict", "--rows", str(rows)]
    said = script_says(SEMBLE / "score.py", arguments, tmp_path / "scores.json")
    scores = semble_scores(run)
    by_topic = {topic.topic_id: topic.measures for topic in scores.topics}
    macro = macro_over(scores, "repo")
    for theirs, our_name in SEMBLE_MEASURES.items():
        for row in json_lines(rows):
            assert by_topic[row["id"]][our_name] == pytest.approx(row[theirs], abs=1e-12), (row["id"], theirs)
        assert scores.overall[our_name].mean == pytest.approx(said["micro_query"][theirs], abs=1e-12), theirs
        assert macro[our_name] == pytest.approx(said["macro_repo"][theirs], abs=1e-12), theirs
