"""Small real ONNX models with a real tokenizer, made here: one that embeds words, one that reads pairs.

They know a few words; what is tested is everything around a model: files, inputs, pooling, pairs, limits, errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

SPECIAL = ("[PAD]", "[CLS]", "[SEP]", "[UNK]")
MEANING = ("cart", "tax", "price", "total", "login", "password", "account", "lock", "item", "quantity")
WORDS = (*SPECIAL, *MEANING)
DIM = len(WORDS)
NAMES = ("input_ids", "attention_mask", "token_type_ids")


def save_tokenizer(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.enable_padding(length=64)  # as published tokenizers have it; the adapter must not follow it
    tokenizer.save(str(folder / "tokenizer.json"))


def save_embedder(folder: Path, *, pooled: bool = False, inputs: Sequence[str] = NAMES[:2], scale: float = 1.0) -> Path:
    """Write a model whose token vectors are the words themselves; specials are short, unknown words nothing.

    With ``pooled`` its only output is the sum over the tokens.
    """
    table = np.eye(DIM, dtype=np.float32) * scale
    table[:4] *= np.array([[0], [0.1], [0.2], [0]], np.float32)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    output, shape = "last_hidden_state", ["n", "w", DIM]
    if pooled:
        nodes.append(helper.make_node("ReduceSum", ["last_hidden_state", "one"], ["sentence_embedding"], keepdims=0))
        output, shape = "sentence_embedding", ["n", DIM]
    return _save(folder, nodes, {"table": table, "one": np.array([1], np.int64)}, inputs, output, shape)


def save_cross_encoder(folder: Path, *, n_labels: int = 1) -> Path:
    """Write a model whose one logit counts the known words of the first text that the second has, too.

    With two labels the first is 1 and the second the count; with more the rest is 1 as well.
    """
    meaning = np.eye(DIM, dtype=np.float32)
    meaning[:4] = 0
    nodes = [
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["mask", "second"], ["first"]),
        helper.make_node("Gather", ["meaning", "input_ids"], ["vectors"]),
    ]
    for side in ("first", "second"):
        nodes += [
            helper.make_node("Unsqueeze", [side, "last"], [f"{side}_column"]),
            helper.make_node("Mul", ["vectors", f"{side}_column"], [f"{side}_vectors"]),
            helper.make_node("ReduceMax", [f"{side}_vectors"], [f"{side}_words"], axes=[1], keepdims=0),
        ]
    nodes += [
        helper.make_node("Mul", ["first_words", "second_words"], ["shared"]),
        helper.make_node("ReduceSum", ["shared", "one"], ["count"], keepdims=1),
        helper.make_node("Mul", ["count", "zero"], ["nothing"]),
        helper.make_node("Add", ["nothing", "unit"], ["constant"]),
        helper.make_node("Concat", (["constant"] * (n_labels - 1) + ["count"]), ["logits"], axis=1),
    ]
    constants = {
        "meaning": meaning, "last": np.array([2], np.int64), "one": np.array([1], np.int64),
        "zero": np.array([0], np.float32), "unit": np.array([1], np.float32),
    }  # fmt: skip
    return _save(folder, nodes, constants, NAMES, "logits", ["n", n_labels])


def _save(
    folder: Path,
    nodes: Sequence[NodeProto],
    constants: dict[str, np.ndarray],
    inputs: Sequence[str],
    output: str,
    shape: Sequence[str | int],
) -> Path:
    save_tokenizer(folder)
    graph = helper.make_graph(
        list(nodes), "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "w"]) for name in inputs],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, list(shape))],
        [numpy_helper.from_array(value, key) for key, value in constants.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))
    return folder
