from __future__ import annotations

import io
import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from rich.console import Console

from devmind.render.plain import batch_hit, dumps, to_json
from devmind.render.terminal import (
    Links,
    one_line,
    safe,
    show_answer,
    show_edges,
    show_files,
    show_report,
    show_rows,
    show_search,
    show_status,
    show_symbols,
    telling_window,
)
from devmind.types import Answer, Citation, Hit, SearchResult

HIT = Hit(
    rank=1, score=0.5, repo="web", path="src/a b.py", start_line=3, end_line=4, language="python", symbol="f",
    kind="function", role="source", content="def f():\n    return '\x1b[31m缓存'", header="secret header",
    commit="c" * 40, generation=2, chunk_id="id", focus=(3, 4), why={"bm25": 1.0},
)  # fmt: skip
RESULT = SearchResult("f", (HIT,), 0.9, {"web": 2})


def printed(*, terminal: bool = False) -> tuple[Console, io.StringIO]:
    stream = io.StringIO()
    return Console(file=stream, force_terminal=terminal, width=200, highlight=False, markup=False), stream


def test_json_has_the_agreed_shape_and_no_header() -> None:
    hit = json.loads(dumps(RESULT))["hits"][0]
    assert set(hit) == {
        "rank", "score", "repo", "path", "start_line", "end_line", "language", "symbol", "kind", "role", "content",
        "commit", "generation", "chunk_id", "focus", "fresh", "also_at", "why",
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


def test_an_unchanged_repository_is_reported_in_one_line_and_a_dirty_tree_is_named() -> None:
    out, stream = printed()
    report = {
        "repo": "web", "generation": 2, "commit": "c" * 40 + "-dirty", "changed": False, "n_files": 3, "n_indexed": 2,
        "n_reused": 2, "n_chunks": 5, "n_symbols": 4, "n_edges": 6, "files_by_language": {"python": 2},
        "skips_by_reason": {}, "completeness": 1.0, "bytes_indexed": 2_000_000, "seconds": 1.0,
    }  # fmt: skip
    show_report(out, report)
    assert stream.getvalue() == "web: unchanged, generation 2 @ cccccccccccc-dirty: 2 files, 5 chunks\n"


def test_a_table_names_and_groups_its_counts() -> None:
    out, stream = printed()
    show_rows(out, [{"generation": 1200, "active": True, "n_chunks": 1234}])
    assert [line.split() for line in stream.getvalue().splitlines()] == [
        ["generation", "active", "chunks"],
        ["1200", "yes", "1,234"],
    ]


def test_a_signature_of_several_lines_is_shown_as_one() -> None:
    assert one_line("def f( self, a: int = (1,), *rest: int, ) -> list[ int, ]") == (
        "def f(self, a: int = (1,), *rest: int) -> list[int]"
    )
    assert one_line("func (s *Store) Load(id string) (int, error)") == "func (s *Store) Load(id string) (int, error)"


def test_a_snippet_shows_the_line_that_the_query_tells() -> None:
    lines = [f"line {n}" for n in range(101, 131)]
    hit = replace(HIT, content="\n".join(lines), start_line=101, end_line=130, focus=(101, 130))
    for told, first in (([7, 116], 112), ([130], 123), ([102], 101), ([7], 101)):
        out, stream = printed()
        result = SearchResult("line", (hit,), 0.9, {"web": 2})
        show_search(out, result, Links("", {}), explain=False, full=False, lines_told={1: told})
        shown = [row.split("│")[1].strip() for row in stream.getvalue().split("\n") if "│" in row]
        assert shown == [f"line {n}" for n in range(first, first + 8)]


def test_a_snippet_shows_the_lines_that_share_most_with_the_query() -> None:
    lines = ["/* licence", *[f" * text {n}" for n in range(10)], " */", "const fresh = require('fresh')", "next()"]
    assert telling_window(lines, "fresh", 8) == 6  # the last eight: the match stands near the end
    assert telling_window(lines, "licence of fresh", 8) == 0  # the head shares as much
    assert telling_window(lines, "nothing here", 8) == 0
    assert telling_window(lines[:8], "fresh", 8) == 0
    out, stream = printed()
    hit = replace(HIT, content="\n".join(lines), start_line=1, end_line=len(lines), focus=(1, len(lines)))
    show_search(out, SearchResult("fresh", (hit,), 0.9, {"web": 2}), Links("", {}), explain=False, full=False)
    assert "      13 │ const fresh" in stream.getvalue()
    assert "… 6 more lines" in stream.getvalue()
    assert "licence" not in stream.getvalue()


@pytest.mark.parametrize(("lexical", "warned"), [(0.0, True), (1.5, False)])
def test_hits_that_share_no_word_with_the_query_are_marked(lexical: float, warned: bool) -> None:
    out, stream = printed()
    hit = replace(HIT, why={"lexical": lexical, "dense": 0.1})
    show_search(out, SearchResult("f", (hit,), 0.1, {"web": 2}), Links("", {}), explain=False, full=False)
    assert ("holds a word of the query" in stream.getvalue()) is warned


def test_relations_symbols_files_and_states_are_lines_that_fit_a_narrow_window() -> None:
    out, stream = printed()
    edge = {"repo": "web", "kind": "calls", "source": "A.f", "target": "B.g", "path": "a.py", "line": 3,
            "target_path": "b.py", "confidence": "exact"}  # fmt: skip
    show_edges(out, [edge, {**edge, "kind": "imports", "source": "a.py", "target_path": ""}], Links("", {}))
    symbol = {"repo": "web", "path": "b.py", "name": "g", "qualified_name": "B.g", "kind": "method", "start_line": 3,
              "end_line": 9, "signature": "def g(self)", "docstring": "Go\nhome.\n\nMore."}  # fmt: skip
    show_symbols(out, [symbol], Links("", {}))
    state = {"repo": "web", "source": "/src/web", "ref": "v1", "generation": 2, "commit": "", "n_indexed": 2,
             "n_chunks": 5, "completeness": 0.5}  # fmt: skip
    show_status(out, [state, {**state, "repo": "new", "generation": 0, "ref": None}])
    indexed = {"path": "a.py", "status": "indexed", "reason": "", "detail": "syntax errors", "language": "python",
               "role": "source", "size_bytes": 10, "n_lines": 1200, "encoding": "utf-8"}  # fmt: skip
    skipped = {"path": "x.png", "status": "skipped", "reason": "binary", "detail": "a .png file", "size_bytes": 9}
    show_files(out, [indexed, skipped])
    assert stream.getvalue().splitlines() == [
        "a.py:3  A.f calls B.g  in b.py  exact  web",
        "a.py:3  imports B.g  web",
        "b.py:3-9  B.g  method  web",
        "    def g(self)",
        "    Go home.",
        "web  generation 2  2 files  5 chunks  50.00 % complete",
        "    /src/web at v1",
        "new  not indexed yet; 'devmind sync new' indexes it",
        "    /src/web",
        "a.py  python  source  1,200 lines  syntax errors",
        "x.png  skipped, binary: a .png file",
    ]
