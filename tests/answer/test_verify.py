from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from devmind.answer.verify import View, find_mentions, format_citation, verify, verify_text
from devmind.types import Citation

if TYPE_CHECKING:
    from devmind.answer.verify import Lines

VIEWS = {"web": View(3, "abc123")}


def cite(path: str, symbol: str, start_line: int, end_line: int) -> Citation:
    return Citation("web", path, symbol, start_line, end_line, "abc123", verified=False)


def check(citation: Citation, sources: Lines) -> tuple[int, int] | None:
    (verdict,) = verify([citation], generations={"web": 3}, sources=sources)
    if verdict.resolved is None:
        assert verdict.problem
        return None
    assert verdict.resolved.verified
    return verdict.resolved.start_line, verdict.resolved.end_line


@pytest.mark.parametrize(("citation", "expected"), [
    (cite("src/cache.py", "Cache.evict", 5, 10), (5, 10)),
    (cite("src/cache.py", "Cache.evict", 8, 9), (8, 9)),  # inside the symbol
    (cite("src/cache.py", "", 2, 3), (2, 3)),
    (cite("src/cache.py", "Cache.evict", 1, 2), (5, 10)),  # elsewhere in the file: re-anchored
    (cite("src/cache.py", "Cache.evict", 50, 60), (5, 10)),
    (cite("src/cache.py", "Cache.evict", 9, 5), (5, 10)),
    (cite("src/cache.py", "Cache.vanish", 5, 10), None),
    (cite("src/cache.py", "", 9, 11), None),
    (cite("src/cache.py", "", 0, 3), None),
    (cite("src/gone.py", "Cache.evict", 5, 10), None),
])  # fmt: skip
def test_a_citation_is_kept_re_anchored_or_removed(
    citation: Citation, expected: tuple[int, int] | None, sources: Lines
) -> None:
    assert check(citation, sources) == expected


def test_a_name_must_stand_as_a_whole_word(sources: Lines) -> None:
    assert check(cite("src/cache.py", "entrie", 5, 10), sources) is None


def test_another_generation_is_another_text(sources: Lines) -> None:
    (verdict,) = verify([cite("src/cache.py", "Cache", 1, 2)], generations={"web": 2}, sources=sources)
    assert verdict.resolved is None


def test_mentions_are_found_in_free_text() -> None:
    text = (
        "See `src/cache.py:Cache.evict`, src/cache.py:12-20 and docs/guide.md:L3-L4. "
        "Also src/cache.py:Cache.evict (L5-L10), std/x.cc:ns::f. Not http://localhost:8080/x, 12:30 or note: this."
    )
    found = [(m.path, m.symbol, m.start_line, m.end_line) for m in find_mentions(text)]
    assert found == [
        ("src/cache.py", "Cache.evict", 0, 0),
        ("src/cache.py", "", 12, 20),
        ("docs/guide.md", "", 3, 4),
        ("src/cache.py", "Cache.evict", 5, 10),
        ("std/x.cc", "ns::f", 0, 0),
    ]


def test_free_text_keeps_what_resolves_and_loses_what_does_not(sources: Lines) -> None:
    text = "Entries go (src/cache.py:Cache.evict) at once (src/cache.py:40-50), see src/gone.py:Gone. And/or:not stays."
    checked = verify_text(text, views=VIEWS, sources=sources)
    assert checked.text == "Entries go (src/cache.py:Cache.evict (L5-L10)) at once, see. And/or:not stays."
    assert [format_citation(c) for c in checked.citations] == ["src/cache.py:Cache.evict (L5-L10)"]
    assert checked.n_removed == 2


def test_chinese_text_glued_to_a_path_and_a_repository_prefix_resolve(sources: Lines) -> None:
    checked = verify_text("淘汰逻辑见src/cache.py:evict。另见web/src/cache.py:2-3。", views=VIEWS, sources=sources)
    assert checked.text == "淘汰逻辑见src/cache.py:evict (L5-L10)。另见src/cache.py:L2-L3。"
    assert checked.n_removed == 0
