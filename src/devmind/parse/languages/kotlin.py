"""Kotlin: classes, interfaces, objects, functions and extensions, properties, enum entries, Spring routes."""

from __future__ import annotations

from devmind.parse.spec import LanguageSpec, modifier_is_private

QUERY = """
(class_declaration (modifiers (class_modifier "enum")) name: (identifier) @name [(class_body)
  (enum_class_body)]? @body) @def.enum
(class_declaration "interface" name: (identifier) @name [(class_body) (enum_class_body)]? @body) @def.interface
(class_declaration name: (identifier) @name [(class_body) (enum_class_body)]? @body) @def.class
(object_declaration name: (identifier) @name (class_body)? @body) @def.object
(companion_object name: (identifier) @name (class_body)? @body) @def.object
(enum_entry . (identifier) @name) @def.enum_member
(type_alias type: (identifier) @name) @def.type
(function_declaration (user_type . (identifier) @owner) . name: (identifier) @name
  (function_body)? @body) @def.function
(function_declaration name: (identifier) @name (function_body)? @body) @def.function
(property_declaration (modifiers (property_modifier "const")) (variable_declaration .
  (identifier) @name)) @def.constant
(class_body (property_declaration (variable_declaration . (identifier) @name)) @def.property)
(source_file (property_declaration (variable_declaration . (identifier) @name)) @def.variable)
(class_parameter ["val" "var"] (identifier) @name) @def.property

(call_expression . (identifier) @name) @ref.call
(call_expression . (navigation_expression (_) @qualifier (identifier) @name .)) @ref.call
(annotation (user_type . (identifier) @name)) @ref.call
(annotation (constructor_invocation (user_type . (identifier) @name))) @ref.call
(import (qualified_identifier) @module (identifier) @alias) @ref.import
(import (qualified_identifier) @module .) @ref.import
(delegation_specifier (constructor_invocation (user_type . (identifier) @name))) @ref.inherit
(delegation_specifier (user_type . (identifier) @name)) @ref.implement
(line_comment) @comment
(block_comment) @comment
(function_declaration (modifiers (annotation (constructor_invocation (user_type (identifier) @method)
  (value_arguments . (value_argument (string_literal) @path))))) name: (identifier) @handler) @route
"""

SPEC = LanguageSpec(
    module="tree_sitter_kotlin",
    query=QUERY,
    is_private=modifier_is_private,
    blocks=frozenset({"enum_class_body", "when_expression", "lambda_literal"}),
)
