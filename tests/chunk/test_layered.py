"""What the layered strategy makes of ordinary code, prose and data."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from devmind.chunk import ChunkRules, chunk_document
from devmind.chunk.check import violations
from devmind.errors import UsageError
from devmind.types import Chunk, Document, ParsedDocument, Reference, Symbol


def count(lines: Sequence[str]) -> list[int]:
    return [len(line.split()) for line in lines]


def chunks_of(text: str, parsed: ParsedDocument, rules: ChunkRules) -> tuple[Chunk, ...]:
    document = Document("a", text, "python", "source", "h", "utf-8", len(text))
    chunks = chunk_document(document, parsed, rules, count_tokens_by_line=count)
    assert violations(document, parsed, chunks, rules, count) == []
    return chunks


def function(name: str, start: int, end: int, *, doc: int = 0, parent: int = -1, docstring: str = "") -> Symbol:
    kind = "method" if parent >= 0 else "function"
    qualified = f"Box.{name}" if parent >= 0 else name
    return Symbol(name, qualified, kind, start, end, doc or start, f"def {name}(x)", docstring, parent=parent)  # type: ignore[arg-type]


def body(n_lines: int, words: int = 10) -> str:
    return "\n".join("    " + "w " * words for _ in range(n_lines))


def test_function_keeps_its_leading_comment() -> None:
    text = f"import a\n{body(9)}\n\n# why\ndef f(x):\n{body(20)}"
    chunks = chunks_of(text, ParsedDocument((function("f", 13, 33, doc=12),)), ChunkRules(budget_tokens=300))
    assert [(c.start_line, c.node_type, c.function_name) for c in chunks] == [(1, "module", ""), (12, "function", "f")]


def test_long_function_is_split_at_blocks_and_pieces_share_lines_and_context() -> None:
    text = f'def f(x):\n    """Does f."""\n{body(98)}'
    cuts = tuple((line, 0) for line in range(3, 101, 10))
    calls = (Reference("go", "calls", 50, scope=0),)
    parsed = ParsedDocument((function("f", 1, 100, docstring="Does f."),), calls, cuts)
    chunks = chunks_of(text, parsed, ChunkRules(budget_tokens=300))
    assert [c.node_type for c in chunks] == ["function", *["part"] * (len(chunks) - 1)]
    for before, after in pairwise(chunks):
        assert before.end_line + 1 in dict(cuts)
        assert (before.end_line - after.start_line + 1) * 10 >= 30
        assert after.header == "function f\ndef f(x)\nDoes f.\ncalls: go"
        assert (after.parent, after.symbols, after.function_name) == (0, (), "f")
    assert chunks[0].header == "function f\ncalls: go"


def test_large_class_becomes_head_and_methods_and_getters_merge() -> None:
    text = (
        "class Box:\n"
        + body(9)
        + "\n"
        + "\n".join(f"    def m{i}(x):\n{body(size - 1)}" for i, size in [(0, 3), (1, 3), (2, 20)])
    )
    symbols = (
        Symbol("Box", "Box", "class", 1, 36, 1, "class Box:", "A box."),
        function("m0", 11, 13, parent=0),
        function("m1", 14, 16, parent=0),
        function("m2", 17, 36, parent=0),
    )
    chunks = chunks_of(text, ParsedDocument(symbols), ChunkRules(budget_tokens=240))
    assert [(c.start_line, c.qualified_name, c.parent, c.symbols) for c in chunks] == [
        (1, "Box", -1, (0,)),
        (11, "Box.m0", 0, (1, 2)),
        (17, "Box.m2", 0, (3,)),
    ]
    assert chunks[2].header == "method Box.m2\nin class Box: A box."
    assert chunks[2].class_name == "Box"


def test_sections_carry_their_trail() -> None:
    text = f"# A\n{body(12)}\n## B\n{body(12)}\n"
    symbols = (Symbol("A", "A", "heading", 1, 26, 1), Symbol("B", "A > B", "heading", 14, 26, 14, parent=0))
    chunks = chunks_of(text, ParsedDocument(symbols), ChunkRules(budget_tokens=200))
    assert [(c.header, c.node_type) for c in chunks] == [("A", "section"), ("A > B", "section")]


def test_data_is_grouped_by_key() -> None:
    text = "\n".join(f"k{i // 10}: " + "v " * 9 for i in range(60))
    symbols = tuple(Symbol(f"k{i}", f"k{i}", "key", 10 * i + 1, 10 * i + 10, 10 * i + 1) for i in range(6))
    chunks = chunks_of(text, ParsedDocument(symbols), ChunkRules(budget_tokens=300))
    assert [c.start_line % 10 for c in chunks] == [1] * len(chunks)
    assert chunks[0].header == "key k0"


def test_a_single_line_may_exceed_the_budget() -> None:
    chunks = chunks_of("a\n" + "w " * 1000 + "\nb", ParsedDocument(), ChunkRules())
    assert [c.node_type for c in chunks] == ["module", "long_line", "module"]


def test_plain_text_is_cut_at_blank_lines() -> None:
    text = "\n\n".join(body(8) for _ in range(20))
    chunks = chunks_of(text, ParsedDocument(), ChunkRules())
    assert all((c.start_line - 1) % 9 == 0 for c in chunks)
    assert all(200 <= c.n_tokens <= 400 for c in chunks)


def test_semantic_cuts_where_meaning_parts() -> None:
    text = "\n".join(["red apple pie " * 4] * 10 + ["blue sea wave " * 4] * 10)
    document = Document("a", text, "text", "docs", "h", "utf-8", len(text))

    def embed(lines: Sequence[str]) -> np.ndarray:
        return np.array([[1.0, 0.0] if "red" in line else [0.0, 1.0] for line in lines])

    rules = ChunkRules(strategy="semantic", semantic_threshold=5)
    chunks = chunk_document(document, ParsedDocument(), rules, count_tokens_by_line=count, embed_lines=embed)
    assert [(c.start_line, c.end_line) for c in chunks] == [(1, 10), (11, 20)]
    with pytest.raises(UsageError):
        chunk_document(document, ParsedDocument(), rules, count_tokens_by_line=count)
