"""Make: what a small source that has a bit of everything yields."""

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


def test_leading_comment_and_spans() -> None:
    parsed = read()
    documented = [symbol for symbol in parsed.symbols if symbol.docstring.startswith("Doc")]
    assert documented and documented[0].doc_line <= documented[0].start_line <= documented[0].end_line
    for symbol in parsed.symbols:
        assert symbol.signature
        if symbol.parent >= 0:
            outer = parsed.symbols[symbol.parent]
            assert outer.start_line <= symbol.start_line <= symbol.end_line <= outer.end_line
