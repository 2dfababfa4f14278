"""DevMind in this process, over a small knowledge base that was really indexed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from devmind.evaluate.runner import ask
from devmind.evaluate.targets import Target, open_target
from devmind.evaluate.types import Response, Span, Topic
from devmind.ingest import IngestOptions, Report, Writer
from devmind.retrieve import Request
from devmind.service import Service
from devmind.settings import Settings

TOTAL = Topic("t1", "sum of all prices, tax included", repo="shop")


def respond(target: Target, topic: Topic, *, k: int = 5) -> Response:
    response = ask(target, topic, k=k)
    assert response is not None
    return response


@pytest.fixture
def opened(shop: Path, kb: Path, add: Callable[[Path], Report]) -> Iterator[Callable[[str], Target]]:
    add(shop)
    targets: list[Target] = []

    def run(spec: str) -> Target:
        targets.append(open_target(spec, settings=Settings(home=kb)))
        return targets[-1]

    yield run
    for target in targets:
        target.close()


def test_search_gives_hits_with_places_text_and_reasons(opened: Callable[[str], Target]) -> None:
    target = opened("devmind")
    response = respond(target, TOTAL)
    best = response.hits[0]
    assert best.span is not None
    assert best.span.file == best.file == "shop/cart.py"
    assert "def total_price" in best.text
    assert best.why
    assert (response.answer, response.cited, response.notes) == (None, (), ())
    assert response.confidence is not None
    assert len(respond(target, TOTAL, k=1).hits) == 1
    assert target.name == "devmind:search"
    assert '"shop": "1@' in target.settings()["repos"]


def test_ask_gives_an_answer_with_citations_or_abstains(opened: Callable[[str], Target]) -> None:
    target = opened("devmind:ask")
    response = respond(target, Topic("t1", "How is the total price of the cart, tax included, computed in the shop?"))
    assert response.answer
    assert response.cited
    assert all(isinstance(span, Span) and span.start_line >= 1 for span in response.cited)
    assert {span.file for span in response.cited} <= {hit.file for hit in response.hits}
    refusal = respond(target, Topic("t2", "How does `KubernetesScheduler` place websocket pods?"))
    assert (refusal.abstained, refusal.cited) == (True, ())


def test_a_topic_is_asked_of_its_repository_if_that_is_there(
    opened: Callable[[str], Target], kb: Path, tmp_path: Path, add: Callable[[Path], Report]
) -> None:
    other = tmp_path / "depot-src"
    other.mkdir()
    (other / "sums.py").write_text('def all_prices():\n    """Sum of all prices, tax included."""\n', encoding="utf-8")
    with Writer(kb, IngestOptions(n_workers=1)) as writer:
        writer.add(str(other), name="depot")
    target = opened("devmind")
    assert {hit.file for hit in respond(target, Topic("t", TOTAL.query, repo="depot")).hits} == {"sums.py"}
    assert "sums.py" not in {hit.file for hit in respond(target, TOTAL).hits}
    everywhere = respond(target, Topic("t", TOTAL.query, repo="elsewhere"))
    assert {"sums.py", "shop/cart.py"} <= {hit.file for hit in everywhere.hits}
    assert everywhere.notes == ("repo_not_indexed",)


def test_labels_of_another_commit_are_noted(kb: Path, tmp_path: Path) -> None:
    folder = tmp_path / "depot"
    folder.mkdir()
    (folder / "sums.py").write_text("def all_prices():\n    return 0\n", encoding="utf-8")
    for argv in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"]):
        subprocess.run(["git", "-C", str(folder), *argv], check=True)
    with Writer(kb, IngestOptions(n_workers=1)) as writer:
        commit = writer.add(str(folder), name="depot").commit
    target = open_target("devmind", settings=Settings(home=kb))
    try:
        topic = Topic("t", "prices", repo="depot")
        assert [respond(target, replace(topic, commit=c)).notes for c in ("", commit, commit[:9], "0" * 40)] == [
            (), (), (), ("other_commit",),
        ]  # fmt: skip
    finally:
        target.close()


def test_a_service_without_cache_searches_again(shop: Path, kb: Path, add: Callable[[Path], Report]) -> None:
    add(shop)
    with Service(Settings(home=kb), cache_seconds=0) as service:
        assert service.retriever.search(Request(TOTAL.query)) is not service.retriever.search(Request(TOTAL.query))
    with Service(Settings(home=kb)) as service:
        assert service.retriever.search(Request(TOTAL.query)) is service.retriever.search(Request(TOTAL.query))


def test_an_empty_question_fails_alone(opened: Callable[[str], Target]) -> None:
    target = opened("devmind")
    failure = respond(target, Topic("t1", "  ")).failure
    assert failure is not None
    assert (failure.kind, failure.n_tries) == ("empty_query", 1)
    assert respond(target, TOTAL).failure is None


def test_a_fault_inside_devmind_is_a_failure_and_is_logged(
    opened: Callable[[str], Target], caplog: pytest.LogCaptureFixture
) -> None:
    target = opened("devmind")
    target.close()
    failure = respond(target, TOTAL).failure
    assert failure is not None
    assert (failure.kind, failure.n_tries) == ("crash", 1)
    assert "closed" in failure.message
    assert "Traceback" in caplog.text
