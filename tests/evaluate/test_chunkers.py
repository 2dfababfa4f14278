"""Two files by every chunking: what is compared, what it costs, and remote embedders."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from devmind.embed.static import built_in
from devmind.errors import UsageError
from devmind.evaluate.chunkers import (
    IN_BUDGET,
    MEASURES,
    SPAN_RECALL,
    STRATEGIES,
    Measured,
    Variant,
    measure_repositories,
    picture,
    rows,
    summarise,
    within_budget,
)
from devmind.evaluate.datasets import dataset_of
from devmind.evaluate.embedders import open_embedder, opened
from devmind.evaluate.types import Dataset, Response, Retrieved, Span, Topic, Truth
from tests.models.tiny import save_embedder

PRICE = Truth(Span("shop/cart.py", 18, 20))
LOCK = Truth(Span("shop/login.py", 4, 8))
ALL = [Variant(strategy, "builtin") for strategy in STRATEGIES]


@pytest.fixture
def topics() -> Dataset:
    return dataset_of(
        "shop",
        [
            Topic("q1", "Where is the price of an item looked up?", truths=(PRICE,), repo="shop", language="python"),
            Topic("q2", "lock the account after failures", truths=(LOCK,), repo="shop", language="python"),
            Topic("q3", "checkout", truths=(Truth(Span("README.md")),), repo="docs", language="markdown"),
        ],
    )


def measured_on(topics: Dataset, folder: Path, variants: list[Variant] = ALL) -> list[Measured]:
    sources = {"shop": folder, "docs": folder}
    return summarise(topics, list(measure_repositories(topics, sources, variants, {"builtin": built_in()})))


def test_every_chunking_is_measured_with_the_same_questions(topics: Dataset, shop: Path) -> None:
    measured = measured_on(topics, shop)
    assert [one.name for one in measured] == ["layered", "syntax", "fixed", "semantic"]
    assert measured[0].against is None
    for one in measured[1:]:
        assert one.against is not None and one.against.baseline == "layered"
        assert len(one.against.differences["nDCG@10"].by_topic) == 3
        assert one.query_s.keys() == {"q1", "q2", "q3"}
    table = rows(measured)
    assert [row.language for row in table] == [""] * 4 + ["markdown"] * 4 + ["python"] * 4
    whole, python = table[0], table[8]
    assert (whole.n_topics, whole.n_repos, python.n_topics, python.n_repos) == (3, 2, 2, 1)
    assert whole.n_chunks == 2 * python.n_chunks > 0 and whole.source_bytes == 2 * python.source_bytes > 0
    assert whole.store_bytes > whole.source_bytes and whole.index_cpu_s > 0 and whole.tokens_per_chunk > 1
    assert set(whole.measures) == set(MEASURES)
    assert whole.measures["Recall@10"].mean == 1.0 and whole.measures["nDCG@10"].n == 3
    # A whole file is no span: it counts where any chunk of it is right, and nowhere else.
    assert whole.measures[SPAN_RECALL].n == 2 and table[4].measures[SPAN_RECALL].mean is None
    assert whole.measures[IN_BUDGET].mean == 1.0


def test_fixed_chunks_are_larger_and_less_precise_than_definitions(topics: Dataset, shop: Path) -> None:
    by_name = {row.variant: row for row in rows(measured_on(topics, shop)) if row.language == "python"}
    assert by_name["fixed"].n_chunks < by_name["syntax"].n_chunks
    fixed, syntax = (by_name[name].measures["line Precision@10"].mean for name in ("fixed", "syntax"))
    assert fixed is not None and syntax is not None and fixed < syntax


def test_what_was_measured_before_an_interrupt_can_be_summed_up(topics: Dataset, shop: Path) -> None:
    parts = measure_repositories(topics, {"": shop}, ALL[:2], {"builtin": built_in()})
    first = next(parts)
    parts.close()
    [layered, syntax] = summarise(topics, [first])
    assert [topic.topic_id for topic in layered.dataset.topics] == ["q1", "q2"]
    assert syntax.against is not None and len(syntax.against.differences["nDCG@10"].by_topic) == 2


def test_a_budget_cuts_the_hits_where_it_is_spent() -> None:
    two_tokens = "alpha beta"
    hits = tuple(Retrieved(Span("a.py", at, at + 2), text="\n".join([two_tokens] * 3)) for at in (1, 11, 21))
    cut = within_budget(Response("q", hits=hits), budget_tokens=10)
    assert [hit.span for hit in cut.hits] == [Span("a.py", 1, 3), Span("a.py", 11, 12)]
    assert cut.hits[1].text == f"{two_tokens}\n{two_tokens}"
    assert within_budget(Response("q", hits=hits), budget_tokens=100).hits == hits
    assert within_budget(Response("q", hits=hits), budget_tokens=1).hits == ()


def test_what_cannot_be_measured_is_named(topics: Dataset, shop: Path) -> None:
    models = {"builtin": built_in()}
    with pytest.raises(UsageError, match=r"no source for the repository 'docs'.*--source docs=DIR"):
        next(measure_repositories(topics, {"shop": shop}, ALL, models))
    with pytest.raises(UsageError, match="is not a folder"):
        next(measure_repositories(topics, {"": shop / "README.md"}, ALL, models))
    with pytest.raises(UsageError, match="no topics"):
        next(measure_repositories(replace(topics, topics=()), {"": shop}, ALL, models))
    with pytest.raises(UsageError, match="no variant"):
        next(measure_repositories(topics, {"": shop}, [], models))
    with pytest.raises(UsageError, match="nothing to compare"):
        summarise(topics, [])


class _Embeddings(BaseHTTPRequestHandler):
    """``/embeddings`` with vectors of letter counts, in the shape of OpenAI."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        data = [
            {"index": n, "embedding": [1.0 + text.lower().count(letter) for letter in "abcdefghijklmnop"]}
            for n, text in enumerate(body["input"])
        ]
        reply = json.dumps({"data": data, "model": body["model"]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


@contextmanager
def embeddings() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Embeddings)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_remote_embedder_is_measured_beside_the_built_in_one(topics: Dataset, shop: Path, tmp_path: Path) -> None:
    config = tmp_path / "letters.toml"
    with embeddings() as url:
        config.write_text(f'base_url = "{url}"\nmodel = "letters"\ndim = 16\n', encoding="utf-8")
        names = ["builtin", str(config)]
        variants = [Variant(strategy, name) for name in names for strategy in ("layered", "syntax")]
        with opened(names) as models:
            measured = summarise(topics, list(measure_repositories(topics, {"": shop}, variants, models)))
    assert {one.name for one in measured} == {
        f"{strategy} + {name}" for strategy in ("layered", "syntax") for name in names
    }
    remote = next(one for one in measured if one.name == f"syntax + {config}")
    assert remote.against is not None and remote.against.baseline == f"layered + {config}"
    assert remote.scores.overall["Recall@10"].mean == 1.0
    drawn = picture(rows(measured))
    assert f"layered + {config}" in drawn and "nothing to draw" not in drawn


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('model = "m"\ndim = 3\n', "base_url is missing"),
        ('base_url = "http://x"\nmodel = "m"\n', "dim = None"),
        ('base_url = "http://x"\nmodel = "m"\ndim = 2.5\n', "number of dimensions"),
        ('base_url = "http://x"\nmodel = "m"\ndim = 3\nbatch = 0\n', "batch = 0"),
        ('base_url = "http://x"\nmodel = "m"\ndim = 3\napi_key = "k"\n', "no secrets"),
        ('base_url = "http://x"\nmodel = "m"\ndim = 3\nspeed = 3\n', "unknown key speed"),
    ],
)
def test_a_configuration_that_is_wrong_is_named(text: str, said: str, tmp_path: Path) -> None:
    config = tmp_path / "model.toml"
    config.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        open_embedder(str(config), secret=lambda name: "s")
    assert said in str(caught.value) and "model.toml" in str(caught.value)


