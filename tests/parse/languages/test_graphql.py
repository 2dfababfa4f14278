"""Graphql: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = '''"""A user."""
type User implements Node & Ent {
  id: ID!
  "posts"
  posts(first: Int, after: String): [Post!]!
  multi(
    a: Int
  ): Other
}
input In { a: String }
interface Node { id: ID }
enum Color {
  RED
  GREEN
}
union U = A | B
scalar Date
type Query {
  user(id: ID!): User
}
query GetUser($id: ID!) {
  user(id: $id) { name }
}
fragment F on User { id }
'''

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "graphql", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("class", "User"),
        ("field", "User.posts"),
        ("struct", "In"),
        ("interface", "Node"),
        ("enum_member", "Color.RED"),
        ("union", "U"),
        ("field", "Query.user"),
        ("function", "GetUser"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("implements", "Node"),
        ("implements", "Ent"),
        ("references", "Post"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "A user")
