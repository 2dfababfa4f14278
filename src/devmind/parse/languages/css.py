"""CSS, SCSS and Less: rules by selector, mixins and functions, top-level variables, imports.

One scanner for the three dialects: a CSS grammar would read nested rules and ``$variables`` as errors.
"""

from __future__ import annotations

import re
from bisect import bisect_right

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
MAX_NAME = 200
MAX_DEPTH = 50  # deeper rules are still scanned, but no longer named


def read(text: str) -> ParsedDocument:
    """Return the rules of a style sheet."""
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    symbols: list[dict[str, object]] = []
    references: list[Reference] = []
    cuts: list[tuple[int, int]] = []
    stack: list[int] = []  # symbol index of each open brace; -1 in an unnamed or interpolating one
    scopes: list[int] = [-1]
    comment: tuple[int, int, str] | None = None
    lead = ""
    begin = 0
    n_lines = len(starts) - (1 if text.endswith("\n") else 0)

    def line_of(at: int) -> int:
        return min(bisect_right(starts, at), max(n_lines, 1))

    def start_of(segment_begin: int, end: int) -> int:
        segment = text[segment_begin:end]
        return segment_begin + len(segment) - len(segment.lstrip())

    def add(name: str, kind: SymbolKind, start: int, end: int) -> int:
        parent, line = scopes[-1], line_of(start)
        doc_line, docstring = line, ""
        if comment and comment[1] == line - 1 and (parent < 0 or comment[0] > int(str(symbols[parent]["start_line"]))):
            doc_line, docstring = comment[0], comment[2]
        qualified = name if parent < 0 else f"{symbols[parent]['qualified_name']} {name}"[-2 * MAX_NAME :]
        symbols.append({
            "name": name, "qualified_name": qualified, "kind": kind, "start_line": line, "end_line": line_of(end),
            "doc_line": doc_line, "signature": name, "docstring": docstring, "parent": parent,
        })  # fmt: skip
        return len(symbols) - 1

    for token in _TOKEN.finditer(text):
        mark, at = token.group(), token.start()
        if mark.startswith(("/*", "//")):
            first, last = line_of(at), line_of(token.end() - 1)
            words = strip_marks(mark)
            if comment and comment[1] == first - 1:
                comment = (comment[0], last, f"{comment[2]}\n{words}")
            else:
                comment = (first, last, words)
            if not symbols and not lead and not is_licence(mark):
                lead = words
            if not text[begin:at].strip():
                begin = token.end()
        elif mark in ("#{", "@{"):
            stack.append(-2)
        elif mark == "{":
            start = start_of(begin, at)
            prelude = " ".join(text[start : min(at, start + 4 * MAX_NAME)].split())[:MAX_NAME]
            cuts.append((line_of(start), len(scopes) - 1))
            function = _FUNCTION.match(prelude)
            index = -1
            if len(scopes) <= MAX_DEPTH:
                if function:
                    index = add(function.group(1), "function", start, at)
                elif prelude and not prelude.startswith("@") and not re.match(r"(?:from|to|[\d.]+%)(?:,|$)", prelude):
                    index = add(prelude, "selector", start, at)
            stack.append(index)
            scopes.append(index if index >= 0 else scopes[-1])
            begin = token.end()
        elif mark in (";", "}"):
            if mark == ";" or text[begin:at].strip():
                start = start_of(begin, at)
                statement = text[start : min(at, start + 1000)]
                if found := _IMPORT.match(statement):
                    module = found.group(1)
                    name = module.rstrip("/").rpartition("/")[2] or module
                    references.append(Reference(name, "imports", line_of(start), scopes[-1], module))
                elif found := _INCLUDE.match(statement):
                    references.append(Reference(found.group(1), "calls", line_of(start), scopes[-1]))
                elif (variable := _VARIABLE.match(statement)) and len(scopes) <= 2:
                    add(variable.group(1), "variable", start, at)
            if mark == "}" and stack:
                index = stack.pop()
                if index == -2:
                    continue
                scopes.pop()
                if index >= 0:
                    symbols[index]["end_line"] = line_of(at)
            begin = token.end()
    for index in stack:  # never closed
        if index >= 0:
            symbols[index]["end_line"] = max(n_lines, 1)
    return ParsedDocument(
        symbols=tuple(Symbol(**values) for values in symbols),  # type: ignore[arg-type]
        references=tuple(references),
        cuts=tuple(sorted(dict(reversed(cuts)).items())),
        lead=lead,
        has_errors=bool(stack),
    )
