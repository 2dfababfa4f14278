"""Every way to lose code really occurs in one repository, and each is told by its cause."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from devmind.errors import UsageError
from devmind.evaluate.datasets import dataset_of
from devmind.evaluate.datasets.sources import Sources
from devmind.evaluate.diagnose import Expected, Facts, Kind, diagnose, expected_rows
from devmind.evaluate.facts import Store
from devmind.evaluate.types import Span, Topic, Truth
from devmind.evaluate.why import Why, diagnose_dataset, diagnose_topic, why
from devmind.ingest import IngestOptions, Writer
from devmind.service import Service
from devmind.settings import Settings
from devmind.types import Filters
from tests.evaluate.lossy import write_lossy

RETRY = "retry a failed job of the worker queue with backoff delay"
RENEW = "renew the session token"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the folder of the repository and that of the knowledge base."""
    folder = write_lossy(tmp_path_factory.mktemp("lossy"))
    kb = tmp_path_factory.mktemp("kb")
    with Writer(kb, IngestOptions(n_workers=1)) as writer:
        writer.add(str(folder), name="lossy")
    return folder, kb


@pytest.fixture
def own(indexed: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """Return a copy that a test may change; its knowledge base was made of the copy."""
    folder, kb = tmp_path / "lossy", tmp_path / "kb"
    for path in ("auth", "cache", "left"):
        shutil.copytree(indexed[0] / path, folder / path)
    with Writer(kb, IngestOptions(n_workers=1)) as writer:
        writer.add(str(folder), name="lossy")
    return folder, kb


@pytest.fixture
def open_store() -> Iterator[Callable[..., Store]]:
    services = []

    def open_it(kb: Path, labelled: Sources | None = None) -> Store:
        services.append(Service(Settings(home=kb), cache_seconds=0))
        return Store(services[-1], labelled=labelled)

    yield open_it
    for service in services:
        service.__exit__(None, None, None)


@pytest.fixture
def store(indexed: tuple[Path, Path], open_store: Callable[..., Store]) -> Store:
    return open_store(indexed[1])


@pytest.fixture
def ask(store: Store) -> Callable[..., Why]:
    return lambda query, expect, k=3: why(store, query, expect=expect, k=k)


def told(found: Why) -> tuple[Kind, str | None, str, str]:
    d = found.diagnosis
    return d.kind, d.cause, d.code, d.lever


# The trace ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("filters", [Filters(), Filters(paths=("auth/*", "shop/*"))])
@pytest.mark.parametrize("query", [RENEW, "renew_session_token_3", "state of an invoice", "checksum of blocks"])
def test_a_trace_is_the_search(store: Store, query: str, filters: Filters) -> None:
    trace = store.service.trace(query, k=5, filters=filters)
    assert trace.hits == store.service.search(query, k=5, filters=filters).hits
    assert [fate.hit for fate in trace.fates if fate.what == "kept"] == [hit.rank for hit in trace.hits]
    assert len(trace.fates) == len(trace.ranking.rows)
    parts = trace.ranking.parts()
    assert np.allclose(sum(parts.values()), trace.ranking.scores, atol=1e-4)
    assert parts.keys() < trace.ranking.features.keys()
    taken = np.unique(np.concatenate([leg.taken for leg in trace.legs.values()]))
    assert {*taken} <= {*trace.ranking.rows}
    files = {int(trace.view.file[row]) for row in taken}
    assert {int(trace.view.file[row]) for row in trace.ranking.rows} == files  # what is more is of the same files


def test_legs_rank_everything(store: Store) -> None:
    trace = store.service.trace(RETRY, k=3)
    dense, lexical = trace.legs["dense"], trace.legs["lexical"]
    assert sorted(dense.rows) == list(range(trace.view.n))
    for leg in (dense, lexical):
        assert list(leg.scores) == sorted(leg.scores, reverse=True)
        assert len(leg.taken) < len(leg.rows)
    assert [lexical.rank_of(int(row)) for row in lexical.rows[:3]] == [1, 2, 3]
    assert set(lexical.taken) == set(lexical.rows[: len(lexical.taken)])
    assert not store.service.trace(RETRY, legs=False).legs


# One test a cause ---------------------------------------------------------------------------------------------------


def test_found(ask: Callable[..., Why]) -> None:
    found = ask("evict stale entries", "cache/lru.py:evict")
    assert told(found) == ("found", None, "", "")
    assert found.diagnosis.rank == 1
    assert ask("evict stale entries", "cache/lru.py").diagnosis.rank == 1


def test_not_indexed_tells_the_reason_of_the_skip(ask: Callable[..., Why]) -> None:
    found = ask("logo", "logo.png")
    assert told(found) == ("low_recall", "not_indexed", "binary", "indexing")
    assert "a .png file" in found.diagnosis.reason


def test_not_indexed_with_its_whole_folder(own: tuple[Path, Path], open_store: Callable[..., Store]) -> None:
    (own[0] / ".gitignore").write_text("models/\n")
    (own[0] / "auth" / "models").mkdir()
    (own[0] / "auth" / "models" / "user.py").write_text("class User:\n    pass\n")
    with Writer(own[1], IngestOptions(n_workers=1)) as writer:
        writer.add(str(own[0]), name="lossy")
    found = why(open_store(own[1]), "user", expect="auth/models/user.py:User")
    assert told(found) == ("low_recall", "not_indexed", "ignored", "indexing")
    assert "auth/models/ was skipped (ignored)" in found.diagnosis.reason


def test_not_indexed_since_the_file_is_new(own: tuple[Path, Path], open_store: Callable[..., Store]) -> None:
    (own[0] / "auth" / "fresh.py").write_text("def fresh():\n    return 1\n")
    found = why(open_store(own[1]), "fresh", expect="auth/fresh.py:fresh")
    assert told(found) == ("low_recall", "not_indexed", "new", "indexing")


def test_stale_when_the_lines_changed_on_disk(own: tuple[Path, Path], open_store: Callable[..., Store]) -> None:
    path = own[0] / "cache" / "lru.py"
    path.write_text("# moved down\n" + path.read_text())
    store = open_store(own[1])
    moved = why(store, RENEW, expect="cache/lru.py:evict", k=1)
    assert moved.diagnosis.cause == "vocabulary"  # the lines stand elsewhere: that lost nothing
    path.write_text(path.read_text().replace("popitem(last=False)", "clear()"))
    changed = why(open_store(own[1]), RENEW, expect="cache/lru.py:evict", k=1)
    assert told(changed) == ("low_recall", "stale", "", "syncing")
    path.unlink()
    assert "no longer in its source" in why(
        open_store(own[1]), RENEW, expect="cache/lru.py", k=1
    ).diagnosis.reason  # fmt: skip


def test_stale_when_the_symbol_is_on_disk_only(own: tuple[Path, Path], open_store: Callable[..., Store]) -> None:
    path = own[0] / "cache" / "lru.py"
    path.write_text(path.read_text() + "\n\ndef flush(entries):\n    entries.clear()\n")
    found = why(open_store(own[1]), RENEW, expect="cache/lru.py:flush", k=1)
    assert told(found) == ("low_recall", "stale", "", "syncing")
    assert "flush" in found.diagnosis.reason


def test_diversity_collapses_duplicates(ask: Callable[..., Why], store: Store) -> None:
    hit = store.service.search("adler checksum of all blocks", k=3).hits[0]
    other = hit.also_at[0].removeprefix("lossy/").rpartition(":")[0]
    found = ask("adler checksum of all blocks", f"{other}:adler_checksum")
    assert told(found) == ("low_rank", "diversity", "duplicate", "diversity rules")
    assert "hit 1 is the same text" in found.diagnosis.reason


def test_diversity_limits_the_hits_of_a_file(store: Store) -> None:
    query = "state of an invoice with a locked ledger"
    everything = 1000
    hits = store.service.search(query, k=everything).hits
    shown = "\n".join(hit.content for hit in hits if hit.path == "shop/invoice.py")
    names = ("draft_invoice", "open_invoice", "paid_invoice", "void_invoice")
    lost = [name for name in names if f"def {name}" not in shown]
    assert len(lost) == 2
    for name in lost:
        found = why(store, query, expect=f"shop/invoice.py:{name}", k=everything)
        assert told(found) == ("low_rank", "diversity", "file_limit", "diversity rules")
        few = why(store, query, expect=f"shop/invoice.py:{name}", k=30)
        assert told(few)[:2] == ("low_rank", "diversity")


def test_vocabulary_gap(ask: Callable[..., Why]) -> None:
    found = ask(RETRY, "cache/lru.py:evict")
    assert told(found) == ("low_recall", "vocabulary", "", "query expansion")
    words = found.diagnosis.words
    assert words is not None
    assert not words.shared
    assert {"retri", "job", "backoff"} <= set(words.lacking)
    lexical = next(leg for leg in found.diagnosis.legs if leg.leg == "lexical")
    assert (lexical.rank, lexical.taken) == (None, False)


def test_a_long_question_is_judged_by_the_words_that_are_searched(ask: Callable[..., Why]) -> None:
    noise = " ".join(f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(400))
    words = ask(f"{RENEW} {noise}", "auth/session.py:touch").diagnosis.words
    assert words is not None
    assert len(words.shared) + len(words.lacking) <= 48


def test_split_across_chunks(ask: Callable[..., Why]) -> None:
    found = ask("tariff, duty, excise and stamp of customs", "harbour/ship.py:ship")
    assert told(found) == ("low_rank", "split", "", "chunking")
    assert found.diagnosis.n_chunks > 1


def test_not_a_candidate_of_any_leg(ask: Callable[..., Why]) -> None:
    found = ask(RETRY, "audio/mixer.py:mix")
    assert told(found) == ("low_recall", "no_leg", "", "embedder")
    by_leg = {leg.leg: leg for leg in found.diagnosis.legs}
    assert not any(leg.taken for leg in by_leg.values())
    lexical, dense = by_leg["lexical"].rank, by_leg["dense"].rank
    assert lexical is not None and lexical > by_leg["lexical"].n_taken
    assert dense is not None and dense > by_leg["dense"].n_taken
    assert (by_leg["symbol"].rank, found.diagnosis.place) == (None, None)


def test_lost_in_fusion(ask: Callable[..., Why]) -> None:
    found = ask(RENEW, "auth/session.py:touch")
    assert (found.diagnosis.kind, found.diagnosis.cause, found.diagnosis.lever) == ("low_rank", "fusion", "reranker")
    costs = found.diagnosis.costs
    assert found.diagnosis.place is not None and found.diagnosis.place > 3
    assert costs and [cost.cost for cost in costs] == sorted((cost.cost for cost in costs), reverse=True)
    assert found.diagnosis.code == costs[0].feature


def test_the_penalty_of_further_chunks_is_a_cause_of_its_own(store: Store) -> None:
    """Here it sends the first candidate of a real search to the end."""
    trace = store.service.trace(RENEW, k=3)
    expected = Expected("lossy", trace.hits[0].path, ((trace.hits[0].start_line, trace.hits[0].end_line),))
    ranking = trace.ranking
    last = [*range(1, len(ranking.rows)), 0]
    nth_of_file = np.ones(len(ranking.rows), np.float32)
    nth_of_file[-1] = 40
    features = {name: values[last] for name, values in ranking.features.items()} | {"nth_of_file": nth_of_file}
    moved = replace(ranking, rows=ranking.rows[last], features=features)
    moved = replace(moved, scores=sum(moved.parts().values()))
    found = diagnose(
        replace(trace, ranking=moved, fates=(*trace.fates[1:], trace.fates[-1]), hits=trace.hits[1:]),
        expected,
        facts=store.facts(trace, expected, rows=expected_rows(trace, expected)),
    )
    assert (found.kind, found.cause, found.code) == ("low_rank", "diversity", "nth_of_file")
    assert found.lever == "diversity rules"
    assert found.place == found.n_candidates


def test_a_neighbour_of_a_hit_is_named(own: tuple[Path, Path], open_store: Callable[..., Store]) -> None:
    (own[0] / "auth" / "login.py").write_text(
        "from cache.lru import evict\n\n\n"
        'def renew_the_session_token(session):\n    """Renew the session token."""\n    return evict(session)\n'
    )
    with Writer(own[1], IngestOptions(n_workers=1)) as writer:
        writer.add(str(own[0]), name="lossy")
    found = why(open_store(own[1]), "renew_the_session_token", expect="cache/lru.py:evict", k=1)
    assert (found.diagnosis.cause, found.diagnosis.lever) == ("vocabulary", "graph")
    near = found.diagnosis.neighbour
    assert near is not None
    assert (near.rank, near.relation, near.name) == (1, "uses", "evict")


# Bad input ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("expect", "message"), [
    ("auth/sesion.py", "nearest: auth/session.py"),
    ("elsewhere/mixer.py:mix", "nearest: audio/mixer.py"),
    ("../lossy/auth/session.py", "no file"),
    ("", "no file"),
    ("auth/session.py:tuch", "it defines touch"),
    ("auth/session.py:", "name a symbol or lines"),
    ("auth/session.py:3-1", "between 1 and 3"),
    ("auth/session.py:2-9", "between 1 and 3"),
])  # fmt: skip
def test_what_cannot_be_expected_is_named(ask: Callable[..., Why], expect: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ask("x", expect)


def test_an_ambiguous_path_wants_a_repository(
    indexed: tuple[Path, Path], own: tuple[Path, Path], open_store: Callable[..., Store]
) -> None:
    with Writer(own[1], IngestOptions(n_workers=1)) as writer:
        writer.add(str(own[0] / "auth"), name="auth")
        writer.add(str(indexed[0] / "auth"), name="again")
    store = open_store(own[1])
    with pytest.raises(UsageError, match="again, auth: say which with --repo"):
        why(store, RENEW, expect="session.py")
    assert why(store, RENEW, expect="session.py", repo="auth").expected.repo == "auth"
    with pytest.raises(UsageError, match="known: again, auth, lossy"):
        why(store, RENEW, expect="session.py", repo="nope")


# A dataset ----------------------------------------------------------------------------------------------------------


def _topic(topic_id: str, query: str, *spans: Span, repo: str = "lossy", text: str = "") -> Topic:
    return Topic(topic_id, query, truths=tuple(Truth(span, text=text) for span in spans), repo=repo)


def test_a_dataset_is_counted_by_cause(store: Store) -> None:
    topics = [
        _topic("found", "evict stale entries", Span("cache/lru.py")),
        _topic("half", "evict stale entries", Span("cache/lru.py", 1, 3), Span("gone.py", 1, 2)),
        _topic("fused", RENEW, Span("auth/session.py", 1, 3)),
        _topic("elsewhere", RENEW, Span("auth/session.py", 1, 3), repo="other"),
        Topic("trap", "does it fly?", "trap", repo="lossy"),
    ]
    steps: list[tuple[int, int]] = []
    found = diagnose_dataset(
        store, dataset_of("set", topics), k=3, progress=lambda done, total: steps.append((done, total))
    )
    assert (found.n_topics, found.n_failed, found.n_partial, found.n_unjudged) == (4, 2, 1, 1)
    assert (found.n_truths, found.n_missed) == (5, 3)
    assert [topic.cause for topic in found.topics] == ["", "", "fusion", "not_indexed"]
    assert {(row.cause, row.code, row.n_topics, row.n_truths) for row in found.causes} == {
        ("fusion", found.topics[2].truths[0].diagnosis.code, 1, 1),
        ("not_indexed", "no_repository", 1, 1),
        ("not_indexed", "absent", 0, 1),
    }
    assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]
    only = diagnose_dataset(store, dataset_of("set", topics), k=3, repos=("lossy",))
    assert (only.n_topics, only.n_failed) == (3, 1)


