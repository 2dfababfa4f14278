"""Ruby: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = """require 'json'
require_relative 'foo'
module A
  # Doc
  class Foo::Bar < Base
    include Comparable
    extend X::Y
    MAX = 3
    attr_accessor :a, :b
    has_many :posts
    scope :x, -> { 1 }
    def m(a)
      obj.call(a)
      g a
      h
      Foo.new(1)
    end
    def self.cm; end
    class << self
      def k; end
    end
    private
    def p; end
    private def q; end
    alias_method :z, :m
    define_method(:dm) { 1 }
    alias aa bb
  end
end
get '/x', to: 'a#b'
class Z < Struct.new(:a); end
"""

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "ruby", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("module", "A"),
        ("class", "A::Foo::Bar"),
        ("method", "A::Foo::Bar::m"),
        ("method", "A::Foo::Bar::cm"),
        ("constant", "A::Foo::Bar::MAX"),
        ("property", "A::Foo::Bar::a"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("calls", "call"),
        ("imports", "json"),
        ("inherits", "Base"),
        ("implements", "Comparable"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "Doc")


def test_visibility() -> None:
    private = {symbol.qualified_name for symbol in read().symbols if symbol.visibility == "private"}
    assert {"A::Foo::Bar::p", "A::Foo::Bar::q"} <= private
