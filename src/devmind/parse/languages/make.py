"""Make: targets, variables, defined macros, prerequisites, included files."""

from __future__ import annotations

from devmind.parse.spec import LanguageSpec

QUERY = """
((rule (targets (word) @name) (recipe)? @body) @def.target (#not-match? @name "^[.][A-Z_]+$"))
(variable_assignment name: (word) @name) @def.variable
(define_directive name: (word) @name) @def.macro

(rule normal: (prerequisites (word) @name)) @ref.reference
(include_directive filenames: (list (word) @module)) @ref.import
(comment) @comment
"""

SPEC = LanguageSpec(
    module="tree_sitter_make",
    query=QUERY,
    is_private=lambda _name, _signature: False,
    blocks=frozenset({"makefile", "conditional"}),
)
