"""C: functions and prototypes, structs, unions, enums, typedefs, macros, variables at file level, includes."""

from __future__ import annotations

from typing import Final

from devmind.parse.cpreprocess import settle
from devmind.parse.spec import LanguageSpec
from devmind.parse.structure import structure
from devmind.types import ParsedDocument


def in_pointers(pattern: str, depth: int = 3) -> str:
    """Return an alternation of ``pattern`` inside 0 to ``depth`` pointer declarators."""
    found = [pattern]
    for _ in range(depth):
        found.append(f"(pointer_declarator declarator: {found[-1]})")
    return f"[{' '.join(found)}]"


_FUNCTION = in_pointers("(function_declarator declarator: (identifier) @name)")
_VARIABLE = in_pointers("[(identifier) @name (array_declarator declarator: (identifier) @name)]")
_FIELD = in_pointers("[(field_identifier) @name (array_declarator declarator: (field_identifier) @name)]")

PREPROCESSOR: Final = """
(preproc_def name: (identifier) @name value: (_)? @body) @def.macro
(preproc_function_def name: (identifier) @name value: (_)? @body) @def.macro
(preproc_include path: (string_literal (string_content) @module @name)) @ref.import
(preproc_include path: (system_lib_string) @module @name) @ref.import
(comment) @comment
"""
TYPES: Final = f"""
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @def.struct
(type_definition type: (union_specifier !name body: (_) @body) declarator: (type_identifier) @name) @def.union
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @def.enum
(type_definition type: [(struct_specifier name: (_) body: (_)) (union_specifier name: (_) body: (_))
  (enum_specifier name: (_) body: (_))] declarator: (type_identifier) @name @def.type)
(type_definition type: [(struct_specifier !body) (union_specifier !body) (enum_specifier !body) (primitive_type)
  (sized_type_specifier) (type_identifier)] declarator: (type_identifier) @name) @def.type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @def.type
(type_definition declarator: (array_declarator declarator: (type_identifier) @name)) @def.type
(type_definition declarator: (function_declarator declarator: [(type_identifier) @name
  (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name))])) @def.type
(enumerator name: (identifier) @name) @def.enum_member
(field_declaration declarator: {_FIELD}) @def.field
"""
QUERY = f"""
(function_definition declarator: {_FUNCTION} body: (_) @body) @def.function
(declaration declarator: {_FUNCTION}) @def.function
(declaration declarator: {_VARIABLE}) @def.variable
(declaration declarator: (init_declarator declarator: {_VARIABLE})) @def.variable
(struct_specifier name: (type_identifier) @name body: (_) @body) @def.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @def.union
(enum_specifier name: (type_identifier) @name body: (_) @body) @def.enum
{TYPES}{PREPROCESSOR}
(call_expression function: (identifier) @name) @ref.call
(call_expression function: (field_expression argument: (_) @qualifier field: (field_identifier) @name)) @ref.call
"""
BLOCKS: Final = frozenset(
    {"enumerator_list", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "case_statement"}
)
_GUARD_ENDS = ("_H", "_H_", "_H__", "_HPP", "_HPP_", "_HXX", "_HH", "_INCLUDED")


def refine_kind(kind: str, name: str, signature: str, parent_kind: str) -> str:
    """Locals are no symbols, nor are include guards; a ``const`` or ``constexpr`` variable is a constant."""
    if parent_kind in ("function", "method") and kind in ("variable", "function", "method"):
        return ""
    if kind == "macro" and len(signature.split()) == 2 and name.upper().endswith(_GUARD_ENDS):
        return ""
    if kind == "variable":
        words = signature.split("=", 1)[0].split()
        return "constant" if "const" in words or "constexpr" in words else kind
    return kind


_SPEC: Final = LanguageSpec(
    module="tree_sitter_c",
    query=QUERY,
    separator="::",
    is_private=lambda _name, signature: signature.startswith("static "),
    refine_kind=refine_kind,
    blocks=BLOCKS,
)


def read(text: str) -> ParsedDocument | None:
    """Return the structure of ``text`` after macros and conditionals that break its syntax are settled."""
    return structure(settle(text), _SPEC)
