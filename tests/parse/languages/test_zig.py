"""Zig: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = """const std = @import("std");
/// Doc
pub const Foo = struct {
    x: i32,
    pub const MAX = 3;
    pub fn m(self: *Foo, a: i32) i32 { obj.call(a); g(); return std.mem.eql(u8, a); }
    const Inner = enum { a, b };
};
const E = enum(u8) { a = 1, b };
const U = union(enum) { q: i32 };
const Op = opaque {};
const Err = error{ A, B };
pub fn top(comptime T: type) type { return struct { fn inner() void {} }; }
var gv: i32 = 1;
test "name" { top(); }
test top { }
extern fn cf(a: i32) void;
const P = packed struct { a: u1 };
"""

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "zig", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("struct", "Foo"),
        ("method", "Foo.m"),
        ("constant", "Foo.MAX"),
        ("enum", "Foo.Inner"),
        ("enum_member", "Foo.Inner.a"),
        ("union", "U"),
        ("enum_member", "Err.A"),
        ("function", "top"),
        ("variable", "gv"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("calls", "call"),
        ("calls", "eql"),
        ("imports", "std"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "Doc")


def test_visibility() -> None:
    private = {symbol.qualified_name for symbol in read().symbols if symbol.visibility == "private"}
    assert {"Foo.Inner"} <= private
