"""Elixir: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = '''defmodule A.B do
  @moduledoc "Mod doc"
  use GenServer
  alias X.Y
  alias X.{P, Q}
  alias X.Z, as: W
  import I
  require L
  @behaviour Beh
  @max 3
  @doc """
  Doc
  """
  @spec f(integer) :: integer
  def f(a) when a > 1 do
    Obj.call(a)
    g(a)
    a |> h()
  end
  def f(a), do: 1
  def noargs, do: 1
  defp p(x), do: x
  defmacro mac(x) do end
  defstruct [:a, :b]
  defguard is_x(a) when a
  defdelegate d(x), to: X
  @type t :: integer
  @callback cb(integer) :: atom
end
defprotocol Pr do
  def z(x)
end
defimpl Pr, for: A.B do
  def z(x), do: x
end
'''

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "elixir", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("module", "A.B"),
        ("function", "A.B.f"),
        ("function", "A.B.noargs"),
        ("macro", "A.B.mac"),
        ("constant", "A.B.max"),
        ("type", "A.B.t"),
        ("protocol", "Pr"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("calls", "call"),
        ("calls", "g"),
        ("imports", "GenServer"),
        ("imports", "P"),
        ("implements", "Pr"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "Doc")


def test_clauses_are_one_symbol() -> None:
    assert len([symbol for symbol in read().symbols if symbol.qualified_name == "A.B.f"]) == 1


def test_visibility() -> None:
    private = {symbol.qualified_name for symbol in read().symbols if symbol.visibility == "private"}
    assert {"A.B.p"} <= private
