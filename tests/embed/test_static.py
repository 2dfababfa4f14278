"""The built-in model: unit rows, the same bytes every time, every script, and that it ranks sensibly."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from devmind.embed.static import StaticEmbedder, built_in
from devmind.embed.types import ChunkText, Embedder

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200)

RETRY = ChunkText(
    name="Client.send_with_retry",
    header="def send_with_retry(self, request, attempts=3)\nSend the request again with exponential back-off.",
    body="for attempt in range(attempts):\n    try:\n        return self._send(request)\n"
    "    except TimeoutError:\n        time.sleep(2 ** attempt)\n",
)
PARSE = ChunkText(
    name="parse_config",
    header="def parse_config(path)",
    body="with open(path) as handle:\n    data = yaml.safe_load(handle)\nreturn Config(**data)\n",
)
AREA = ChunkText(
    name="Polygon.area", header="double area() const", body="return std::abs(sum) / 2; // shoelace formula\n"
)


def _is_unit_or_zero(rows: np.ndarray) -> bool:
    norms = np.linalg.norm(rows, axis=1)
    return bool(np.all((np.abs(norms - 1) < 1e-5) | (norms == 0)))


def test_it_is_an_embedder_of_256_dimensions() -> None:
    model: Embedder = built_in()
    assert model.dim == 256
    assert model.name.startswith("static-256-")


@given(st.lists(TEXT, max_size=4))
def test_rows_are_unit_or_zero_and_do_not_depend_on_their_neighbours(texts: list[str]) -> None:
    model = built_in()
    queries = model.embed_queries(texts)
    chunks = model.embed_chunks([ChunkText(name=t, header="", body=t) for t in texts])
    for rows in (queries, chunks):
        assert rows.shape == (len(texts), model.dim) and rows.dtype == np.float32
        assert _is_unit_or_zero(rows)
    for i, text in enumerate(texts):
        assert np.array_equal(queries[i], model.embed_queries([text])[0])


def test_texts_without_words_are_zero() -> None:
    model = built_in()
    assert not model.embed_queries(["", "  ", "!?", "🎉"]).any()
    assert not model.embed_chunks([ChunkText(name="", header="", body="{ } ;")]).any()
    assert model.embed_queries([]).shape == (0, model.dim)


def test_questions_find_their_code() -> None:
    model = built_in()
    chunks = model.embed_chunks([RETRY, PARSE, AREA])
    questions = ["where are failed requests retried", "how is the configuration file loaded", "surface of a polygon"]
    assert (model.embed_queries(questions) @ chunks.T).argmax(1).tolist() == [0, 1, 2]


def test_chinese_text_has_a_vector_of_its_own() -> None:
    rows = built_in().embed_queries(["读取配置文件", "计算多边形面积", "读取配置文件"])
    assert _is_unit_or_zero(rows) and rows.any(1).all()
    assert np.array_equal(rows[0], rows[2])
    assert rows[0] @ rows[1] < 0.95


def test_loading_twice_is_loading_once_and_a_second_process_gives_the_same_bytes() -> None:
    model = built_in()
    assert built_in() is model
    code = (
        "from devmind.embed.static import built_in; import sys;"
        "sys.stdout.write(built_in().embed_queries(['where are failed requests retried']).tobytes().hex())"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout == model.embed_queries(["where are failed requests retried"]).tobytes().hex()


def test_importing_loads_nothing() -> None:
    code = (
        "import sys, devmind.embed.static, devmind.embed.remote as r; assert 'httpx' not in sys.modules; print('fine')"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "fine\n"


def test_the_formula_on_numbers_worked_by_hand() -> None:
    from devmind.embed.tokenizer import token_ids

    (parse,), (config,) = token_ids("parse", 9), token_ids("config", 9)
    vectors = np.zeros((32_000, 2), np.int8)
    vectors[parse], vectors[config] = (10, 0), (0, 10)
    weights = np.ones((2, 32_000), np.float32)
    weights[0, config] = 2
    model = StaticEmbedder(name="by hand", vectors=vectors, weights=weights, fields=(3.0, 1.0, 1.0))
    np.testing.assert_allclose(model.embed_queries(["parse config"]), [[1 / 5**0.5, 2 / 5**0.5]], rtol=1e-5)
    # name: one piece, 3 · 1; body: four pieces, √4/√4 · config
    chunk = ChunkText(name="parse", header="", body="config config config config")
    np.testing.assert_allclose(model.embed_chunks([chunk]), [[3 / 10**0.5, 1 / 10**0.5]], rtol=1e-5)
