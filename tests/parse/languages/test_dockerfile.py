"""Dockerfile: what a small source that has a bit of everything yields."""

from devmind.parse import parse
from devmind.types import Document, ParsedDocument

SOURCE = r"""# Doc
ARG V=1
FROM python:3.11 AS base
RUN echo a && \
  echo b
FROM base
COPY --from=base /a /b
ENV X=1
ENTRYPOINT ["a"]
"""


def read(text: str = SOURCE) -> ParsedDocument:
    return parse(Document("x", text, "dockerfile", "source", "", "utf-8", len(text)))


def test_symbols() -> None:
    found = {(symbol.kind, symbol.qualified_name) for symbol in read().symbols}
    expected = {
        ("stage", "base"),
        ("variable", "V"),
        ("variable", "base.X"),
    }
    assert expected <= found, expected - found


def test_references() -> None:
    found = {(reference.kind, reference.name) for reference in read().references}
    expected = {
        ("imports", "python"),
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
