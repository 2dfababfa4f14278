"""Make: what a small source that has a bit of everything yields."""

from collections.abc import Callable

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = """# Doc
CC := gcc
include a.mk
.PHONY: all
all: dep other
	$(MAKE) x
	echo a
%.o: %.c
	$(CC) -c $<
a b: c
	x
define fn
  echo $(1)
endef
export Y = 1
ifdef Q
t:
	y
endif
"""

CheckSpans = Callable[[ParsedDocument, str], None]


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "make", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("target", "all"),
        ("target", "%.o"),
        ("target", "a"),
        ("target", "b"),
        ("variable", "CC"),
        ("macro", "fn"),
        ("target", "t"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("references", "dep"),
    }
    assert expected <= found, expected - found


def test_leading_comment_and_spans(check_spans: CheckSpans) -> None:
    check_spans(read(), "Doc")
