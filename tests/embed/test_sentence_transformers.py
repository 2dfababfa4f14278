"""Models of the package sentence-transformers, where it is installed; where not, what an embedder of that kind says."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from devmind.embed.sentence_transformers import SentenceTransformerEmbedder, SentenceTransformerOptions
from devmind.embed.types import ChunkText, Embedder
from devmind.errors import UsageError

HERE = find_spec("sentence_transformers") is not None
installed = pytest.mark.skipif(not HERE, reason="sentence-transformers is not installed")


@pytest.mark.skipif(HERE, reason="sentence-transformers is installed")
def test_without_the_package_the_error_says_what_to_install() -> None:
    with pytest.raises(UsageError, match="pip install sentence-transformers") as caught:
        SentenceTransformerEmbedder(SentenceTransformerOptions("BAAI/bge-m3"))
    assert caught.value.code == "no_extra"


def test_without_the_runtime_an_onnx_model_names_the_extra(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from devmind.embed.onnx import OnnxEmbedder, OnnxOptions\n"
        f"OnnxEmbedder(OnnxOptions({str(tmp_path)!r}))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "a local embedding model needs the extra: pip install 'devmind-kb[local-models]'" in said.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model of the package's own parts that counts words, saved as its models are."""
    from sentence_transformers import SentenceTransformer, models

    words = models.BoW(vocab=["cart", "tax", "price", "login"])
    SentenceTransformer(modules=[words]).save(str(tmp_path / "bow"))
    return tmp_path / "bow"


@installed
def test_texts_become_unit_vectors(folder: Path) -> None:
    embedder: Embedder = SentenceTransformerEmbedder(SentenceTransformerOptions(str(folder), text_prefix="login "))
    rows = embedder.embed_queries(["cart price", "price of the cart", "", "login"])
    assert rows.dtype == np.float32 and rows.shape == (4, embedder.dim) and embedder.dim == 4
    assert rows[0] @ rows[1] == pytest.approx(1) and not rows[2].any() and rows[0] @ rows[3] == 0
    (text,) = embedder.embed_chunks([ChunkText("cart", "", "tax")])
    assert text @ rows[3] == pytest.approx(3**-0.5)


@installed
def test_a_folder_is_named_by_its_content(folder: Path, tmp_path: Path) -> None:
    name = SentenceTransformerEmbedder(SentenceTransformerOptions(str(folder))).name
    moved = folder.rename(tmp_path / "moved")
    assert SentenceTransformerEmbedder(SentenceTransformerOptions(str(moved))).name == name
    (moved / "note.txt").write_text("other", encoding="utf-8")
    assert SentenceTransformerEmbedder(SentenceTransformerOptions(str(moved))).name != name


@installed
def test_what_cannot_be_loaded_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="returns 4 dimensions, 5 are configured"):
        SentenceTransformerEmbedder(SentenceTransformerOptions(str(folder), dim=5))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="cannot load the sentence-transformers model"):
        SentenceTransformerEmbedder(SentenceTransformerOptions(str(tmp_path / "empty")))
