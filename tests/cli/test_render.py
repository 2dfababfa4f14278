from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from devmind.render.plain import batch_hit, dumps, to_json
from devmind.render.terminal import Links, safe, show_answer, show_report, show_rows, show_search
from devmind.types import Answer, Citation, Hit, SearchResult

HIT = Hit(
    rank=1, score=0.5, repo="web", path="src/a b.py", start_line=3, end_line=4, language="python", symbol="f",
    kind="function", role="source", content="def f():\n    return '\x1b[31m缓存'", header="secret header",
    commit="c" * 40, generation=2, chunk_id="id", why={"bm25": 1.0},
)  # fmt: skip
RESULT = SearchResult("f", (HIT,), 0.9, {"web": 2})


def printed(*, terminal: bool = False) -> tuple[Console, io.StringIO]:
    stream = io.StringIO()
    return Console(file=stream, force_terminal=terminal, width=200, highlight=False, markup=False), stream


def test_json_has_the_agreed_shape_and_no_header() -> None:
    hit = json.loads(dumps(RESULT))["hits"][0]
    assert set(hit) == {
        "rank", "score", "repo", "path", "start_line", "end_line", "language", "symbol", "kind", "role", "content",
        "commit", "generation", "chunk_id", "fresh", "also_at", "why",
    }  # fmt: skip
    assert hit["content"] == HIT.content
    assert batch_hit(HIT)["file"] == HIT.path


def test_json_is_one_line_of_plain_values() -> None:
    @dataclass(frozen=True)
    class Value:
        path: Path
        names: tuple[str, ...]

    assert to_json(Value(Path("/x"), ("缓存\n",))) == {"path": "/x", "names": ["缓存\n"]}
    assert dumps({"a": "缓存\n"}) == '{"a": "缓存\\n"}'


@pytest.mark.parametrize("terminal", [True, False])
def test_no_control_character_of_a_repository_reaches_the_terminal(terminal: bool) -> None:
    out, stream = printed(terminal=terminal)
    show_search(out, RESULT, Links("", {}), explain=True, full=True)
    assert "\x1b[31m缓存" not in stream.getvalue()
    assert "\\x1b[31m缓存" in stream.getvalue().replace("\x1b[0m", "") or terminal
    assert safe("a\u202eb\udc80") == "a\\u202eb\\udc80"


def test_a_place_links_to_the_file_when_it_is_here() -> None:
    out, stream = printed(terminal=True)
    show_search(out, RESULT, Links("file://{path}#L{line}", {"web": "/home/me/web"}), explain=False, full=False)
    assert "file:///home/me/web/src/a%20b.py#L3" in stream.getvalue()
    assert "src/a b.py:3-4" in stream.getvalue()


def test_an_answer_lists_its_citations() -> None:
    citation = Citation("web", "src/a.py", "f", 3, 4, "c" * 40, verified=True)
    out, stream = printed()
    show_answer(out, Answer("q", "text", (citation,), False, "", [HIT], "extractive"), Links("", {}), full=False)
    assert "[1] src/a.py:3-4  f  web @ cccccccccccc" in stream.getvalue()


def test_rows_and_reports_are_tables() -> None:
    out, stream = printed()
    show_rows(out, [{"repo": "web", "path": "a.py", "name": "f", "start_line": 3, "end_line": 9, "docstring": ""}])
    assert "a.py:3-9" in stream.getvalue()
    assert "docstring" not in stream.getvalue()
    report = {
        "repo": "web", "generation": 2, "commit": "", "changed": True, "n_files": 3, "n_indexed": 2, "n_reused": 1,
        "n_chunks": 5, "n_symbols": 4, "n_edges": 6, "files_by_language": {"python": 2},
        "skips_by_reason": {"binary": 1}, "completeness": 1.0, "bytes_indexed": 2_000_000, "seconds": 1.0,
    }  # fmt: skip
    show_report(out, report)
    assert "100.00 %" in stream.getvalue()
    assert "2.0 MB/s" in stream.getvalue()
    assert "binary 1" in stream.getvalue()
