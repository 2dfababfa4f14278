from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from devmind.answer.callers import compose_callers
from devmind.retrieve.intent import asked_name
from devmind.types import SearchResult

if TYPE_CHECKING:
    from devmind.answer.verify import Lines


@pytest.mark.parametrize(("question", "name"), [
    ("Who calls find_oldest?", "find_oldest"),
    ("What calls `Cache.evict`?", "Cache.evict"),
    ("which functions call the evict() method?", "evict"),
    ("Where is the function find_oldest called?", "find_oldest"),
    ("callers of web::evict", "web::evict"),
    ("谁调用了 find_oldest?", "find_oldest"),
    ("哪些函数会调用find_oldest", "find_oldest"),
    ("Cache.evict 方法在哪里被调用?", "Cache.evict"),
    ("find_oldest被谁调用?", "find_oldest"),
    ("What calls are made when the cache is full?", ""),
    ("Where is the cache cleared?", ""),
    ("How does evict work?", ""),
    ("缓存如何淘汰?", ""),
])  # fmt: skip
def test_the_name_is_read_from_the_question(question: str, name: str) -> None:
    assert asked_name(question) == name


def edge(source: str, line: int, **other: str) -> dict[str, Any]:
    return {"repo": "web", "path": "src/cache.py", "source": source, "line": line, "confidence": "exact",
            "role": "source", **other}  # fmt: skip


def test_each_caller_is_cited_once_at_the_line_of_its_call(found: SearchResult, sources: Lines) -> None:
    edges = [
        edge("docs/guide.md", 3, path="docs/guide.md", confidence="guess", role="docs"),
        edge("Cache.evict", 9),
        edge("Cache.evict", 10),
    ]
    answer = compose_callers(
        "Who calls find_oldest?", "find_oldest", edges, result=found, commits={"web": "abc"}, sources=sources
    )
    assert answer is not None
    assert [(c.path, c.symbol, c.start_line, c.end_line, c.commit, c.verified) for c in answer.citations] == [
        ("src/cache.py", "Cache.evict", 9, 9, "abc", True),
        ("docs/guide.md", "", 3, 3, "abc", True),
    ]
    assert "`find_oldest` is called here:" in answer.answer
    assert "      9 |             oldest = self.find_oldest()" in answer.answer
    assert "`docs/guide.md` (by its name only)" in answer.answer
    assert not answer.abstained


def test_what_is_left_out_is_counted(found: SearchResult, sources: Lines) -> None:
    edges = [edge("Cache.evict", 9), *(edge(f"Cache.gone{n}", 500) for n in range(10))]
    answer = compose_callers("谁调用 evict?", "evict", edges, result=found, commits={}, sources=sources)
    assert answer is not None
    assert [citation.symbol for citation in answer.citations] == ["Cache.evict"]
    assert "还有 10 处" in answer.answer


def test_without_a_confirmed_place_there_is_no_such_answer(found: SearchResult, sources: Lines) -> None:
    gone = [edge("Cache.gone", 500)]
    assert compose_callers("Who calls x?", "x", gone, result=found, commits={}, sources=sources) is None
    assert compose_callers("Who calls x?", "x", [], result=found, commits={}, sources=sources) is None
