"""CSS, SCSS and Less: rules by selector, mixins and functions, top-level variables, imports.

One scanner for the three dialects: a CSS grammar would read nested rules and ``$variables`` as errors.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace

from devmind.parse.comments import is_licence, strip_marks
from devmind.types import ParsedDocument, Reference, Symbol, SymbolKind

_TOKEN = re.compile(
    r"""/\*.*?(?:\*/|\Z)|(?<![:\w])//[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|url\([^)\n]*\)|[{};]|[#@]\{""",
    re.DOTALL,
)
_FUNCTION = re.compile(r"@(?:mixin|function)\s+([\w-]+)")
_VARIABLE = re.compile(r"\s*([$@][\w-]+|--[\w-]+)\s*:(.*)", re.DOTALL)
_IMPORT = re.compile(r"""\s*@(?:import|use|forward)\s+(?:\([^)]*\)\s*)?(?:url\()?["']?([^"')\s;]+)""")
_INCLUDE = re.compile(r"\s*@include\s+([\w.-]+)")
_KEYFRAME = re.compile(r"(?:from|to|[\d.]+%)(?:,|$)")
MAX_NAME = 200
MAX_STATEMENT = 1000  # characters that are read of one: an embedded image may follow
MAX_DEPTH = 50  # deeper rules are still scanned, but no longer named


UNNAMED, INTERPOLATED = -1, -2  # braces that open no symbol


def read(text: str) -> ParsedDocument:
    """Return the rules of a style sheet."""
    return _Sheet(text).scan()


@dataclass(frozen=True, slots=True)
class _Comment:
    first_line: int
    last_line: int
    words: str


class _Sheet:
    """A style sheet while it is scanned, one token after the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.symbols: list[Symbol] = []
        self.references: list[Reference] = []
        self.cuts: dict[int, int] = {}
        self.lead = ""
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._n_lines = max(1, len(self._starts) - text.endswith("\n"))
        self._open: list[int] = []  # for each open brace the index of its symbol, or what else it is
        self._scopes = [-1]  # symbols around, -1 for none
        self._comment: _Comment | None = None
        self._begin = 0  # of the statement, or the head of a rule, that is being read

    def scan(self) -> ParsedDocument:
        for token in _TOKEN.finditer(self.text):
            mark, at = token.group(), token.start()
            if mark.startswith(("/*", "//")):
                self._take_comment(mark, at, token.end())
            elif mark in ("#{", "@{"):
                self._open.append(INTERPOLATED)
            elif mark == "}" and self._open and self._open[-1] == INTERPOLATED:
                self._open.pop()
            elif mark in ("{", ";", "}"):
                if mark == "{":
                    self._open_rule(at)
                else:
                    self._end_statement(at, may_be_empty=mark == ";")
                if mark == "}" and self._open:
                    self._scopes.pop()
                    self._end_symbol(self._open.pop(), self._line_of(at))
                self._begin = token.end()
        for index in self._open:  # never closed
            self._end_symbol(index, self._n_lines)
        return ParsedDocument(
            symbols=tuple(self.symbols),
            references=tuple(self.references),
            cuts=tuple(sorted(self.cuts.items())),
            lead=self.lead,
            has_errors=bool(self._open),
        )

    def _take_comment(self, mark: str, start: int, end: int) -> None:
        first, last, words = self._line_of(start), self._line_of(end - 1), strip_marks(mark)
        above = self._comment
        if above and above.last_line == first - 1:
            self._comment = _Comment(above.first_line, last, f"{above.words}\n{words}")
        else:
            self._comment = _Comment(first, last, words)
        if not self.symbols and not self.lead and not is_licence(mark):
            self.lead = words
        if not self.text[self._begin : start].strip():
            self._begin = end

    def _open_rule(self, at: int) -> None:
        start = self._first_mark(at)
        head = " ".join(self.text[start : min(at, start + 4 * MAX_NAME)].split())[:MAX_NAME]
        self.cuts.setdefault(self._line_of(start), len(self._scopes) - 1)
        index = UNNAMED
        if len(self._scopes) <= MAX_DEPTH:
            if function := _FUNCTION.match(head):
                index = self._add(function.group(1), "function", start, at)
            elif head and not head.startswith("@") and not _KEYFRAME.match(head):
                index = self._add(head, "selector", start, at)
        self._open.append(index)
        self._scopes.append(index if index >= 0 else self._scopes[-1])

    def _end_statement(self, at: int, *, may_be_empty: bool) -> None:
        if not may_be_empty and not self.text[self._begin : at].strip():
            return
        start = self._first_mark(at)
        statement = self.text[start : min(at, start + MAX_STATEMENT)]
        if found := _IMPORT.match(statement):
            module = found.group(1)
            name = module.rstrip("/").rpartition("/")[2] or module
            self.references.append(Reference(name, "imports", self._line_of(start), self._scopes[-1], module))
        elif found := _INCLUDE.match(statement):
            self.references.append(Reference(found.group(1), "calls", self._line_of(start), self._scopes[-1]))
        elif (found := _VARIABLE.match(statement)) and len(self._scopes) <= 2:
            self._add(found.group(1), "variable", start, at)

    def _add(self, name: str, kind: SymbolKind, start: int, end: int) -> int:
        """Add a symbol and return its index."""
        parent, line = self._scopes[-1], self._line_of(start)
        around = self.symbols[parent] if parent >= 0 else None
        above = self._comment
        if above and (above.last_line != line - 1 or (around and above.first_line <= around.start_line)):
            above = None
        self.symbols.append(
            Symbol(
                name=name,
                qualified_name=f"{around.qualified_name} {name}"[-2 * MAX_NAME :] if around else name,
                kind=kind,
                start_line=line,
                end_line=self._line_of(end),
                doc_line=above.first_line if above else line,
                signature=name,
                docstring=above.words if above else "",
                parent=parent,
            )
        )
        return len(self.symbols) - 1

    def _end_symbol(self, index: int, line: int) -> None:
        if index >= 0:
            self.symbols[index] = replace(self.symbols[index], end_line=line)

    def _first_mark(self, end: int) -> int:
        """Return where what is being read begins, blanks aside."""
        piece = self.text[self._begin : end]
        return self._begin + len(piece) - len(piece.lstrip())

    def _line_of(self, at: int) -> int:
        return min(bisect_right(self._starts, at), self._n_lines)
