"""What each kind of question says of the repository, checked against the repository."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from devmind.errors import UsageError
from devmind.evaluate.datasets.check import check
from devmind.evaluate.datasets.sources import Sources
from devmind.evaluate.generate.compose import Wanted, generate
from devmind.evaluate.generate.corpus import Corpus, open_catalog, read_corpus
from devmind.evaluate.generate.docs import HIDE, write_hidden
from devmind.evaluate.types import Topic
from devmind.index.catalog import Catalog
from devmind.ingest import IngestOptions, Writer
from devmind.parse import parse
from devmind.types import Document
from tests.evaluate.generate.conftest import HISTORY, run_git


@pytest.fixture
def made(corpus: Corpus, catalog: Catalog) -> Callable[..., list[Topic]]:
    def make(*kinds: str, **wanted: object) -> list[Topic]:
        return list(generate(corpus, catalog, Wanted(kinds, **{"n": 40, **wanted})).topics)  # type: ignore[arg-type]

    return make


def symbols(topics: list[Topic]) -> set[str]:
    return {truth.symbol for topic in topics for truth in topic.truths}


def test_labels_hold_at_the_commit(corpus: Corpus, history: Path, made: Callable[..., list[Topic]]) -> None:
    topics = made("symbol", "trap", "history", "docs", "hops")
    problems = check(topics, Sources({"shop": history}))
    assert [(one.kind, one.message) for one in problems if not one.waived] == []
    assert {topic.status for topic in topics} == {"pending"}
    assert len({topic.topic_id for topic in topics}) == len(topics)
    for topic in topics:
        assert {"generator", "version", "seed", "indexed_commit"} <= topic.provenance.keys()
        assert topic.labels["query_lang"] == ("zh" if re.search("[\u4e00-\u9fff]", topic.query) else "en") or (
            topic.labels["source"] == "symbol"
        )


def test_a_name_that_means_two_things_is_asked_for_with_its_owner(made: Callable[..., list[Topic]]) -> None:
    topics = made("symbol")
    asked = {topic.provenance["symbol"]: topic.provenance["asked_as"] for topic in topics}
    assert asked["place_order"] == "place_order"
    assert asked["OrderBook.close_order"] == "OrderBook.close_order"  # tests have a close_order, too
    assert not any("test_" in name or name.startswith("__") for name in asked)
    assert {topic.labels["query_lang"] for topic in topics} == {"en", "zh"}
    route = next(topic for topic in topics if topic.labels["kind"] == "route")
    assert (route.truths[0].symbol, route.truths[0].role) == ("checkout", "handler")


def test_what_a_trap_asks_for_is_nowhere(corpus: Corpus, made: Callable[..., list[Topic]]) -> None:
    topics = made("trap", n=400)
    everything = "\n".join(f"{file.path}\n{file.text}" for file in corpus.files).casefold()
    squashed = re.sub(r"[\W_]", "", everything)
    assert {topic.labels["trap"] for topic in topics} == {"feature", "synonym", "added", "recombined"}
    assert {topic.labels["difficulty"] for topic in topics} == {"hard", "easy"}
    for topic in topics:
        assert topic.is_trap
        assert int(topic.provenance["searched_files"]) == len(corpus.files)
        if topic.labels["trap"] != "feature":
            name = topic.provenance["what"]
            assert name in topic.query
            assert re.sub(r"[\W_]", "", name.casefold()) not in squashed
    whats = {topic.provenance["what"] for topic in topics}
    assert "order_total" not in whats
    assert "coupon codes" in whats  # nothing of that kind is here
    assert "shopping cart" in whats


@pytest.mark.parametrize("said", ["we keep it in Redis", "class RedisCache: pass", "from redis_om import x"])
def test_a_feature_that_is_only_mentioned_is_no_trap(said: str, tmp_path: Path, kb: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/notes.md").write_text(said, encoding="utf-8")
    with Writer(kb, IngestOptions(n_workers=1)) as writer:
        writer.add(str(tmp_path / "src"), name="shop")
    with open_catalog(kb) as catalog:
        corpus = read_corpus(catalog, "shop", home=kb)
        topics = generate(corpus, catalog, Wanted(("trap",), 400)).topics
    whats = {topic.provenance["what"] for topic in topics}
    assert "Redis" not in whats
    assert {"Memcached"} <= whats
    memcached = next(topic for topic in topics if topic.provenance["what"] == "Memcached")
    assert (memcached.labels["difficulty"], memcached.provenance["near"]) == ("hard", "Redis")


def test_history_asks_what_commits_answered(history: Path, corpus: Corpus, catalog: Catalog) -> None:
    found = generate(corpus, catalog, Wanted(("history",), 40))
    subjects = {topic.provenance["subject"]: topic for topic in found.topics}
    fix, refuse = HISTORY[0], HISTORY[-1]
    assert set(subjects) == {fix[0].split("\n")[0], refuse[0]}
    reasons = ("typo", "version", "no_source", "root", "looks_only", "no_definition")
    assert found.dropped == dict.fromkeys(sorted(reasons), 1)
    topic = subjects[fix[0].split("\n")[0]]
    assert topic.query == "Fix the total of an order that ignored every discount"
    assert topic.category == "bug diagnosis"
    assert topic.commit == run_git(history, "rev-parse", f"{topic.provenance['changed_by']}^")
    (truth,) = topic.truths
    assert truth.symbol == "order_total"
    lines = run_git(history, "show", f"{topic.commit}:shop/orders.py").split("\n")
    assert truth.core is not None and truth.core[0] == truth.core[1]
    assert lines[truth.core[0] - 1] == "        total += item.price"
    (inserted,) = subjects[refuse[0]].truths
    assert inserted.symbol == "place_order"  # lines were only added there: the place is where they came in
    assert inserted.core is not None
    assert inserted.span.start_line <= inserted.core[0] <= inserted.span.end_line


def test_a_folder_without_history_says_so(shop: Path, kb: Path) -> None:
    with Writer(kb, IngestOptions(n_workers=1)) as writer:
        writer.add(str(shop), name="plain")
    with open_catalog(kb) as catalog:
        corpus = read_corpus(catalog, "plain", home=kb)
        found = generate(corpus, catalog, Wanted(("history", "symbol"), 5))
        assert found.n_by_kind["history"] == 0
        assert "has no git history" in found.notes[0]
        with pytest.raises(UsageError, match="no repository named 'nope'"):
            read_corpus(catalog, "nope", home=kb)


def test_docs_questions_with_the_comment_hidden(
    corpus: Corpus, tmp_path: Path, made: Callable[..., list[Topic]]
) -> None:
    topics = made("docs")
    queries = {topic.provenance["symbol"]: topic.query for topic in topics}
    assert queries.keys() == {"order_total", "place_order", "OrderBook", "OrderBook.close_order", "write_order"}
    assert "discount" in queries["order_total"]
    out = tmp_path / "hidden"
    assert write_hidden(topics, corpus, out) == len(topics)
    for topic in topics:
        path, _, lines = topic.provenance[HIDE].rpartition(":")
        first, last = map(int, lines.split("-"))
        (file,) = [file for file in corpus.files if file.path == path]
        text = (out / path).read_text(encoding="utf-8")
        assert topic.provenance["sentence"] in " ".join(file.text.split())
        assert topic.provenance["sentence"] not in " ".join(text.split())
        before, after = file.text.split("\n"), text.split("\n")
        assert len(before) == len(after)
        hidden = {n for t in topics for n in range(*_lines(t, path))}
        assert [n for n, (a, b) in enumerate(zip(before, after, strict=True), 1) if a != b and n not in hidden] == []
        assert any(before[n - 1] != after[n - 1] for n in range(first, last + 1))
        was = [s.qualified_name for s in file.symbols]
        now = [
            s.qualified_name for s in parse(Document(path, text, "python", "source", "", "utf-8", len(text))).symbols
        ]
        assert was == now
    with pytest.raises(UsageError, match="is no empty folder"):
        write_hidden(topics, corpus, out)


def _lines(topic: Topic, path: str) -> tuple[int, int]:
    place, _, lines = topic.provenance[HIDE].rpartition(":")
    first, last = map(int, lines.split("-"))
    return (first, last + 1) if place == path else (0, 0)


def test_chains_follow_only_calls_that_can_mean_one_thing(made: Callable[..., list[Topic]]) -> None:
    topics = made("hops")
    chains = {tuple(truth.symbol for truth in topic.truths) for topic in topics}
    assert ("checkout", "place_order") in chains  # route → handler → service; the decorated handler is one span
    assert ("place_order", "save_order", "write_order") in chains
    assert not any("OrderBook.update" in chain for chain in chains)  # settings.update() is a dictionary's
    for topic in topics:
        assert topic.category == "multi-hop"
        assert all(truth.role for truth in topic.truths)


def test_the_seed_decides(corpus: Corpus, catalog: Catalog) -> None:
    def queries(seed: int) -> list[str]:
        return [topic.query for topic in generate(corpus, catalog, Wanted(n=6, seed=seed)).topics]

    assert queries(1) == queries(1)
    assert queries(1) != queries(2)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [({"n": 0}, "n is 0"), ({"kinds": ("poem",)}, "unknown kind 'poem'"), ({"langs": ("fr",)}, "unknown language 'fr'"),
     ({"kinds": ()}, "no kind is named")],
)  # fmt: skip
def test_bad_wishes(wanted: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Wanted(**wanted)  # type: ignore[arg-type]
