"""Swift: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = """import Foundation
import struct A.B
/// Doc
public class Foo: Base, Proto {
  private let y = 1
  static let MAX = 3
  var comp: Int { return 1 }
  init(x: Int) { super.init() }
  deinit {}
  func m(_ a: Int) -> String { obj.call(a); g() }
  subscript(i: Int) -> Int { return i }
  enum Inner { case a }
}
struct S: P { }
enum Color: Int { case red = 1, green; case blue(Int) }
protocol P: Q { func z(); var w: Int { get } }
extension Foo: Z where T: X { func e() {} }
extension A.B { func e2() {} }
typealias T = Int
func top() {}
let TOP = 1
actor Act { }
indirect enum Q { case x }
"""

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "swift", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("class", "Foo"),
        ("method", "Foo.m"),
        ("method", "Foo.init"),
        ("struct", "S"),
        ("enum_member", "Color.green"),
        ("protocol", "P"),
        ("method", "P.z"),
        ("method", "Foo.e"),
        ("method", "A.B.e2"),
        ("type", "T"),
        ("function", "top"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("calls", "call"),
        ("imports", "Foundation"),
        ("inherits", "Base"),
        ("implements", "Z"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "Doc")


def test_visibility() -> None:
    private = {symbol.qualified_name for symbol in read().symbols if symbol.visibility == "private"}
    assert {"Foo.y"} <= private
