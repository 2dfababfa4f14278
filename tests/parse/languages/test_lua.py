"""Lua: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = """local M = {}
local j = require("a.b")
-- Doc
function M.f(a) obj.call(a) obj:m(1) g() end
function M:g() end
local function loc() end
function glob() end
M.h = function(x) end
local k = function() end
MAX = 3
local T = { a = function() end, b = 1 }
function A.B.c() end
return M
"""

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "lua", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("method", "M.f"),
        ("method", "M.g"),
        ("function", "loc"),
        ("function", "glob"),
        ("method", "M.h"),
        ("function", "k"),
        ("constant", "MAX"),
        ("function", "T.a"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("calls", "call"),
        ("calls", "m"),
        ("calls", "g"),
        ("imports", "b"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "Doc")


def test_visibility() -> None:
    private = {symbol.qualified_name for symbol in read().symbols if symbol.visibility == "private"}
    assert {"loc"} <= private
