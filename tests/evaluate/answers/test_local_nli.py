"""The local model's adapter, on a small ONNX model that is made here and counts words that premise and statement share.

The model cannot infer; what is tested is everything around it: pairs, windows, widths, labels, batches.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from devmind.errors import UsageError
from devmind.evaluate.answers.entailment import Claims, Finding
from devmind.evaluate.answers.local_nli import LocalEntailer
from devmind.evaluate.answers.nulls import Null

WORDS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "cart", "tax", "adds", "never", "filler", "locks", "account")
THREE = {"0": "contradiction", "1": "entailment", "2": "neutral"}


def save_model(
    folder: Path, *, labels: Mapping[str, str] = THREE, width: int | None = None, name: str = "model.onnx"
) -> Path:
    """Write a model whose logits are: "never" anywhere; statement words that the premise has too; a constant.

    Entailment wins over the constant if every statement word of the three that carry meaning stands in the premise.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"id2label": dict(labels), "max_position_embeddings": 32}))
    meaning = np.zeros((len(WORDS), len(WORDS)), np.float32)
    for word in ("cart", "tax", "adds", "locks", "account"):
        meaning[WORDS.index(word), WORDS.index(word)] = 1
    never = np.zeros((len(WORDS), 1), np.float32)
    never[WORDS.index("never")] = 30
    nodes = [
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["mask", "second"], ["first"]),
        helper.make_node("Gather", ["meaning", "input_ids"], ["vectors"]),
        *[
            node
            for side in ("first", "second")
            for node in (
                helper.make_node("Unsqueeze", [side, "last"], [f"{side}_column"]),
                helper.make_node("Mul", ["vectors", f"{side}_column"], [f"{side}_vectors"]),
                helper.make_node("ReduceMax", [f"{side}_vectors"], [f"{side}_words"], axes=[1], keepdims=0),
            )
        ],
        helper.make_node("Sub", ["second_words", "first_words"], ["lacking"]),
        helper.make_node("Relu", ["lacking"], ["missing"]),
        helper.make_node("ReduceSum", ["missing", "one"], ["n_missing"], keepdims=1),
        helper.make_node("Mul", ["n_missing", "minus"], ["penalty"]),
        helper.make_node("Add", ["penalty", "bonus"], ["entails"]),
        helper.make_node("Gather", ["never", "input_ids"], ["nevers"]),
        helper.make_node("ReduceMax", ["nevers"], ["contradicts"], axes=[1], keepdims=0),
        helper.make_node("Mul", ["entails", "zero"], ["nothing"]),
        helper.make_node("Add", ["nothing", "small"], ["constant"]),
        helper.make_node("Concat", ["contradicts", "entails", "constant"], ["logits"], axis=1),
    ]
    constants = {
        "meaning": meaning, "never": never, "minus": np.array([-10], np.float32), "bonus": np.array([5], np.float32),
        "zero": np.array([0], np.float32), "small": np.array([1], np.float32),
        "last": np.array([2], np.int64), "one": np.array([1], np.int64),
    }  # fmt: skip
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["n", width or "width"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    graph = helper.make_graph(
        nodes, "nli", inputs, [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", None])],
        [numpy_helper.from_array(value, key) for key, value in constants.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (folder / name).parent.mkdir(exist_ok=True)
    onnx.save(model, str(folder / name))
    return folder


def entail(folder: Path, statement: str, *passages: str) -> Finding | Null:
    (found,) = LocalEntailer(folder, n_threads=1).entail([Claims("t", "q", (statement,), passages)])
    return found[0]


def test_a_statement_is_entailed_by_the_passage_that_holds_it(tmp_path: Path) -> None:
    folder = save_model(tmp_path / "nli")
    assert entail(folder, "cart adds tax", "locks account", "cart adds tax") == Finding("entailed", (1,))
    assert entail(folder, "cart adds tax", "cart adds") == Finding("neutral")
    assert entail(folder, "cart adds tax", "cart never adds") == Finding("contradicted")
    assert LocalEntailer(folder).name == "local:nli"


def test_what_stands_at_the_end_of_a_long_passage_is_read(tmp_path: Path) -> None:
    folder = save_model(tmp_path)
    long = "filler " * 500
    assert entail(folder, "cart adds tax", f"{long} cart adds tax") == Finding("entailed", (0,))
    apart = f"{long} cart {long} adds tax"  # in no window together
    assert entail(folder, "cart adds tax", apart) == Finding("neutral")
    assert entail(folder, "cart adds tax", f"{long} never {long}") == Finding("contradicted")


@pytest.mark.parametrize("width", [None, 24])
def test_a_model_of_fixed_width_gets_just_that(width: int | None, tmp_path: Path) -> None:
    folder = save_model(tmp_path, width=width)
    model = LocalEntailer(folder, n_threads=1)
    shares = model.probabilities("filler " * 60 + "cart adds tax", "cart adds tax")
    assert isinstance(shares, np.ndarray)
    assert len(shares) > 2
    assert np.allclose(shares.sum(axis=1), 1)
    assert shares[-1].argmax() == 1


def test_a_statement_longer_than_half_the_model_is_a_null(tmp_path: Path) -> None:
    found = entail(save_model(tmp_path), "cart " * 17, "cart adds tax")
    assert isinstance(found, Null)
    assert found.kind == "too_long"


def test_a_model_that_tells_only_entailment_from_the_rest(tmp_path: Path) -> None:
    folder = save_model(tmp_path, labels={"0": "not_entailment", "1": "ENTAILMENT"}, name="onnx/model.onnx")
    config = json.loads((folder / "config.json").read_text())
    assert config["id2label"]["0"] == "not_entailment"
    with pytest.raises(UsageError, match=r"answers 3 numbers a text, its config\.json names 2 labels"):
        entail(folder, "cart adds tax", "cart adds tax")


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        ({"0": "LABEL_0", "1": "LABEL_1"}, "id2label has 'LABEL_0'"),
        ({"0": "neutral", "1": "contradiction"}, "must name entailment once"),
    ],
)
def test_labels_that_name_no_entailment_are_refused(labels: dict[str, str], problem: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=problem):
        LocalEntailer(save_model(tmp_path, labels=labels))


def test_a_folder_that_is_no_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the entailment model .*nothing is not there"):
        LocalEntailer(tmp_path / "nothing")
    folder = save_model(tmp_path / "m")
    (folder / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(UsageError, match="cannot load the entailment model"):
        LocalEntailer(folder)
    (folder / "config.json").write_text("{")
    with pytest.raises(UsageError, match=r"cannot read .*config\.json as JSON"):
        LocalEntailer(folder)
    (folder / "model.onnx").unlink()
    with pytest.raises(UsageError, match=r"holds none of model\.onnx"):
        LocalEntailer(folder)
