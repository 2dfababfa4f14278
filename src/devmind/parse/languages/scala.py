"""Scala 2 and 3: classes, objects, traits, enums, givens, definitions, values of templates."""

from __future__ import annotations

from devmind.parse.spec import LanguageSpec, modifier_is_private

QUERY = """
(class_definition name: (identifier) @name body: (_)? @body) @def.class
(object_definition name: (identifier) @name body: (_)? @body) @def.object
(package_object name: (identifier) @name body: (_)? @body) @def.object
(trait_definition name: (identifier) @name body: (_)? @body) @def.trait
(enum_definition name: (identifier) @name body: (_)? @body) @def.enum
(simple_enum_case name: (identifier) @name) @def.enum_member
(full_enum_case name: (identifier) @name) @def.enum_member
(given_definition name: (identifier) @name body: (_)? @body) @def.object
(function_definition name: [(identifier) (operator_identifier)] @name body: (_)? @body) @def.function
(function_declaration name: [(identifier) (operator_identifier)] @name) @def.function
(type_definition name: (type_identifier) @name) @def.type
(template_body (val_definition pattern: (identifier) @name) @def.constant (#match? @name "^[A-Z]"))
(template_body (val_definition pattern: (identifier) @name) @def.field)
(template_body (var_definition pattern: (identifier) @name) @def.field)
(template_body (val_declaration name: (identifier) @name) @def.field)
(compilation_unit (val_definition pattern: (identifier) @name) @def.variable)

(call_expression function: (identifier) @name) @ref.call
(call_expression function: (field_expression value: (_) @qualifier field: (identifier) @name)) @ref.call
(call_expression function: (generic_function function: (identifier) @name)) @ref.call
(call_expression function: (generic_function function: (field_expression value: (_) @qualifier field:
  (identifier) @name))) @ref.call
(instance_expression (type_identifier) @name) @ref.call
(instance_expression (generic_type type: (type_identifier) @name)) @ref.call
(import_declaration (identifier) @module @name .) @ref.import
(import_declaration (namespace_selectors (identifier) @name)) @ref.import
(import_declaration (namespace_selectors (arrow_renamed_identifier name: (identifier) @name alias:
  (identifier) @alias)))
  @ref.import
(import_declaration (identifier) @module @name . (namespace_wildcard)) @ref.import
(extends_clause . type: (type_identifier) @name) @ref.inherit
(extends_clause . type: (generic_type type: (type_identifier) @name)) @ref.inherit
(extends_clause (_) (type_identifier) @name) @ref.implement
(extends_clause (_) (generic_type type: (type_identifier) @name)) @ref.implement
(comment) @comment
(block_comment) @comment
"""

SPEC = LanguageSpec(
    module="tree_sitter_scala",
    query=QUERY,
    is_private=modifier_is_private,
    blocks=frozenset({"template_body", "with_template_body", "case_block", "indented_block"}),
)
