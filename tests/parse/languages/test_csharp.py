"""Csharp: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = """using System;
using F = System.IO.File;
using static System.Math;
namespace A.B;
/// <summary>Doc</summary>
[Route("api/[controller]")]
public class Foo<T> : Base, IFoo {
    private const int MAX = 1;
    int y;
    public Foo(int x) : base(x) { }
    ~Foo() { }
    public int Prop { get; set; }
    public event Action E;
    [HttpGet("x/{id}")]
    public async Task<int> M(int a) { obj.Call(a); G(); new Bar(1); this.X(); a?.B(); return 1; }
    public static Foo operator +(Foo a, Foo b) => a;
    public int this[int i] => i;
    class Nested { }
    void Local() { int inner(int q) => q; }
}
interface IFoo : IBase { void Z(); }
enum Color { Red, Green = 2 }
struct S { }
record R(int A);
record struct RS(int A);
delegate int D(int x);
"""

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "csharp", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("class", "A.B.Foo"),
        ("method", "A.B.Foo.M"),
        ("interface", "A.B.IFoo"),
        ("enum_member", "A.B.Color.Red"),
        ("struct", "A.B.S"),
        ("constant", "A.B.Foo.MAX"),
        ("property", "A.B.Foo.Prop"),
        ("type", "A.B.D"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("calls", "Call"),
        ("calls", "Bar"),
        ("imports", "System"),
        ("imports", "File"),
        ("inherits", "Base"),
        ("implements", "IFoo"),
        ("handles", "M"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "<summary>")


def test_visibility() -> None:
    private = {symbol.qualified_name for symbol in read().symbols if symbol.visibility == "private"}
    assert {"A.B.Foo.MAX"} <= private
