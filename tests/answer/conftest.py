"""A small repository in memory, as the composer and the verifier see the store."""

from __future__ import annotations

from dataclasses import replace

import pytest

from devmind.answer.subject import Named
from devmind.types import Hit, SearchResult, split_lines

CACHE = '''\
# Old entries go first: a web page that was not read for an hour is unlikely to be read again.
class Cache:
    """Keep recent pages in memory. More text that no answer needs."""

    def evict(self, limit):
        """Drop the oldest entries until at most ``limit`` remain."""
        # reversed order because the newest entry stands last
        while len(self.entries) > limit:
            oldest = self.find_oldest()
            self.entries.pop(oldest)
'''
GUIDE = "# Guide\n\nThe cache evicts the oldest entries.\n"


class FakeSources:
    """Implements ``devmind.answer.extractive.Sources`` over a dict."""

    def __init__(self) -> None:
        self.files = {
            ("web", "src/cache.py", 3): CACHE,
            ("web", "docs/guide.md", 3): GUIDE,
            ("web", "a b/c.py", 3): CACHE,
        }
        self.spans = {"Cache": (1, 10), "Cache.evict": (5, 10), "evict": (5, 10), "Guide": (1, 3)}

    def lines(self, repo: str, path: str, generation: int) -> list[str] | None:
        text = self.files.get((repo, path, generation))
        return None if text is None else split_lines(text)

    def symbol_span(self, repo: str, path: str, generation: int, symbol: str) -> tuple[int, int] | None:
        return self.spans.get(symbol) if (repo, path, generation) in self.files else None

    def is_defined(self, name: str, repo: str) -> bool:
        return False

    def named_within(self, repo: str, path: str, generation: int, *, start_line: int, end_line: int) -> list[Named]:
        spans = self.spans.items() if path.endswith(".py") else ()
        return [
            Named(name, "class" if name == "Cache" else "method", first, last, "")
            for name, (first, last) in spans
            if name not in ("evict", "Guide") and first <= end_line and last >= start_line
        ]


@pytest.fixture
def sources() -> FakeSources:
    return FakeSources()


@pytest.fixture
def evict() -> Hit:
    return Hit(
        rank=1, score=1.0, repo="web", path="src/cache.py", start_line=5, end_line=10, language="python",
        symbol="Cache.evict", kind="method", role="source", content="\n".join(CACHE.split("\n")[4:10]),
        header="Cache.evict\ndef evict(self, limit)\nDrop the oldest entries until at most ``limit`` remain.\n"
        "calls: len, find_oldest, pop",
        commit="abc123", generation=3, chunk_id="1", focus=(5, 10),
    )  # fmt: skip


@pytest.fixture
def found(evict: Hit) -> SearchResult:
    copy = replace(evict, rank=2, path="a b/c.py", chunk_id="2")
    guide = replace(
        evict, rank=3, path="docs/guide.md", start_line=1, end_line=3, symbol="Guide", kind="heading", role="docs",
        language="markdown", content=GUIDE.rstrip("\n"), header="", chunk_id="3",
        focus=(1, 3),
    )  # fmt: skip
    return SearchResult("evict", (evict, copy, guide), 0.9, {"web": 3}, {"total": 1.0}, ("Cache", "evict"))