def test_a_failed_topic_has_the_cause_of_the_truth_that_came_furthest(store: Store) -> None:
    topic = _topic("t", RENEW, Span("gone.py", 1, 2), Span("cache/lru.py", 1, 3), Span("auth/session.py", 1, 3))
    found = diagnose_topic(store, topic, k=3)
    assert [item.diagnosis.cause for item in found.truths] == ["not_indexed", "vocabulary", "fusion"]
    assert found.cause == "fusion"


def test_labels_that_no_longer_match_are_stale(
    indexed: tuple[Path, Path], own: tuple[Path, Path], open_store: Callable[..., Store]
) -> None:
    span = Span("auth/session.py", 1, 3)
    recorded = diagnose_topic(open_store(indexed[1]), _topic("t", RENEW, span, text="def touch(old):\n    pass"), k=3)
    assert recorded.cause == "stale"
    beyond = diagnose_topic(open_store(indexed[1]), _topic("t", RENEW, Span("auth/session.py", 80, 90)), k=3)
    assert beyond.truths[0].diagnosis.reason == "line 80 was meant, the indexed auth/session.py has 3"
    one_more = diagnose_topic(open_store(indexed[1]), _topic("t", RENEW, Span("auth/session.py", 1, 4)), k=3)
    assert one_more.cause == "fusion"  # the empty line behind the last line break was counted
    (own[0] / "auth" / "session.py").write_text("def other():\n    return 1\n\n\ndef touch():\n    return 2\n")
    sources = Sources({"lossy": own[0]})
    compared = diagnose_topic(open_store(indexed[1], sources), _topic("t", RENEW, span), k=3)
    assert compared.cause == "stale"
    assert "labelled" in compared.truths[0].diagnosis.reason


def test_nothing_to_diagnose_is_an_error(store: Store) -> None:
    with pytest.raises(UsageError, match="no topic with a truth"):
        diagnose_dataset(store, dataset_of("set", [Topic("t", "?", "trap")]))
    with pytest.raises(UsageError, match="no topic about x with a truth"):
        diagnose_dataset(store, dataset_of("set", [_topic("t", "?", Span("a.py"))]), repos=("x",))
    with pytest.raises(UsageError, match="about other, this knowledge base holds lossy"):
        diagnose_dataset(store, dataset_of("set", [_topic("t", "?", Span("a.py"), repo="other")]))


def test_a_found_truth_needs_no_facts(store: Store) -> None:
    trace = store.service.trace("evict stale entries", k=3, legs=False)
    assert diagnose(trace, Expected("lossy", "cache/lru.py"), facts=Facts()).kind == "found"
