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


def test_conditionals_inside_declarations_do_not_hide_what_follows() -> None:
    found = read(
        """class Reader : Base
#if HAVE_ASYNC
    , IAsync
#endif
{
    void Read(int a)
    {
        switch (a)
        {
#if HAVE_BIG
            case 1: break;
#endif
        }
        if (a == 1)
#if HAVE_USE
            Use();
#else
            Pass();
#endif
    }
    void After() { }
}
"""
    )
    assert not found.has_errors
    assert [(s.qualified_name, s.start_line, s.end_line) for s in found.symbols] == [
        ("Reader", 1, 22),
        ("Reader.Read", 6, 20),
        ("Reader.After", 21, 21),
    ]


def test_attributes_are_no_part_of_a_signature() -> None:
    found = read('class A { [Old("x (y)")] [Req(typeof(A))] public int F(int a) { return 1; } int this[int i] => 1; }')
    assert [s.signature for s in found.symbols][1:] == ["public int F(int a)", "int this[int i] => 1;"]
