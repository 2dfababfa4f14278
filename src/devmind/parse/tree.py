"""Source bytes and a grammar → a syntax tree and query matches; the only module that knows tree-sitter.

Grammars are separate wheels, loaded when first needed. A grammar that is not installed is no error: its language
is then read line by line.
"""

from __future__ import annotations

import importlib
import warnings
from functools import cache

from tree_sitter import Language, Node, Parser, Point, Query, QueryCursor, Tree

__all__ = ["Match", "Node", "Tree", "has_grammar", "matches", "parse_bytes"]

Match = tuple[int, dict[str, list[Node]]]

# Without a limit, an input with errors inside thousands of nested brackets can hold every partial match open at once.
MATCH_LIMIT = 1024
# The parser reports progress every hundred operations or so: 0.007 times a byte on numpy's sources, 0.025 on 160 kB of
# random brackets (2.3 s). Beyond this many it is lost in error recovery, and the file is read line by line instead.
REPORTS_BASE = 2_000
REPORTS_PER_BYTE = 0.02
# The parser reads a source in blocks of so many bytes, most of them two or three times, and in 700 files of open
# projects none more than 80 times. Ten thousand comments that never end make it read to the end from each: 180 kB took
# 55 s.
READ_BYTES = 1 << 16
READS_BASE = 500
READS_PER_BLOCK = 50
# A predicate asks for the text of its node by the same callback, and py-tree-sitter copies and scans all that it is
# given, 50 µs for 64 kB: most nodes that predicates look at are names.
READ_NODE_BYTES = 128
# Matching costs the square of the nesting: 190 kB of Zig structs 10,000 deep took 37 s. Of 4,035 source files of
# installed Python packages the deepest tree has 43 levels.
MAX_MATCH_DEPTH = 1000


@cache
def _language(module: str, function: str) -> Language | None:
    try:
        wheel = importlib.import_module(module)
    except ImportError:
        return None
    with warnings.catch_warnings():  # some wheels still hand over a number instead of a capsule
        warnings.simplefilter("ignore", DeprecationWarning)
        return Language(getattr(wheel, function)())


@cache
def _query(module: str, function: str, query: str) -> Query:
    language = _language(module, function)
    assert language is not None, f"{module} is not installed"
    return Query(language, query)


def has_grammar(module: str, function: str = "language") -> bool:
    """Return whether the grammar's wheel can be loaded."""
    return _language(module, function) is not None


def parse_bytes(source: bytes, module: str, function: str = "language") -> Tree | None:
    """Return the syntax tree of ``source``; None without a grammar or when the parser is lost.

    It is lost in error recovery, or when it reads the same bytes over and over.
    """
    language = _language(module, function)
    if language is None:
        return None
    reports, reads, n_bytes = 0, 0, READ_BYTES
    most_reports = REPORTS_BASE + int(len(source) * REPORTS_PER_BYTE)
    most_reads = READS_BASE + len(source) // READ_BYTES * READS_PER_BLOCK

    def read(offset: int, _point: Point) -> bytes:
        nonlocal reads
        reads += 1
        return source[offset : offset + n_bytes]

    def give_up(_offset: int, _has_error: bool) -> bool:
        nonlocal reports
        reports += 1
        return reports > most_reports or reads > most_reads

    try:
        tree = Parser(language).parse(read, progress_callback=give_up)
    except ValueError:  # what py-tree-sitter raises for a cancelled parse
        return None
    n_bytes = READ_NODE_BYTES
    return tree


def matches(tree: Tree, query: str, module: str, function: str = "language") -> list[Match]:
    """Return the matches of ``query`` in ``tree``: (pattern index, capture name → nodes).

    What is nested deeper than ``MAX_MATCH_DEPTH`` is passed over.
    """
    cursor = QueryCursor(_query(module, function, query), match_limit=MATCH_LIMIT)
    cursor.set_max_start_depth(MAX_MATCH_DEPTH)
    return cursor.matches(tree.root_node)
