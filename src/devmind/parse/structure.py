"""A syntax tree's query matches → symbols, references, cuts and lead; knows no language by name.

One pass over all events in source order with a stack of enclosing definitions. Nothing recurses: nesting depth is
whatever the file's author made it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final, cast

from devmind.parse.comments import is_for_machines, is_licence, strip_marks
from devmind.parse.endpoints import http_method, request_path, route_path, unquote
from devmind.parse.spec import LanguageSpec
from devmind.parse.tree import Match, Node, Tree, matches, parse_bytes
from devmind.types import CUT, EdgeKind, ParsedDocument, Reference, Symbol, SymbolKind

MAX_SIGNATURE: Final = 300
MAX_DOCSTRING: Final = 4000
MAX_NAME: Final = 200
MAX_QUALIFIED: Final = 1000  # of names nested without end, which would fill the catalog with the square of their number
MAX_QUALIFIER: Final = 120
LONG_UNIT_LINES: Final = 30
LEAD_WITHIN_LINES: Final = 150

CLASS_LIKE: Final = frozenset({"class", "struct", "interface", "trait", "protocol", "enum", "object", "union", "type"})
COMMON_BLOCKS: Final = frozenset(
    [
        "array",
        "block",
        "body",
        "body_statement",
        "class_body",
        "compilation_unit",
        "compound_statement",
        "constructor_body",
        "declaration_list",
        "dictionary",
        "do_block",
        "do_group",
        "document",
        "enum_body",
        "field_declaration_list",
        "function_body",
        "interface_body",
        "list",
        "module",
        "object",
        "program",
        "source_file",
        "statement_block",
        "statement_list",
        "statements",
        "stylesheet",
        "suite",
        "switch_block",
        "switch_body",
        "translation_unit",
    ]
)
EDGES: Final = {
    "call": "calls",
    "import": "imports",
    "inherit": "inherits",
    "implement": "implements",
    "reference": "references",
}
_ANNOTATIONS = re.compile(r"(?:@(?!interface\b)[\w.:]+(?:\((?:[^()]|\([^()]*\))*\))?\s+)+")
_ATTRIBUTES = re.compile(
    r"(?:\[[\w.:]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?(?:, ?[\w.]+(?:\([^()]*\))?)*\]\s+)+(?=[\w~])"
)  # C#
_TOLD_TO_TOOLS = re.compile(r"# (?:type: ignore|noqa|pyright|pylint|mypy|nosec|pragma)[^\n]*")
_EXTENSION = re.compile(
    r"\.(?:css|scss|less|[cm]?[jt]sx?|vue|svelte|json|html?|h|hh|hpp|proto|php|rb|lua|sh|wasm|zig)$"
)
_LAST_PART = re.compile(r"[^./\\:]+(?=[./\\:;]*$)")

_DEF, _SCOPE, _REF, _DOC, _WRAP, _ROUTE, _PREFIX, _REQUEST = range(8)
_FAMILIES = {"scope": _SCOPE, "doc": _DOC, "wrap": _WRAP, "route": _ROUTE, "prefix": _PREFIX, "request": _REQUEST}
# (start byte, -end byte, pattern, serial, family, detail, captures): sorts outer before inner, first pattern first.
_Event = tuple[int, int, int, int, int, str, dict[str, list[Node]]]


def module_name(module: str) -> str:
    """Return the last part of a module or path as written: ``a.b`` → ``b``, ``./x/Foo.vue`` → ``Foo``."""
    bare = _EXTENSION.sub("", module)
    if "/" in bare:
        return bare.rstrip("/").rpartition("/")[2] or module
    last = _LAST_PART.search(bare)
    return last.group() if last else module


class _Frame:
    """An enclosing definition while the pass is inside it."""

    __slots__ = ("end", "index", "kind", "prefix", "route_prefix", "start")

    def __init__(self, start: int, end: int, index: int, kind: str, prefix: str, route_prefix: str) -> None:
        self.start, self.end, self.index, self.kind = start, end, index, kind
        self.prefix, self.route_prefix = prefix, route_prefix


def _primary(captures: dict[str, list[Node]]) -> tuple[str, int, str]:
    """Return (capture name, family, detail) of the primary capture; family -1 for comments, -2 for attributes."""
    for name in captures:
        if name.startswith("def."):
            return name, _DEF, name[4:]
        if name.startswith("ref."):
            return name, _REF, EDGES[name[4:]]
        if name in _FAMILIES:
            return name, _FAMILIES[name], ""
        if name == "comment":
            return name, -1, ""
        if name == "attr":
            return name, -2, ""
    return "", -3, ""


# `dataclasses.replace` takes three times as long, for each second symbol.
def _with_docstring(symbol: Symbol, words: str) -> Symbol:
    return Symbol(
        symbol.name,
        symbol.qualified_name,
        symbol.kind,
        symbol.start_line,
        symbol.end_line,
        symbol.doc_line,
        symbol.signature,
        words,
        symbol.visibility,
        symbol.parent,
    )


def _inside(symbol: Symbol, outer: Symbol, index: int) -> Symbol:
    """Return ``symbol`` as a part of ``outer``, whose index that is."""
    return Symbol(
        symbol.name,
        symbol.qualified_name,
        symbol.kind,
        max(symbol.start_line, outer.start_line),
        min(symbol.end_line, outer.end_line),
        max(symbol.doc_line, outer.start_line),
        symbol.signature,
        symbol.docstring,
        symbol.visibility,
        index,
    )


class _Pass:
    """The state of one document's pass."""

    def __init__(self, text: str, spec: LanguageSpec) -> None:
        # NUL reads as end of input to many grammars' scanners; a blank has the same width and no meaning.
        text = text.replace("\0", " ")
        self.source = text.encode("utf-8", "replace")
        # Bytes and characters of ASCII text stand at the same places, so that what lies between two needs no decoding.
        self.ascii = text if text.isascii() else ""
        self.spec = spec
        self.signature_prefix = dict(spec.signature_prefix)
        starts = [0]
        find = self.source.find
        while (at := find(b"\n", starts[-1])) >= 0:
            starts.append(at + 1)
        self.line_starts = starts
        self.n_lines = len(starts) - (1 if starts[-1] == len(self.source) and len(starts) > 1 else 0)
        self.comments: dict[int, tuple[int, int]] = {}  # end line → bytes
        self.attributes: dict[int, int] = {}  # end line → start byte
        self.symbols: list[Symbol] = []
        self.references: list[Reference] = []
        self.frames: list[_Frame] = []
        self.wraps: list[tuple[int, int]] = []
        self.module_doc = ""

    def line_of(self, at: int) -> int:
        return bisect_right(self.line_starts, at)

    def last_line_of(self, end: int) -> int:
        """Return the line of the last byte before ``end`` that is not a line break."""
        return min(bisect_right(self.line_starts, max(end - 1, 0)), self.n_lines)

    def text(self, start: int, end: int) -> str:
        return self.ascii[start:end] if self.ascii else self.source[start:end].decode("utf-8", "replace")

    def node_text(self, node: Node, limit: int = MAX_NAME) -> str:
        start = node.start_byte
        if self.ascii:
            return self.ascii[start : min(node.end_byte, start + limit)]
        return self.source[start : min(node.end_byte, start + 4 * limit)].decode("utf-8", "replace")[:limit]

    def events(self, found: list[Match]) -> list[_Event]:
        events: list[_Event] = []
        primaries: dict[int, tuple[str, int, str]] = {}
        for serial, (pattern, captures) in enumerate(found):
            primary = primaries.get(pattern)
            if primary is None or primary[0] not in captures:
                primary = primaries[pattern] = _primary(captures)
            tag, family, detail = primary
            if family == _REF:
                anchor = captures.get("name") or captures.get("module") or captures[tag]
                start = anchor[0].start_byte
                events.append((start, -start, pattern, serial, family, detail, captures))
            elif family >= 0:
                node = captures[tag][0]
                start, end = node.start_byte, node.end_byte
                if end > start:
                    events.append((start, -end, pattern, serial, family, detail, captures))
            elif family > -3:
                node = captures[tag][0]
                start, end = node.start_byte, node.end_byte
                line = self.last_line_of(end)
                if family == -1:
                    self.comments.setdefault(line, (start, end))
                else:
                    self.attributes.setdefault(line, start)
        events.sort()  # no two have one serial, so nothing behind it is compared
        return events

    def run(self, found: list[Match]) -> None:
        frames = self.frames
        handlers = {
            _DEF: self.define,
            _SCOPE: self.enter_scope,
            _REF: self.refer,
            _DOC: self.document,
            _WRAP: self.wrap,
            _ROUTE: self.route,
            _PREFIX: self.route_prefix,
            _REQUEST: self.request,
        }
        for event in self.events(found):
            start = event[0]
            while frames and frames[-1].end <= start:
                frames.pop()
            handlers[event[4]](event)

    def wrap(self, event: _Event) -> None:
        self.wraps.append((event[0], -event[1]))

    def begin_of(self, start: int, end: int) -> int:
        """Return where the outermost wrapper of the definition ``start..end`` begins; uses that wrapper up."""
        wraps = self.wraps
        while wraps and wraps[-1][1] <= start:
            wraps.pop()
        begin = start
        while wraps and 0 <= wraps[-1][1] - end <= 2:  # ``export … ;`` ends one or two bytes after its declaration
            begin = wraps.pop()[0]
        return begin

    def leading(self, begin: int, floor: int) -> tuple[int, int, str]:
        """Return (start line with attributes, line of the leading comment, its words), all below line ``floor``."""
        start_line = cursor = self.line_of(begin)
        attribute = self.attributes.get(cursor)
        if attribute is not None and attribute < begin:
            start_line = cursor = self.line_of(attribute)
        pieces: list[str] = []
        while cursor > floor:
            attribute = self.attributes.get(cursor - 1)
            if attribute is not None:
                start_line = cursor = self.line_of(attribute)
                continue
            comment = self.comments.get(cursor - 1)
            if comment is None:
                break
            line = self.line_of(comment[0])
            if self.source[self.line_starts[line - 1] : comment[0]].strip():
                break  # it trails other code
            piece = self.text(*comment)
            if line == 1 and piece.startswith("#!"):
                break  # a shebang speaks of the file, not of its first definition
            pieces.append(piece)
            cursor = line
        return start_line, cursor, strip_marks("\n".join(p.rstrip("\n") for p in reversed(pieces))) if pieces else ""

    def signature(self, start: int, end: int, kind: str) -> str:
        text = self.text(start, min(end, start + 6 * MAX_SIGNATURE))
        if "# " in text:
            text = _TOLD_TO_TOOLS.sub("", text)
        words = " ".join(text.split())
        if words[:1] in "/@[":
            words = self.undecorated(words, text)
        prefix = self.signature_prefix.get(kind, "")
        if prefix and not words.startswith(prefix):
            words = prefix + words
        return words[:MAX_SIGNATURE].rstrip(" :{=" if words[-2:] != "=>" else " ")

    def undecorated(self, words: str, text: str) -> str:
        """Return a signature without the comment, annotations or attributes that it begins with."""
        if words.startswith("//"):  # trails the line before, and the grammar counts it among the modifiers
            words = " ".join(text.partition("\n")[2].split())
        if words.startswith("@"):
            return _ANNOTATIONS.sub("", words, count=1)
        return _ATTRIBUTES.sub("", words, count=1)

    def define(self, event: _Event) -> None:
        start, end, kind, captures = event[0], -event[1], event[5], event[6]
        names = captures.get("name")
        if not names:
            return
        spec, frames = self.spec, self.frames
        name = spec.clean_name(self.node_text(names[0]))
        if not name:
            return
        same = frames and frames[-1].start == start and frames[-1].end == end
        if same:
            if frames[-1].index >= 0 and self.symbols[frames[-1].index].name == name:
                return
            frames.pop()
        frame = frames[-1] if frames else None
        bodies = captures.get("body")
        signature = self.signature(start, bodies[0].start_byte if bodies else end, kind)
        prefix, parent_kind = (frame.prefix, frame.kind) if frame else ("", "")
        owners = captures.get("owner")
        if owners and (owner := spec.clean_owner(self.node_text(owners[0]))):
            prefix, parent_kind = f"{prefix}{owner}{spec.separator}", "class"
        if kind == "function" and parent_kind in CLASS_LIKE:
            kind = "method"
        kind = spec.refine_kind(kind, name, signature, parent_kind)
        if not kind:
            return
        start_line, doc_line, comment = self.leading(
            self.begin_of(start, end), self.line_of(frame.start) if frame else 1
        )
        self.add(
            start,
            end,
            Symbol(
                name=name,
                qualified_name=f"{prefix}{name}"[-MAX_QUALIFIED:],
                kind=cast(SymbolKind, kind),
                start_line=start_line,
                end_line=max(self.last_line_of(end), start_line),
                doc_line=doc_line,
                signature=signature,
                docstring=comment[:MAX_DOCSTRING],
                visibility="private" if spec.is_private(name, signature) else "public",
            ),
        )

    def add(self, start: int, end: int, symbol: Symbol) -> None:
        """Record a symbol inside the current frame and enter it; its span never leaves its parent's."""
        frame = self.frames[-1] if self.frames else None
        if frame and frame.index >= 0:
            outer = self.symbols[frame.index]
            symbol = _inside(symbol, outer, frame.index)
        self.symbols.append(symbol)
        around = frame.prefix if frame else ""
        prefix = around if symbol.kind == "route" else symbol.qualified_name + self.spec.separator
        self.frames.append(
            _Frame(start, end, len(self.symbols) - 1, symbol.kind, prefix, frame.route_prefix if frame else "")
        )

    def enter_scope(self, event: _Event) -> None:
        names = event[6].get("name")
        if not names:
            return
        frame = self.frames[-1] if self.frames else None
        owner = self.spec.clean_owner(self.node_text(names[0]))
        prefix = (frame.prefix if frame else "") + (owner + self.spec.separator if owner else "")
        index, route_prefix = (frame.index, frame.route_prefix) if frame else (-1, "")
        self.frames.append(_Frame(event[0], -event[1], index, "class", prefix, route_prefix))

    def refer(self, event: _Event) -> None:
        start, kind, captures = event[0], event[5], event[6]
        scope = self.frames[-1].index if self.frames else -1
        names = captures.get("name")
        name = self.node_text(names[0]) if names else ""
        qualifier = alias = ""
        if kind == "imports":
            modules = captures.get("module")
            qualifier = unquote(self.node_text(modules[0])).strip("<>") if modules else ""
            name = name.strip("<>")  # #include <…>
            aliases = captures.get("alias")
            alias = self.node_text(aliases[0]) if aliases else ""
            if not name:
                name = module_name(qualifier)
            alias = "" if alias == name else alias
        elif qualifiers := captures.get("qualifier"):
            qualifier = self.node_text(qualifiers[0], MAX_QUALIFIER)
            if "\n" in qualifier or len(qualifier) == MAX_QUALIFIER:
                qualifier = qualifier.partition("\n")[0].rstrip() + CUT  # a call on something is not a bare call
        if name:
            self.references.append(Reference(name, cast(EdgeKind, kind), self.line_of(start), scope, qualifier, alias))

    def document(self, event: _Event) -> None:
        words = self.spec.clean_doc(self.text(event[0], -event[1]))[:MAX_DOCSTRING]
        if self.frames and self.frames[-1].index >= 0:
            at = self.frames[-1].index
            self.symbols[at] = _with_docstring(self.symbols[at], words)
        elif not self.symbols and not self.module_doc:
            self.module_doc = words

    def endpoint(self, event: _Event) -> tuple[str, str]:
        """Return (HTTP method, path literal) of a route or request; the method is "" if it is neither."""
        captures = event[6]
        methods, paths = captures.get("method"), captures.get("path")
        if not methods:
            return "", ""
        text = self.text(event[0], min(-event[1], event[0] + 2000))
        return http_method(self.node_text(methods[0]), text), self.node_text(paths[0]) if paths else ""

    def route(self, event: _Event) -> None:
        start, end = event[0], -event[1]
        method, literal = self.endpoint(event)
        if not method:
            return
        frame = self.frames[-1] if self.frames else None
        if frame and frame.kind == "route" and frame.start == start:
            return
        name = f"{method} {route_path(frame.route_prefix if frame else '', literal)}"
        line = self.line_of(start)
        signature = self.signature(start, end, "route")[:MAX_SIGNATURE]
        last_line = max(self.last_line_of(end), line)
        self.add(start, end, Symbol(name, name, "route", line, last_line, line, signature or name))
        for handler in event[6].get("handler", ())[-1:]:
            handler_name = self.node_text(handler).rpartition(".")[2]
            if handler_name.isidentifier():  # an inline function is its own handler
                line, scope = self.line_of(handler.start_byte), len(self.symbols) - 1
                self.references.append(Reference(handler_name, "handles", line, scope))

    def route_prefix(self, event: _Event) -> None:
        paths = event[6].get("path")
        if self.frames and paths:
            self.frames[-1].route_prefix = route_path("", self.node_text(paths[0]))

    def request(self, event: _Event) -> None:
        start = event[0]
        frame = self.frames[-1] if self.frames else None
        if frame and frame.kind == "route" and frame.start >= start - 1:
            return  # the declaration of a route looks like a call
        paths = event[6].get("path")
        path = request_path(self.node_text(paths[0])) if paths else ""
        if path and (method := self.endpoint(event)[0]):
            self.references.append(
                Reference(path, "requests", self.line_of(start), frame.index if frame else -1, method)
            )

    def lead(self) -> str:
        """Return the file's docstring, or else its first comment that is neither licence nor a definition's own."""
        if self.module_doc:
            return self.module_doc
        first_symbol = min((s.doc_line for s in self.symbols), default=LEAD_WITHIN_LINES)
        group: list[str] = []
        previous = -1
        for end_line, (start, end) in self.comments.items():  # in source order
            line = self.line_of(start)
            if line >= first_symbol or line > LEAD_WITHIN_LINES:
                break
            piece = self.text(start, end).rstrip("\n")
            if is_for_machines(piece):
                continue
            if group and line != previous + 1:
                if not is_licence("\n".join(group)):
                    break
                group = []
            group.append(piece)
            previous = end_line
        joined = "\n".join(group)
        return "" if is_licence(joined) else strip_marks(joined)[:MAX_DOCSTRING]

    def result(self, tree: Tree) -> ParsedDocument:
        root = tree.root_node
        return ParsedDocument(
            symbols=tuple(self.symbols),
            references=tuple(self.references),
            cuts=cuts(root, self.spec.blocks | COMMON_BLOCKS),
            lead=self.lead(),
            has_errors=root.has_error,
        )


def cuts(root: Node, blocks: frozenset[str]) -> tuple[tuple[int, int], ...]:
    """Return (line, depth) of the statements at file level and, at any depth, inside units of over 30 lines."""
    found: dict[int, int] = {}
    stack: list[tuple[Node, int, bool]] = [(root, 0, False)]
    while stack:
        node, depth, inside = stack.pop()
        is_block = node is root or node.type in blocks
        for child in node.named_children:
            row, last = child.start_point[0], child.end_point[0]
            if is_block and found.get(row + 1, depth) >= depth:
                found[row + 1] = depth
            if last > row and (inside or last - row >= LONG_UNIT_LINES):
                stack.append((child, depth + 1 if is_block else depth, True))
    return tuple(sorted(found.items()))


def structure(text: str, spec: LanguageSpec) -> ParsedDocument | None:
    """Return the structure of ``text``; None if the grammar is missing or the text defeats it.

    Cost: linear in the text for ordinary sources; error recovery is bounded by ``parse_bytes``.
    """
    run = _Pass(text, spec)
    tree = parse_bytes(run.source, spec.module, spec.function)
    if tree is None:
        return None
    run.run(matches(tree, spec.query, spec.module, spec.function))
    return run.result(tree)