def test_an_unknown_embedder_is_named() -> None:
    with pytest.raises(UsageError, match="unknown embedder 'clever'"):
        open_embedder("clever")


def test_the_documented_configuration_opens(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "chunking.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```toml\n# model\.toml\n(.*?)```", page, re.DOTALL)
    config = tmp_path / "model.toml"
    config.write_text(example.replace("# api_key_env", "api_key_env"), encoding="utf-8")
    asked: list[str] = []
    embedder = open_embedder(str(config), secret=lambda name: asked.append(name) or "key")
    assert embedder.dim == 768 and asked == ["EMBEDDINGS_KEY"] and "key" not in embedder.name.lower()


def test_a_model_on_this_machine_is_measured_beside_the_built_in_one(
    topics: Dataset, shop: Path, tmp_path: Path
) -> None:
    save_embedder(tmp_path / "words")
    config = tmp_path / "words.toml"
    config.write_text('kind = "onnx"\npath = "words"\n', encoding="utf-8")
    variants = [Variant("layered", "builtin"), Variant("layered", str(config))]
    with opened(["builtin", str(config)]) as embedders:
        sources = {"shop": shop, "docs": shop}
        measured = summarise(topics, list(measure_repositories(topics, sources, variants, embedders)))
    assert [one.name for one in measured] == ["layered + builtin", f"layered + {config}"]
    assert measured[0].scores.topics != measured[1].scores.topics or measured[0].costs != measured[1].costs


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('kind = "gguf"\n', "must be one of remote, onnx, sentence-transformers"),
        ('kind = "onnx"\n', "needs path"),
        ('kind = "onnx"\npath = "nowhere"\n', "nowhere is not there"),
        ('kind = "onnx"\npath = "x"\nbase_url = "http://x"\n', "unknown key 'base_url'"),
    ],
)
def test_a_configuration_of_a_local_model_that_is_wrong_is_named(text: str, said: str, tmp_path: Path) -> None:
    config = tmp_path / "model.toml"
    config.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        open_embedder(str(config))
    assert said in str(caught.value)
