"""Shell: functions, variables at file level, sourced files, called commands."""

from __future__ import annotations

from devmind.parse.spec import LanguageSpec

QUERY = """
(function_definition name: (word) @name body: (_) @body) @def.function
(program (variable_assignment name: (variable_name) @name) @def.variable)
(program (declaration_command "readonly" (variable_assignment name: (variable_name) @name)) @def.constant)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @def.variable)

((command name: (command_name . (word) @name)) @ref.call (#not-match? @name "^([.]|source)$"))
((command name: (command_name . (word) @_c) argument: (_) @module) @ref.import (#any-of? @_c "." "source"))
(comment) @comment
"""

SPEC = LanguageSpec(
    module="tree_sitter_bash",
    query=QUERY,
    blocks=frozenset({"case_statement", "case_item", "else_clause"}),
)
