from __future__ import annotations

from pathlib import Path

import pytest

from devmind.errors import UsageError
from devmind.evaluate.answers.human import HumanLabel, acceptability, current, labels_of, read_human
from devmind.evaluate.types import Dataset, Response, Run, Topic

CSV = """topic_id,annotator,acceptable,accuracy,clarity,note
t1,ann,yes,5,4,fine
t1,bo,Partly,3,,
t2,ann,否,,,
"""


def file(tmp_path: Path, text: str, name: str = "labels.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_labels_are_read_from_csv_and_json_lines(tmp_path: Path) -> None:
    expected = [
        HumanLabel("t1", "ann", "yes", {"accuracy": 5, "clarity": 4}),
        HumanLabel("t1", "bo", "partly", {"accuracy": 3}),
        HumanLabel("t2", "ann", "no"),
    ]
    assert read_human(file(tmp_path, CSV)) == expected
    lines = (
        '{"topic_id": "t1", "annotator": "ann", "acceptable": "yes", "accuracy": 5, "clarity": 4}\n'
        '{"topic_id": "t1", "annotator": "bo", "acceptable": "partly", "accuracy": 3}\n'
        '{"topic_id": "t2", "annotator": "ann", "acceptable": "no"}\n'
    )
    assert read_human(file(tmp_path, lines, "labels.jsonl")) == expected
    assert read_human(file(tmp_path, f"[{','.join(lines.splitlines())}]", "labels.json")) == expected


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("t1,ann,maybe,,,", r"labels.csv:2: topic 't1', field 'acceptable': is 'maybe'"),
        ("t1,ann,yes,6,,", r"labels.csv:2: topic 't1', field 'accuracy': is 6; it must be from 1 to 5"),
        ("t1,ann,yes,4.5,,", r"field 'accuracy': must be a whole number, not '4.5'"),
        ("t1,,yes,,,", r"field 'annotator': is missing"),
        (",ann,yes,,,", r"field 'topic_id': is missing"),
        ("t1,ann,,,,nothing", r"field 'acceptable': is missing, and so are accuracy"),
        ("t1,ann,yes,,,\nt1,ann,no,,,", r"'ann' labelled the topic 't1' twice"),
        ("", "holds no labels"),
    ],
)
def test_bad_labels_are_named(row: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=problem):
        read_human(file(tmp_path, CSV.splitlines()[0] + "\n" + row + "\n"))


def test_an_unknown_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'relevence': is not a known key"):
        read_human(file(tmp_path, "topic_id,annotator,acceptable,relevence\nt1,ann,yes,4\n"))


def test_labels_of_the_dataset_itself() -> None:
    topic = Topic("t1", "q", labels={"acceptable.ann": "yes", "acceptable.bo": "no", "leak": "none"})
    assert labels_of(Dataset("d", (topic,), "h")) == [HumanLabel("t1", "ann", "yes"), HumanLabel("t1", "bo", "no")]
    bad = Topic("t2", "q", labels={"acceptable.ann": "ok"})
    with pytest.raises(UsageError, match=r"d: topic 't2', field 'labels.acceptable.ann': is 'ok'"):
        labels_of(Dataset("d", (bad,), "h"))


def test_a_label_of_another_answer_is_stale_and_one_of_no_topic_an_error() -> None:
    dataset = Dataset("d", (Topic("t1", "q"), Topic("t2", "q")), "h")
    run = Run("s", "d", {"t1": Response("t1", answer="It adds tax.\n")}, 5)
    labels = [
        HumanLabel("t1", "ann", "yes", answer="It adds tax."),
        HumanLabel("t1", "bo", "no", answer="It did something else."),
        HumanLabel("t2", "ann", "no"),
        HumanLabel("t2", "bo", "no", answer="There was one."),
    ]
    kept, n_stale = current(labels, dataset, run)
    assert ([(item.topic_id, item.annotator) for item in kept], n_stale) == ([("t1", "ann"), ("t2", "ann")], 2)
    with pytest.raises(UsageError, match="'ann' labelled the topic 't9', which 'd' does not have"):
        current([HumanLabel("t9", "ann", "yes")], dataset, run)


def test_acceptability_counts_partly_half_and_says_how_far_people_agree() -> None:
    said = {"t1": ("yes", "yes"), "t2": ("no", "no"), "t3": ("yes", "partly"), "t4": ("no", "yes")}
    labels = [HumanLabel(t, name, word) for t, both in said.items() for name, word in zip("ab", both, strict=True)]  # type: ignore[arg-type]
    found = acceptability([*labels, HumanLabel("t5", "a", "partly")])
    assert found is not None
    assert found.by_topic == {"t1": 1, "t2": 0, "t3": 0.75, "t4": 0.5, "t5": 0.5}
    assert found.n_by_word == {"no": 3, "partly": 2, "yes": 4}
    (pair,) = found.agreement.pairs
    # raw 2 of 4; chance: yes 2 x 2, no 2 x 1, of 16, so .375
    assert (pair.raw.value, pair.raw.n) == (0.5, 4)
    assert pair.kappa.value == pytest.approx((0.5 - 0.375) / (1 - 0.375))


def test_agreement_without_disagreement_to_expect_is_undefined() -> None:
    found = acceptability([HumanLabel(t, name, "yes") for t in ("t1", "t2") for name in ("a", "b")])
    assert found is not None
    assert (found.agreement.pairs[0].kappa.value, found.agreement.pairs[0].kappa.degenerate) == (None, True)
    assert found.agreement.pairs[0].raw.value == 1
    assert acceptability([HumanLabel("t1", "a", grades={"accuracy": 3})]) is None
