"""An embedder in ONNX form, on a small real model: what it reads, how it pools, what names it, what it refuses."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from devmind.embed.choose import open_embedder
from devmind.embed.onnx import OnnxEmbedder, OnnxOptions, Pooling
from devmind.embed.types import ChunkText, Embedder
from devmind.errors import UsageError
from tests.models.tiny import DIM, WORDS, save_embedder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_embedder(tmp_path_factory.mktemp("m") / "words")


def opened(folder: Path, **options: object) -> OnnxEmbedder:
    return OnnxEmbedder(OnnxOptions(str(folder), **options))  # type: ignore[arg-type]


def part(vector: np.ndarray, word: str) -> float:
    return float(vector[WORDS.index(word)])


def test_texts_that_share_words_are_near_and_all_vectors_are_unit(folder: Path) -> None:
    embedder: Embedder = opened(folder)
    assert embedder.dim == embedder.prefix == DIM
    rows = embedder.embed_queries(["cart price", "the price of the cart", "login password", "", "  "])
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows[:3], axis=1), 1, rtol=1e-6)
    assert not rows[3:].any()
    assert rows[0] @ rows[1] > 0.99 > 0.1 > rows[0] @ rows[2]


def test_a_chunk_is_read_with_its_name_and_header(folder: Path) -> None:
    (row,) = opened(folder).embed_chunks([ChunkText(name="cart", header="total price", body="tax")])
    assert [part(row, word) > 0.4 for word in ("cart", "total", "price", "tax", "login")] == [True] * 4 + [False]


def test_a_text_has_the_same_vector_whatever_stands_beside_it(folder: Path) -> None:
    embedder = opened(folder)
    alone = embedder.embed_queries(["cart"])[0]
    beside = embedder.embed_queries(["login " * 40, "cart", "tax"])[1]
    np.testing.assert_array_equal(alone, beside)


@pytest.mark.parametrize(("pooling", "expected"), [("mean", "cart"), ("cls", "[CLS]"), ("last", "[SEP]")])
def test_pooling_chooses_the_tokens(folder: Path, pooling: Pooling, expected: str) -> None:
    (row,) = opened(folder, pooling=pooling).embed_queries(["cart"])
    assert WORDS[int(row.argmax())] == expected


def test_the_models_own_pooling_is_taken_when_asked_for(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path, pooled=True)
    (row,) = opened(folder, pooling="model").embed_queries(["cart tax"])
    assert part(row, "cart") == pytest.approx(part(row, "tax"))
    assert part(row, "cart") > 0.6
    with pytest.raises(UsageError, match=r'gives sentence_embedding, no vectors of tokens: set pooling to "model"'):
        opened(folder)
    with pytest.raises(UsageError, match="no vector for a text"):
        opened(save_embedder(tmp_path / "tokens"), pooling="model")


def test_prefixes_and_the_limit_of_tokens_are_kept(folder: Path) -> None:
    embedder = opened(folder, query_prefix="login ", text_prefix="password ", max_tokens=16)
    (query,) = embedder.embed_queries(["cart"])
    assert part(query, "login") == pytest.approx(part(query, "cart"))
    (text,) = embedder.embed_chunks([ChunkText("", "", "cart " * 30 + "tax")])
    assert part(text, "password") > 0 == part(text, "tax")
    assert not embedder.embed_queries([" "]).any()  # a prefix alone is no text


def test_the_name_changes_with_what_changes_the_vectors_and_with_nothing_else(folder: Path, tmp_path: Path) -> None:
    names = [
        opened(folder).name,
        opened(folder, pooling="cls").name,
        opened(folder, max_tokens=16).name,
        opened(folder, query_prefix="q: ").name,
        opened(save_embedder(tmp_path / "heavier", scale=2)).name,
    ]
    assert len(set(names)) == len(names)
    moved = Path(shutil.copytree(folder, tmp_path / "elsewhere"))
    assert opened(moved).name == opened(moved / "model.onnx").name == names[0]
    (moved / "model.onnx_data").write_bytes(b"weights of a large model")
    assert opened(moved).name != names[0]


def test_a_model_in_the_folder_onnx_is_found_with_its_tokenizer_above(folder: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(folder, tmp_path / "published"))
    (moved / "onnx").mkdir()
    (moved / "model.onnx").rename(moved / "onnx" / "model.onnx")
    np.testing.assert_array_equal(opened(moved).embed_queries(["tax"]), opened(folder).embed_queries(["tax"]))


def test_what_is_no_such_model_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the embedding model nowhere is not there: correct its path"):
        opened(Path("nowhere"))
    with pytest.raises(UsageError, match=r"holds none of model\.onnx"):
        opened(tmp_path)
    with pytest.raises(UsageError, match=f"returns {DIM} dimensions, 3 are configured"):
        opened(folder, dim=3)
    broken = Path(shutil.copytree(folder, tmp_path / "broken"))
    (broken / "tokenizer.json").unlink()
    with pytest.raises(UsageError, match=r"has no tokenizer\.json"):
        opened(broken)
    (broken / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot load the embedding model"):
        opened(broken)
    with pytest.raises(UsageError, match="wants the inputs input_ids, past_key_values"):
        opened(save_embedder(tmp_path / "decoder", inputs=("input_ids", "past_key_values")))


def test_an_embedder_is_opened_once_for_the_same_options(folder: Path) -> None:
    assert open_embedder(OnnxOptions(str(folder))) is open_embedder(OnnxOptions(str(folder)))
