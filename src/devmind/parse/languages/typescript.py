"""TypeScript and TSX: JavaScript's patterns plus types, interfaces, enums, namespaces and class members with types."""

from __future__ import annotations

from dataclasses import replace

from devmind.parse.languages.javascript import COMMON, JSX
from devmind.parse.languages.javascript import SPEC as JAVASCRIPT

QUERY = """
(class_declaration name: (type_identifier) @name body: (_) @body) @def.class
(abstract_class_declaration name: (type_identifier) @name body: (_) @body) @def.class
(interface_declaration name: (type_identifier) @name body: (_) @body) @def.interface
(enum_declaration name: (identifier) @name body: (_) @body) @def.enum
(enum_body name: (_) @name @def.enum_member)
(enum_body (enum_assignment name: (_) @name) @def.enum_member)
(type_alias_declaration name: (type_identifier) @name) @def.type
(internal_module name: (_) @name body: (_) @body) @def.namespace
(module name: (_) @name body: (_) @body) @def.namespace
(function_signature name: (identifier) @name) @def.function
(method_signature name: (_) @name) @def.method
(abstract_method_signature name: (_) @name) @def.method
(interface_body (property_signature name: (_) @name) @def.field)
(public_field_definition name: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @def.method
(public_field_definition name: (_) @name) @def.field
(lexical_declaration (variable_declarator name: (identifier) @name value: (class body: (_) @body))) @def.class
(ambient_declaration (_)) @wrap

(extends_clause value: (identifier) @name) @ref.inherit
(extends_clause value: (member_expression object: (_) @qualifier property: (property_identifier) @name)) @ref.inherit
(extends_type_clause type: (type_identifier) @name) @ref.inherit
(extends_type_clause type: (generic_type name: (type_identifier) @name)) @ref.inherit
(implements_clause (type_identifier) @name) @ref.implement
(implements_clause (generic_type name: (type_identifier) @name)) @ref.implement
(type_annotation (type_identifier) @name) @ref.reference
(type_annotation (generic_type name: (type_identifier) @name)) @ref.reference
(type_arguments (type_identifier) @name) @ref.reference
"""

SPECS = {
    "typescript": replace(
        JAVASCRIPT, module="tree_sitter_typescript", function="language_typescript", query=QUERY + COMMON
    ),
    "tsx": replace(JAVASCRIPT, module="tree_sitter_typescript", function="language_tsx", query=QUERY + COMMON + JSX),
}
