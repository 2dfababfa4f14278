"""C++: namespaces, classes and their members, templates, out-of-class definitions, tests, and all that C has."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from devmind.parse.cpreprocess import settle
from devmind.parse.languages import c
from devmind.parse.spec import LanguageSpec
from devmind.parse.structure import structure
from devmind.types import ParsedDocument, Symbol, split_lines


def _wrapped(pattern: str) -> str:
    """Return an alternation of ``pattern`` bare and inside pointer and reference declarators."""
    once = [f"(pointer_declarator declarator: {pattern})", f"(reference_declarator {pattern})"]
    twice = [f"(pointer_declarator declarator: {inner})" for inner in once]
    return f"[{' '.join([pattern, *once, *twice])}]"


_PLAIN = "[(identifier) (field_identifier) (operator_name) (destructor_name)] @name"
_FUNCTION = _wrapped(f"(function_declarator declarator: {_PLAIN})")
_QUALIFIED = _wrapped("(function_declarator declarator: (qualified_identifier) @name @owner)")
_VARIABLE = _wrapped("[(identifier) @name (array_declarator declarator: (identifier) @name)]")
_CALLED = "[(identifier) @name (template_function name: (identifier) @name)]"

QUERY = f"""
((function_definition !type
  declarator: (function_declarator declarator: (identifier) @_t parameters: (parameter_list
    . (parameter_declaration type: (type_identifier) @owner) . (parameter_declaration type: (type_identifier) @name)))
  body: (_) @body) @def.function (#match? @_t "^(TYPED_)?TEST(_[FPS])?$"))
((function_definition declarator: {_FUNCTION} body: (_) @body) @def.function (#not-match? @name "^(TYPED_)?TEST(_|$)"))
(function_definition declarator: {_FUNCTION} !body) @def.function
(function_definition declarator: {_QUALIFIED} body: (_)? @body) @def.method
(function_definition declarator: (operator_cast) @name body: (_)? @body) @def.method
(function_definition declarator: (qualified_identifier) @name @owner body: (_)? @body) @def.method
(declaration declarator: {_FUNCTION}) @def.function
(declaration declarator: (operator_cast) @name) @def.method
(field_declaration declarator: {_FUNCTION}) @def.method
(declaration declarator: {_VARIABLE}) @def.variable
(declaration declarator: (init_declarator declarator: {_VARIABLE})) @def.variable
(declaration declarator: (init_declarator declarator: (qualified_identifier) @name @owner)) @def.variable
(class_specifier name: [(type_identifier) (template_type)] @name body: (_) @body) @def.class
(class_specifier name: (qualified_identifier) @name @owner body: (_) @body) @def.class
(struct_specifier name: [(type_identifier) (template_type)] @name body: (_) @body) @def.struct
(struct_specifier name: (qualified_identifier) @name @owner body: (_) @body) @def.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @def.union
(enum_specifier name: (type_identifier) @name body: (_) @body) @def.enum
(namespace_definition name: (namespace_identifier) @name body: (_) @body) @def.namespace
(namespace_definition name: (nested_namespace_specifier) @name @owner body: (_) @body) @def.namespace
(alias_declaration name: (type_identifier) @name) @def.type
(concept_definition name: (identifier) @name) @def.type
(template_declaration) @wrap
{c.TYPES}{c.PREPROCESSOR}
(call_expression function: {_CALLED}) @ref.call
(call_expression function: (field_expression argument: (_) @qualifier field: [(field_identifier) @name
  (template_method name: (field_identifier) @name)])) @ref.call
(call_expression function: (qualified_identifier scope: (_) @qualifier name: {_CALLED})) @ref.call
(call_expression function: (qualified_identifier name: (qualified_identifier scope: (_) @qualifier
  name: {_CALLED}))) @ref.call
(new_expression type: [(type_identifier) @name (qualified_identifier name: (type_identifier) @name)]) @ref.call
(base_class_clause [(type_identifier) @name (template_type name: (type_identifier) @name)]) @ref.inherit
(base_class_clause (qualified_identifier scope: (_) @qualifier name: [(type_identifier) @name
  (template_type name: (type_identifier) @name)])) @ref.inherit
"""
_ARGUMENTS = re.compile(r"<[^<>]*>")
_OPERATOR = re.compile(r"(?:^|(?<=[:\s>]))operator\b(.*)", re.DOTALL)
_ACCESS = re.compile(r"\s*(public|private|protected)\s*(?:\w+\s*)?:(?!:)")


def _parts(text: str) -> tuple[str, str]:
    """Return (owner, name) of a declared name, without template arguments: ``A<T>::f`` → ``A``, ``f``."""
    found = _OPERATOR.search(text)
    head = text[: found.start()] if found else text
    while (shorter := _ARGUMENTS.sub("", head)) != head:
        head = shorter
    owner, _, name = "".join(head.split()).rpartition("::")
    if not found:
        return owner, name
    sign = found.group(1).strip()
    sign = "()" if sign.startswith(("()", "( )")) else sign.split("(", 1)[0].strip()
    return owner, f"operator {sign}" if sign[:1].isalpha() else f"operator{sign}"


def clean_name(text: str) -> str:
    return _parts(text)[1]


def clean_owner(text: str) -> str:
    """The owner in a qualified name; the suite of a test macro is already bare."""
    return _parts(text)[0] or ("" if _OPERATOR.search(text) else text)


_SPEC: Final = LanguageSpec(
    module="tree_sitter_cpp",
    query=QUERY,
    separator="::",
    is_private=lambda _name, _signature: False,
    refine_kind=c.refine_kind,
    clean_name=clean_name,
    clean_owner=clean_owner,
    blocks=c.BLOCKS | {"template_declaration"},
)


def _private_members(lines: list[str], symbols: tuple[Symbol, ...]) -> set[int]:
    """Return the indexes of members below ``private:`` or ``protected:``, or above any of these in a ``class``."""
    private: set[int] = set()
    members: dict[int, list[int]] = {}
    for index, symbol in enumerate(symbols):
        if symbol.parent >= 0 and symbols[symbol.parent].kind in ("class", "struct"):
            members.setdefault(symbol.parent, []).append(index)
    for parent, children in members.items():
        access = "private" if symbols[parent].kind == "class" else "public"
        cursor = symbols[parent].start_line
        for child in children:
            for line in lines[cursor : symbols[child].start_line - 1]:
                if found := _ACCESS.match(line):
                    access = found.group(1)
            cursor = max(cursor, symbols[child].end_line - 1)
            if access != "public":
                private.add(child)
    return private


def read(text: str) -> ParsedDocument | None:
    """Return the structure of ``text`` after macros and conditionals that break its syntax are settled."""
    parsed = structure(settle(text), _SPEC)
    if parsed is None:
        return None
    private = _private_members(split_lines(text), parsed.symbols)
    symbols = tuple(replace(s, visibility="private") if i in private else s for i, s in enumerate(parsed.symbols))
    return replace(parsed, symbols=symbols)
