"""Haskell: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = """{-# LANGUAGE X #-}
-- | Mod doc
module A.B (foo, Bar(..)) where
import qualified Data.Map as M
import Data.List (sort, nub)
import X
-- | Doc
foo :: Int -> Int
foo 0 = 1
foo n = bar n + M.lookup n
infixl 5 <+>
(<+>) :: Int -> Int -> Int
a <+> b = a
data T a = A Int | B { x :: Int, y :: a } deriving (Show, Eq)
newtype N = N { unN :: Int }
type S = String
class Foo a where
  m :: a -> Int
  m _ = 1
instance Foo T where
  m (A i) = i
  m _ = 2
maxV = 3
main :: IO ()
main = do
  print $ foo 1
  where helper = 1
type family F a
data G where
  C1 :: Int -> G
pattern P x = Just x
"""

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "haskell", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("function", "foo"),
        ("function", "<+>"),
        ("type", "T"),
        ("enum_member", "T.A"),
        ("enum_member", "T.B"),
        ("class", "Foo"),
        ("method", "Foo.m"),
        ("method", "T.m"),
        ("function", "maxV"),
        ("enum_member", "G.C1"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("calls", "bar"),
        ("calls", "lookup"),
        ("imports", "sort"),
        ("imports", "Map"),
        ("implements", "Foo"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "Doc")


def test_equations_are_one_symbol() -> None:
    foo = [symbol for symbol in read().symbols if symbol.name == "foo"]
    assert len(foo) == 1 and foo[0].signature == "foo :: Int -> Int" and foo[0].end_line - foo[0].start_line == 2
