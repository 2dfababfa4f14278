"""Chunks of any text with any symbols tile it, keep the budget and cut no definition that fits."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devmind.chunk import ChunkRules, chunk_document
from devmind.chunk.check import violations
from devmind.types import Document, ParsedDocument, Reference, Symbol

KINDS = ["class", "method", "function", "constant", "field", "struct", "namespace", "module", "enum", "key", "route"]


def count(lines: Sequence[str]) -> list[int]:
    return [len(re.findall(r"\w+|[^\w\s]", line)) for line in lines]


def count_newlines(lines: Sequence[str]) -> list[int]:
    return [n + 1 for n in count(lines)]


def embed(lines: Sequence[str]) -> np.ndarray:
    return np.array([[len(line), line.count(" "), ord(line[0])] for line in lines], dtype=np.float32)


def document(text: str) -> Document:
    return Document("a.py", text, "python", "source", "h", "utf-8", len(text))


line = st.one_of(
    st.just(""),
    st.builds(lambda i, k: " " * i + "w " * k, st.integers(0, 12), st.integers(0, 30)),
    st.sampled_from(["}", "  }", "end", "\r", "x\r", "\x0c", "a\u2028b", "\t\tdeep(x)", "big " * 250]),
)
texts = st.lists(line, max_size=120).map("\n".join)


@st.composite
def structures(draw: st.DrawFn) -> ParsedDocument:
    symbols: list[Symbol] = []
    for i in range(draw(st.integers(0, 14))):
        start, length = draw(st.integers(-1, 110)), draw(st.integers(-1, 80))
        symbols.append(
            Symbol(
                name=f"n{i}",
                qualified_name="a." * draw(st.sampled_from([0, 1, 3, 300])) + f"n{i}",
                kind=draw(st.sampled_from(KINDS)),  # type: ignore[arg-type]
                start_line=start,
                end_line=start + length,
                doc_line=start - draw(st.integers(0, 4)),
                signature=draw(st.sampled_from(["", "def n(a, b)", "long " * 200])),
                docstring=draw(st.sampled_from(["", "Says it.\n\nAnd more.", "word " * 300])),
                parent=draw(st.integers(-1, 14)),
            )
        )
    cuts = draw(st.lists(st.tuples(st.integers(1, 120), st.integers(0, 6)), max_size=30))
    calls = draw(st.lists(st.integers(1, 120), max_size=10))
    references = tuple(Reference(f"call{n}", "calls", n, scope=0) for n in calls)
    return ParsedDocument(tuple(symbols), references, tuple(cuts))


@st.composite
def trees(draw: st.DrawFn) -> tuple[str, ParsedDocument]:
    """A text whose symbols nest properly, as a parser without trouble emits them."""
    lines: list[str] = []
    symbols: list[Symbol] = []
    cuts: list[tuple[int, int]] = []

    def body(depth: int, parent: int) -> None:
        for _ in range(draw(st.integers(0, 4))):
            lines.extend([" " * depth + "w " * draw(st.integers(0, 12))] * draw(st.integers(0, 8)))
            kind = draw(st.sampled_from(["class", "function", "constant", "namespace", "statement"]))
            start = len(lines) + 1
            lines.append(" " * depth + kind)
            if kind == "statement":
                cuts.append((start, depth))
                continue
            index = len(symbols)
            symbols.append(Symbol(f"s{index}", f"s{index}", kind, start, start, start, kind, "Doc.", parent=parent))  # type: ignore[arg-type]
            if depth < 4:
                body(depth + 1, index)
            lines.append(" " * depth + "}")
            symbols[index] = Symbol(
                f"s{index}",
                f"s{index}",
                kind,
                start,
                len(lines),
                start,
                kind,
                "Doc.",
                parent=parent,  # type: ignore[arg-type]
            )

    body(0, -1)
    return "\n".join(lines), ParsedDocument(tuple(symbols), (), tuple(cuts))


all_rules = st.builds(
    ChunkRules,
    strategy=st.sampled_from(["layered", "syntax", "fixed", "semantic"]),
    budget_tokens=st.sampled_from([1, 20, 80, 150, 600]),
    overlap_tokens=st.sampled_from([0, 5, 30]),
    min_tokens=st.sampled_from([0, 10, 60]),
    fixed_tokens=st.sampled_from([50, 400]),
)
counters = st.sampled_from([count, count_newlines])


def check(text: str, parsed: ParsedDocument, rules: ChunkRules, counter: object) -> None:
    doc = document(text)
    chunks = chunk_document(doc, parsed, rules, count_tokens_by_line=counter, embed_lines=embed)  # type: ignore[arg-type]
    assert violations(doc, parsed, chunks, rules, counter) == []  # type: ignore[arg-type]
    again = chunk_document(doc, parsed, rules, count_tokens_by_line=counter, embed_lines=embed)  # type: ignore[arg-type]
    assert chunks == again


@settings(deadline=None, max_examples=120)
@given(texts, structures(), all_rules, counters)
def test_any_symbols(text: str, parsed: ParsedDocument, rules: ChunkRules, counter: object) -> None:
    check(text, parsed, rules, counter)


@settings(deadline=None, max_examples=80)
@given(trees(), all_rules, counters)
def test_nested_symbols(tree: tuple[str, ParsedDocument], rules: ChunkRules, counter: object) -> None:
    check(*tree, rules, counter)


@settings(deadline=None, max_examples=40)
@given(texts, st.lists(st.tuples(st.integers(1, 120), st.integers(-1, 5)), max_size=12), all_rules)
def test_headings(text: str, places: list[tuple[int, int]], rules: ChunkRules) -> None:
    symbols = tuple(Symbol(f"h{i}", f"h{i}", "heading", at, at, at, parent=p) for i, (at, p) in enumerate(places))
    check(text, ParsedDocument(symbols), rules, count)


@pytest.mark.parametrize("strategy", ["layered", "syntax", "fixed", "semantic"])
@pytest.mark.parametrize("text", ["", "\n", "\n\n \n", "x", "x\n", "a\r\nb\r\n", "w " * 5000, "\n" * 5000 + "x"])
def test_odd_texts(text: str, strategy: str) -> None:
    check(text, ParsedDocument(), ChunkRules(strategy=strategy), count)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["class", "function", "namespace"])
def test_ten_thousand_deep(kind: str) -> None:
    n = 10_000
    text = "\n".join([f"{kind} c {{"] * n + ["}"] * n)
    symbols = tuple(
        Symbol(f"c{i}", f"c{i}", kind, i + 1, 2 * n - i, i + 1, parent=i - 1)  # type: ignore[arg-type]
        for i in range(n)
    )
    doc, rules = document(text), ChunkRules()
    chunks = chunk_document(doc, ParsedDocument(symbols), rules, count_tokens_by_line=count)
    held = {line for c in chunks for line in range(c.start_line, c.end_line + 1)}
    assert held == set(range(1, 2 * n + 1))
    assert all(c.n_tokens <= rules.budget_tokens for c in chunks)
