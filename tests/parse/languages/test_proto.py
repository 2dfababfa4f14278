"""Proto: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = """// File lead.

syntax = "proto3";
package a.b;
import "google/x.proto";

// A user.
message User {
  string name = 1;
  repeated Address addresses = 2;
  map<string, Tag> tags = 3;
  enum Kind { UNKNOWN = 0; ADMIN = 1; }
  enum Other {
    A = 0;
  }
  oneof pick {
    int32 q = 4;
  }
  message Inner { int32 z = 1; }
}
service Users {
  // Get it.
  rpc Get(GetRequest) returns (User);
  rpc List(ListRequest) returns (stream User) {
    option x = 1;
  }
}
"""

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "proto", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("message", "User"),
        ("field", "User.name"),
        ("enum_member", "User.Other.A"),
        ("field", "User.pick.q"),
        ("service", "Users"),
        ("rpc", "Users.Get"),
        ("rpc", "Users.List"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("imports", "x.proto"),
        ("references", "Address"),
        ("references", "Tag"),
        ("references", "User"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "A user")
