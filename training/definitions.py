"""Source files → the definitions in them, documented or not. Must not judge what a comment is worth.

Python goes through `ast`, Haskell and Elixir through their lines (a definition there is told by its first column, a
comment by an attribute), the other languages through tree-sitter for the definitions and, the same way for all of
them, the comment lines that stand directly above.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from tree_sitter import Language, Node, Parser, Query, QueryCursor

from training.corpus import SourceFile


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class or type: `name` with the names around it, `own` alone; `comment` is empty where none is."""

    name: str
    own: str
    comment: str
    signature: str
    body: str


# ------------------------------------------------------------------------------------------------------------ Python


def _parse(text: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _python(file: SourceFile) -> Iterator[Definition]:
    tree = _parse(file.text)
    lines = file.text.split("\n")

    def visit(node: ast.AST, prefix: str) -> Iterator[Definition]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{prefix}{child.name}"
                comment = ast.get_docstring(child) or ""
                first = child.body[1 if comment and child.body[1:] else 0]
                signature = "\n".join(lines[child.lineno - 1 : child.body[0].lineno - 1]) or lines[child.lineno - 1]
                is_class = isinstance(child, ast.ClassDef)
                rest = lines[max(first.lineno - 1, child.lineno) : child.end_lineno]
                body = _members(child, lines) if isinstance(child, ast.ClassDef) else "\n".join(rest)
                if not (is_class and not body):
                    yield Definition(name, child.name, comment, signature, body)
                yield from visit(child, f"{name}.")
            elif not isinstance(child, ast.expr):
                yield from visit(child, prefix)

    if tree is not None:
        try:
            yield from visit(tree, "")
        except RecursionError:
            return


def _members(node: ast.ClassDef, lines: list[str]) -> str:
    """A class as its chunk shows it: fields and first lines of its methods, without their bodies."""
    out: list[str] = []
    for child in node.body:
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            out += lines[child.lineno - 1 : max(child.lineno, min(child.body[0].lineno - 1, child.lineno + 3))]
        elif isinstance(child, ast.Assign | ast.AnnAssign):
            out += lines[child.lineno - 1 : child.lineno + 1]
    return "\n".join(out[:80])


# ----------------------------------------------------------------------------------------------- Haskell and Elixir

# Blanks are taken whole (`++`): the other ways to part them fail as well.
_HASKELL_HEAD = re.compile(
    r"^(?:(?:data|newtype|class|type(?:\s+family)?)\s++(?:[^\n=]*+=>\s*+)?(?P<type>[A-Z][\w']*)"
    r"|(?P<name>[a-z_][\w']*)(?:\s*+,[\w', ]++)?\s*+::)",
    re.MULTILINE,
)
_HASKELL_COMMENT = re.compile(r"(?:^--[^\n]*\n)+\Z|^\{-\|?(?:(?!\{-).)*?-\}[ ]*\n\Z", re.MULTILINE | re.DOTALL)


def _haskell(file: SourceFile) -> Iterator[Definition]:
    text = file.text
    heads = list(_HASKELL_HEAD.finditer(text))
    for head, following in zip(heads, [*heads[1:], None], strict=False):
        own = head["type"] or head["name"]
        end = following.start() if following else len(text)
        comment = _HASKELL_COMMENT.search(text, max(0, text.rfind("\n\n", 0, head.start()) + 1), head.start())
        # The comment of the next definition stands before its head and is not this one's.
        own_text = re.split(r"\n(?:--|\{-)", text[head.start() : end], maxsplit=1)[0].rstrip()
        signature, _, body = own_text.partition("\n")
        words = re.sub(r"^\s*--+\s*[|^]?|\{-\|?|-\}", "", comment[0], flags=re.MULTILINE) if comment else ""
        yield Definition(own, own, words, signature, body)


_ELIXIR_HEAD = re.compile(
    r"^(?P<indent> *)def(?:p|macro|macrop|module|protocol|guard)?\s+(?P<name>[\w.?!]+)", re.MULTILINE
)
_ELIXIR_DOC = re.compile(r"@(?:module|type)?doc\s+(?:~[sS])?(?:\"\"\"(.*?)\"\"\"|\"([^\"\n]+)\")", re.DOTALL)


def _elixir(file: SourceFile) -> Iterator[Definition]:
    text = file.text
    module, after = "", 0
    for head in _ELIXIR_HEAD.finditer(text):
        end = text.find(f"\n{head['indent']}end", head.end())
        own_text = text[head.start() : end if end > 0 else head.end() + 400]
        signature, _, body = own_text.partition("\n")
        if head[0].lstrip().startswith("defmodule"):
            module = head["name"]
            docs = list(_ELIXIR_DOC.finditer(text, head.end(), head.end() + 4000))[:1]
            body = "\n".join(re.findall(r"^ *def\w*\s[^\n]+", own_text.partition("\n")[2], re.MULTILINE)[:80])
            docs = [d for d in docs if d[0].startswith("@moduledoc")]
            name = module
        else:
            docs = list(_ELIXIR_DOC.finditer(text, after, head.start()))[-1:]
            name = f"{module}.{head['name']}"
        comment = (docs[0][1] or docs[0][2] or "") if docs else ""
        after = head.end()
        own = head["name"].rpartition(".")[2]
        yield Definition(name, own, comment, signature, body)


# --------------------------------------------------------------------------------------------------- other languages

_GRAMMARS = {
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "java": ("tree_sitter_java", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "csharp": ("tree_sitter_c_sharp", "language"),
    "kotlin": ("tree_sitter_kotlin", "language"),
    "scala": ("tree_sitter_scala", "language"),
    "swift": ("tree_sitter_swift", "language"),
    "lua": ("tree_sitter_lua", "language"),
    "bash": ("tree_sitter_bash", "language"),
}

_ECMASCRIPT = (
    "function_declaration generator_function_declaration class_declaration method_definition "
    "lexical_declaration variable_declaration pair"
)
_DEFINITIONS = {
    "javascript": _ECMASCRIPT + " expression_statement field_definition",
    "typescript": _ECMASCRIPT
    + " interface_declaration abstract_class_declaration public_field_definition type_alias_declaration "
    "enum_declaration",
    "tsx": _ECMASCRIPT + " interface_declaration public_field_definition type_alias_declaration enum_declaration",
    "go": "function_declaration method_declaration type_declaration",
    "java": "method_declaration constructor_declaration class_declaration interface_declaration enum_declaration",
    "rust": "function_item struct_item enum_item trait_item macro_definition",
    "ruby": "method singleton_method class module",
    "php": "function_definition method_declaration class_declaration interface_declaration trait_declaration",
    "c": "function_definition struct_specifier",
    "cpp": "function_definition class_specifier struct_specifier",
    "csharp": "method_declaration constructor_declaration class_declaration interface_declaration struct_declaration "
    "property_declaration enum_declaration",
    "kotlin": "function_declaration class_declaration object_declaration",
    "scala": "function_definition class_definition object_definition trait_definition",
    "swift": "function_declaration init_declaration class_declaration protocol_declaration",
    "lua": "function_declaration assignment_statement",
    "bash": "function_definition",
}
_TYPES = ("class", "interface", "trait", "module", "abstract_class", "struct", "object_d", "protocol")
_FUNCTIONS = ("function", "arrow", "method", "class", "generator")
_COMMENT_LINE = re.compile(r"^\s*(?://|/\*|\*|---?(?!\[)|#(?!\[|!/|include|define|if|endif|else|pragma))")
_BETWEEN = re.compile(r"^\s*(?:#\[|template\s*<|@\w|\[\w|export\s*$)")


@cache
def _grammar(language: str) -> tuple[Parser, Query]:
    module, function = _GRAMMARS[language]
    grammar = Language(getattr(import_module(module), function)())
    return Parser(grammar), Query(grammar, "\n".join(f"({kind}) @d" for kind in _DEFINITIONS[language].split()))


def _text(node: Node | None) -> str:
    return node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""


def _own_name(node: Node) -> str:
    """The name a definition gives, or "" when the node defines nothing that has a body."""
    kind = node.type
    if kind in ("lexical_declaration", "variable_declaration"):
        declarator = next((c for c in node.named_children if c.type == "variable_declarator"), None)
        value = declarator.child_by_field_name("value") if declarator else None
        functional = value is not None and value.type.startswith(_FUNCTIONS)
        return _text(declarator.child_by_field_name("name")) if declarator and functional else ""
    if kind == "expression_statement":
        assignment = node.named_children[0] if node.named_children else None
        value = (
            assignment.child_by_field_name("right")
            if assignment and assignment.type == "assignment_expression"
            else None
        )
        left = assignment.child_by_field_name("left") if assignment else None
        return _text(left).replace(".prototype", "") if value is not None and value.type.startswith(_FUNCTIONS) else ""
    if kind in ("pair", "field_definition", "public_field_definition"):
        value = node.child_by_field_name("value")
        key = (
            node.child_by_field_name("key") or node.child_by_field_name("name") or node.child_by_field_name("property")
        )
        return _text(key) if value is not None and value.type.startswith(_FUNCTIONS) else ""
    if kind == "assignment_statement":
        left, _, right = _text(node).partition("=")
        return left.strip() if right.lstrip().startswith("function") else ""
    if kind == "init_declaration":
        return "init"
    if kind == "type_declaration":
        spec = next((c for c in node.named_children if c.type == "type_spec"), None)
        return _text(spec.child_by_field_name("name")) if spec else ""
    if kind == "function_definition" and node.child_by_field_name("name") is None:
        declarator = node.child_by_field_name("declarator")
        while declarator is not None and declarator.child_by_field_name("declarator") is not None:
            declarator = declarator.child_by_field_name("declarator")
        return _text(declarator).partition("(")[0].replace("::", ".")
    return _text(node.child_by_field_name("name"))


def _qualified_name(node: Node, own: str) -> str:
    """`own` with the names of the classes, traits or implementations around it."""
    names = [own]
    receiver = node.child_by_field_name("receiver") if node.type == "method_declaration" else None
    if receiver is not None:
        names.append(re.sub(r"[^\w ]", "", _text(receiver)).split(" ")[-1])
    parent = node.parent
    while parent is not None:
        if parent.type == "impl_item":
            names.append(_text(parent.child_by_field_name("type")))
        elif parent.type.startswith(_TYPES) and parent.parent:
            name = parent.child_by_field_name("name")
            if name is not None:
                names.append(_text(name))
        parent = parent.parent
    return ".".join(n for n in reversed(names) if n)[-120:]


def _comment_above(lines: list[str], row: int) -> str:
    """The comment that ends directly above line `row` (0-based), attributes and template heads skipped."""
    end = row - 1
    while end >= 0 and _BETWEEN.match(lines[end]):
        end -= 1
    start = end
    if start >= 0 and lines[start].rstrip().endswith("*/"):
        while start >= 0 and "/*" not in lines[start] and end - start < 80:
            start -= 1
        return "\n".join(lines[max(start, 0) : end + 1])
    while start >= 0 and _COMMENT_LINE.match(lines[start]) and end - start < 60:
        start -= 1
    return "\n".join(lines[start + 1 : end + 1])


def _tree_sitter(file: SourceFile) -> Iterator[Definition]:
    parser, query = _grammar(file.language)
    data = file.text.encode("utf-8", "replace")
    lines = data.decode("utf-8", "replace").split("\n")
    nodes = QueryCursor(query).captures(parser.parse(data).root_node).get("d", [])
    for node in nodes:
        own = _own_name(node)
        if not own:
            continue
        text = _text(node)
        body = node.child_by_field_name("body")
        cut = (
            len(data[node.start_byte : body.start_byte].decode("utf-8", "replace"))
            if body is not None
            else text.find("\n")
        )
        row = node.start_point.row
        yield Definition(
            name=_qualified_name(node, own),
            own=re.split(r"[.:]", own)[-1],
            comment=_comment_above(lines, row),
            signature=text[: max(cut, 0)],
            body=text[max(cut, 0) :],
        )


def definitions(file: SourceFile) -> Iterator[Definition]:
    """The definitions of one file in source order (tree-sitter languages: in the order of the query)."""
    by_language = {"python": _python, "haskell": _haskell, "elixir": _elixir}
    if file.language in by_language:
        yield from by_language[file.language](file)
    elif file.language in _GRAMMARS:
        yield from _tree_sitter(file)
