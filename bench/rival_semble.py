"""Run by a Python that has the package semble, not by ours: makes a model for it, or indexes a folder with it.

    python rival_semble.py model DIR FOLDER...  makes a model of the published shape, its pieces trained on them
    python rival_semble.py index DIR FOLDER     prints what indexing the folder with it took, as JSON

The published model lies on a hub that may be out of reach. Time depends on how many pieces and dimensions a model has,
not on what its vectors say, so these are random.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

N_DIMENSIONS = 256
N_PIECES = 62_500  # 16 million numbers in all
TRAINED_ON = 4_000  # files
MAX_BYTES = 200_000


def make_model(out: Path, folders: list[str]) -> None:
    import numpy as np
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=N_PIECES, min_frequency=1, special_tokens=["[PAD]", "[UNK]"], show_progress=False
    )
    tokenizer.train_from_iterator(_texts(folders), trainer)
    vectors = np.random.default_rng(0).standard_normal((tokenizer.get_vocab_size(), N_DIMENSIONS)).astype(np.float32)
    StaticModel(vectors, tokenizer, normalize=True).save_pretrained(out)
    print(json.dumps({"n_pieces": len(vectors), "n_dimensions": N_DIMENSIONS}))


def _texts(folders: list[str]) -> Iterator[str]:
    for folder in folders:
        files = (path for path in sorted(Path(folder).rglob("*")) if path.is_file() and not path.is_symlink())
        small = (path for path in files if path.stat().st_size < MAX_BYTES)
        yield from (path.read_text("utf-8", "ignore") for path in islice(small, TRAINED_ON // len(folders)))


def index(model: str, folder: str, *, everything: bool) -> None:
    from semble import ContentType, SembleIndex

    content = [ContentType.CODE, *([ContentType.DOCS, ContentType.CONFIG] if everything else [])]
    with tempfile.TemporaryDirectory() as out:
        os.environ["SEMBLE_CACHE_LOCATION"] = out
        wall, cpu = time.perf_counter(), sum(os.times()[:4])
        made = SembleIndex.from_path(folder, content=content, model_path=model)
        made.save(Path(out) / "index")
        wall, cpu = time.perf_counter() - wall, sum(os.times()[:4]) - cpu
    files, chunks = made.stats.indexed_files, made.stats.total_chunks
    print(json.dumps({"wall_s": wall, "cpu_s": cpu, "n_files": files, "n_chunks": chunks}))


if __name__ == "__main__":
    what, place, *rest = sys.argv[1:]
    if what == "model":
        make_model(Path(place), rest)
    else:
        index(place, rest[0], everything=rest[1:] == ["--all"])
