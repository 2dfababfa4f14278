"""Scala: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = """package com.acme
import a.b.{C, D => E}
import a.z._
import x.Y
/** Doc */
class Foo(val x: Int) extends Base(x) with Tr[Int] {
  private val y = 1
  var z: Int = 2
  def m(a: Int): Int = { obj.call(a); g(a) }
  type TT = Int
}
object Obj { val MAX = 3 }
trait Tr[A] { def q: Int }
case class P(a: Int)
enum Color { case Red, Green; case Blue(x: Int) }
given intOrd: Ord[Int] with { def cmp = 1 }
"""

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "scala", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("class", "Foo"),
        ("method", "Foo.m"),
        ("object", "Obj"),
        ("trait", "Tr"),
        ("enum", "Color"),
        ("enum_member", "Color.Red"),
        ("type", "Foo.TT"),
        ("constant", "Obj.MAX"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("calls", "call"),
        ("imports", "C"),
        ("imports", "Y"),
        ("imports", "z"),
        ("inherits", "Base"),
        ("implements", "Tr"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "Doc")


def test_visibility() -> None:
    private = {symbol.qualified_name for symbol in read().symbols if symbol.visibility == "private"}
    assert {"Foo.y"} <= private
