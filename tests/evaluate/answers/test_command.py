"""``devmind eval answers`` from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from devmind.cli.run import run as command
from devmind.evaluate import datasets
from devmind.evaluate.journal import Header, Journal
from devmind.evaluate.types import Dataset, Response
from tests.evaluate.answers.test_score import THINGS, response_of, topic_of
from tests.evaluate.stubs import KEY, Judge, serving

Devmind = Callable[..., tuple[int, str, str]]


@pytest.fixture
def devmind(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Devmind:
    topics = tuple(map(topic_of, range(len(THINGS))))
    dataset = datasets.dataset_of("shop", topics)
    datasets.write(dataset, tmp_path / "shop.jsonl")
    save(tmp_path / "run.jsonl", dataset, [response_of(n) for n in range(len(topics))])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUDGE_KEY", KEY)

    def run(*args: str) -> tuple[int, str, str]:
        code = command(["eval", "answers", *args])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def save(path: Path, dataset: Dataset, responses: list[Response]) -> None:
    with Journal(path, Header(dataset.name, dataset.content_hash, path.stem, {}, 5)) as journal:
        journal.append(responses)


def judge_toml(url: str, path: Path = Path("judge.toml"), **more: object) -> str:
    lines = {"base_url": url, "model": "stub", "api_key_env": "JUDGE_KEY", "repeats": 1, "n_tries": 1, **more}
    path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in lines.items()), encoding="utf-8")
    return str(path)


def test_a_run_is_told_to_a_person_and_written_whole(devmind: Devmind) -> None:
    code, out, err = devmind("run.jsonl", "--dataset", "shop.jsonl", "--out", "answers.json")
    assert (code, err) == (0, "")
    assert "run over shop: 12 answered" in out
    for word in ("Recall Score", "Correctness", "Groundedness", "citation Precision", "AUROC", "generator at fault"):
        assert word in out
    found = json.loads(Path("answers.json").read_text(encoding="utf-8"))
    assert (found["system"], len(found["topics"]), found["judge"]) == ("run", 12, None)
    assert found["calibration"]["thresholds"][0]["auroc"] is not None


def test_why_there_is_no_threshold_stands_below_the_table_and_not_in_it(devmind: Devmind) -> None:
    few = datasets.dataset_of("few", tuple(map(topic_of, range(3))))
    datasets.write(few, Path("few.jsonl"))
    save(Path("few-run.jsonl"), few, [response_of(n) for n in range(3)])
    code, out, _ = devmind("few-run.jsonl", "--dataset", "few.jsonl")
    lines = out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("cosine "))
    assert code == 0
    assert [line.split()[-1] for line in lines[at + 1 : at + 4]] == ["none"] * 3
    assert lines[at + 4].startswith("Recall Score: ") and "are needed" in lines[at + 4]


def test_json_is_one_line_and_the_same_as_the_file(devmind: Devmind) -> None:
    code, out, _ = devmind("run.jsonl", "--dataset", "shop.jsonl", "--json", "--out", "answers.json")
    assert code == 0
    assert json.loads(out) == json.loads(Path("answers.json").read_text(encoding="utf-8"))


def test_judge_pairs_statements_and_people(devmind: Devmind) -> None:
    Path("people.csv").write_text("topic_id,annotator,acceptable,accuracy\nt0,ann,yes,5\nt1,ann,no,2\n", "utf-8")
    other = [response_of(n, answer="Nobody can say.") for n in range(12)]
    save(Path("other.jsonl"), datasets.read("shop.jsonl"), other)
    with serving(Judge(), faults=("500",)) as stub:
        options = (
            "run.jsonl", "--dataset", "shop.jsonl", "--judge", judge_toml(stub.url, concurrency=1), "--pairwise",
            "other.jsonl", "--entailment", "judge", "--human", "people.csv",
        )  # fmt: skip
        code, out, err = devmind(*options)
        assert (code, err.splitlines()[0]) == (0, "shop judge 0/12")  # a line a phase, as in every pipe
        for words in ("against other: 12 better, 0 worse", "judge: 1 without a verdict: 1 http_500", "faithfulness",
                      "accuracy: kappa quadratic judge – ann", "people said: 1 no, 0 partly, 1 yes"):  # fmt: skip
            assert words in out
        n_asked = len(stub.asked)
        assert n_asked == 12 + 24 + 12
        assert KEY not in Path("run.jsonl.judge.jsonl").read_text(encoding="utf-8")
        code, again, _ = devmind(*options)
        assert len(stub.asked) == n_asked + 1  # what failed, and nothing else
        assert "without a verdict: 1" not in again


def test_a_folder_holds_one_run(devmind: Devmind, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    Path("run.jsonl").rename(folder / "run.jsonl")
    (folder / "scores.jsonl").write_text('{"topic_id": "t0"}\n', encoding="utf-8")
    with serving(Judge()) as stub:
        judge = judge_toml(stub.url)
        assert devmind("kept", "--dataset", "shop.jsonl", "--judge", judge)[0] == 0
        assert devmind("kept", "--dataset", "shop.jsonl", "--judge", judge)[0] == 0  # the replies are no second run
        assert len(stub.asked) == 12
    save(folder / "second.jsonl", datasets.read("shop.jsonl"), [response_of(0)])
    code, _, err = devmind("kept", "--dataset", "shop.jsonl")
    assert (code, "holds 2 runs: name the file of one" in err) == (2, True)


def test_cited_code_is_read_from_its_folder(devmind: Devmind, tmp_path: Path) -> None:
    source = tmp_path / "code"
    source.mkdir()
    for thing in THINGS[:6]:
        (source / f"{thing}.py").write_text("one\ntwo\n", encoding="utf-8")
    code, out, _ = devmind("run.jsonl", "--dataset", "shop.jsonl", "--source", str(source), "--json")
    assert code == 0
    assert json.loads(out)["measures"]["citation Resolved"]["mean"] == 0.5


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (("nothing.jsonl",), "cannot read the run nothing.jsonl"),
        (("run.jsonl", "--judge", "no.toml"), "cannot read the configuration no.toml"),
        (("run.jsonl", "--pairwise", "run.jsonl"), "need --judge CONFIG"),
        (("run.jsonl", "--entailment", "judge"), "need --judge CONFIG"),
        (("run.jsonl", "--entailment", "magic"), "--entailment 'magic' is none of: judge, local:FOLDER"),
        (("run.jsonl", "--entailment", "local:nowhere"), "the entailment model nowhere is not there"),
        (("run.jsonl", "--embedder", "no.toml"), "cannot read the configuration no.toml"),
        (("run.jsonl", "--human", "no.csv"), "cannot read no.csv"),
        (("run.jsonl", "--match", "near"), "match rule 'near' does not exist"),
        (("run.jsonl", "--split", "half"), "unknown split 'half'"),
        (("run.jsonl", "--split", "test"), "no topic in its test half"),
    ],
)
def test_bad_input_is_named(args: tuple[str, ...], problem: str, devmind: Devmind) -> None:
    code, _, err = devmind(*args, "--dataset", "shop.jsonl")
    assert (code, problem in err) == (2, True), err


def test_an_embedder_by_configuration_is_asked(devmind: Devmind) -> None:
    from tests.evaluate.stubs import Asked, Reply, as_json

    class Vectors:
        """One dimension a thing."""

        def reply(self, asked: Asked) -> Reply:
            rows = [[float(text.count(thing)) for thing in THINGS] for text in asked.body["input"]]
            return as_json({"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)]})

    with serving(Vectors()) as stub:
        Path("space.toml").write_text(
            f'base_url = "{stub.url}"\nmodel = "e5"\ndim = {len(THINGS)}\napi_key_env = "JUDGE_KEY"\n', encoding="utf-8"
        )
        code, out, _ = devmind("run.jsonl", "--dataset", "shop.jsonl", "--embedder", "space.toml", "--json")
    found = json.loads(out)
    assert (code, found["embedder"], found["measures"]["Correctness"]["mean"]) == (0, f"remote:e5:{len(THINGS)}", 1)
    Path("space.toml").write_text('base_url = "http://localhost:1"\nmodel = "e5"\n', encoding="utf-8")
    code, _, err = devmind("run.jsonl", "--dataset", "shop.jsonl", "--embedder", "space.toml")
    assert (code, "space.toml: dim = None: must be the number of dimensions" in err) == (2, True)
