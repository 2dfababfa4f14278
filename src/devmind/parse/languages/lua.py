"""Lua: functions however they are written, tables' functions, variables at file level, required modules."""

from __future__ import annotations

from devmind.parse.spec import LanguageSpec

QUERY = """
(function_declaration name: (identifier) @name body: (_)? @body) @def.function
(function_declaration name: (dot_index_expression table: (_) @owner field: (identifier) @name) body:
  (_)? @body) @def.function
(function_declaration name: (method_index_expression table: (_) @owner method: (identifier) @name) body:
  (_)? @body) @def.method
(variable_declaration (assignment_statement (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition body: (_)? @body) .))) @def.function
(assignment_statement (variable_list . name: (identifier) @name .) (expression_list . value:
  (function_definition body: (_)? @body) .)) @def.function
(assignment_statement (variable_list . name: (dot_index_expression table: (_) @owner field:
  (identifier) @name) .) (expression_list . value: (function_definition body: (_)? @body) .)) @def.function
(table_constructor (field name: (identifier) @name value: (function_definition body: (_)? @body)) @def.function)
((chunk (assignment_statement (variable_list . name: (identifier) @name .)) @def.constant) (#match? @name
  "^[A-Z][A-Z0-9_]+$"))
(chunk (assignment_statement (variable_list . name: (identifier) @name .)) @def.variable)
(chunk (assignment_statement (variable_list . name: (dot_index_expression table: (identifier) @owner field:
  (identifier) @name) .)) @def.field)
(chunk (variable_declaration (assignment_statement (variable_list . name: (identifier) @name .))) @def.variable)

((function_call name: (identifier) @name) @ref.call (#not-eq? @name "require"))
(function_call name: (dot_index_expression table: (_) @qualifier field: (identifier) @name)) @ref.call
(function_call name: (method_index_expression table: (_) @qualifier method: (identifier) @name)) @ref.call
((assignment_statement (variable_list . name: (identifier) @alias) (expression_list . value:
  (function_call name: (identifier) @_r arguments: (arguments (string content:
  (string_content) @module))))) @ref.import (#eq? @_r "require"))
((chunk (function_call name: (identifier) @_r arguments: (arguments (string content:
  (string_content) @module))) @ref.import) (#eq? @_r "require"))
(comment) @comment
"""


def refine_kind(kind: str, _name: str, signature: str, parent_kind: str) -> str:
    if kind == "function" and parent_kind == "function" and not signature.startswith(("local ", "function ")):
        return ""  # the assignment inside a ``local``
    return "" if kind == "variable" and "require" in signature.partition("=")[2].split("(", 1)[0] else kind


def is_private(name: str, signature: str) -> bool:
    return signature.startswith("local ") or name.startswith("_")


SPEC = LanguageSpec(
    module="tree_sitter_lua",
    query=QUERY,
    is_private=is_private,
    refine_kind=refine_kind,
    blocks=frozenset({"chunk"}),
)
