"""Zig: containers bound to a constant, their fields and functions, tests, imports."""

from __future__ import annotations

from devmind.parse.spec import LanguageSpec

QUERY = """
(variable_declaration . (identifier) @name (struct_declaration) @body) @def.struct
(variable_declaration . (identifier) @name (enum_declaration) @body) @def.enum
(variable_declaration . (identifier) @name (union_declaration) @body) @def.union
(variable_declaration . (identifier) @name (opaque_declaration) @body) @def.type
(variable_declaration . (identifier) @name (error_set_declaration) @body) @def.enum
(error_set_declaration (identifier) @name @def.enum_member)
(enum_declaration (container_field name: (identifier) @name) @def.enum_member)
(struct_declaration (container_field name: (identifier) @name) @def.field)
(union_declaration (container_field name: (identifier) @name) @def.field)
(source_file (container_field name: (identifier) @name) @def.field)
(function_declaration name: (identifier) @name body: (_)? @body) @def.function
(test_declaration (string (string_content) @name)) @def.function
(test_declaration (identifier) @name) @def.function
(source_file (variable_declaration "const" . (identifier) @name) @def.constant)
(source_file (variable_declaration "var" . (identifier) @name) @def.variable)
(struct_declaration (variable_declaration "const" . (identifier) @name) @def.constant)
(enum_declaration (variable_declaration "const" . (identifier) @name) @def.constant)
(union_declaration (variable_declaration "const" . (identifier) @name) @def.constant)

(call_expression function: (identifier) @name) @ref.call
(call_expression function: (field_expression object: (_) @qualifier member: (identifier) @name)) @ref.call
((variable_declaration . (identifier) @alias (builtin_function (builtin_identifier) @_b (arguments (string
  (string_content) @module)))) @ref.import (#eq? @_b "@import"))
((builtin_function (builtin_identifier) @_b (arguments (string (string_content) @module))) @ref.import
  (#any-of? @_b "@cInclude" "@embedFile"))
((field_expression (builtin_function (builtin_identifier) @_b (arguments (string
  (string_content) @module)))) @ref.import
  (#eq? @_b "@import"))
(comment) @comment
"""


def refine_kind(kind: str, name: str, signature: str, _parent_kind: str) -> str:
    """An import is no constant of its own; ``_`` discards."""
    imported = kind == "constant" and "@import(" in signature
    return "" if imported or name == "_" else kind


def is_private(_name: str, signature: str) -> bool:
    return signature.startswith(("fn ", "const ", "var ", "inline fn ", "threadlocal "))


SPEC = LanguageSpec(
    module="tree_sitter_zig",
    query=QUERY,
    is_private=is_private,
    refine_kind=refine_kind,
    blocks=frozenset({"struct_declaration", "enum_declaration", "union_declaration"}),
)
