"""Java: types, methods, fields, enum constants, imports, calls, Spring and JAX-RS endpoints."""

from __future__ import annotations

from devmind.parse.spec import LanguageSpec, modifier_is_private

QUERY = """
(class_declaration name: (identifier) @name body: (_) @body) @def.class
(record_declaration name: (identifier) @name body: (_) @body) @def.class
(interface_declaration name: (identifier) @name body: (_) @body) @def.interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @def.interface
(enum_declaration name: (identifier) @name body: (_) @body) @def.enum
(enum_constant name: (identifier) @name) @def.enum_member
(method_declaration name: (identifier) @name body: (block)? @body) @def.method
(constructor_declaration name: (identifier) @name body: (_) @body) @def.method
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @def.method
(annotation_type_element_declaration name: (identifier) @name) @def.method
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @def.field
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @def.constant
(line_comment) @comment
(block_comment) @comment

(method_invocation !object name: (identifier) @name) @ref.call
(method_invocation object: (_) @qualifier name: (identifier) @name) @ref.call
(object_creation_expression type: [(type_identifier) @name (generic_type (type_identifier) @name)
  (scoped_type_identifier (type_identifier) @name .)]) @ref.call
(method_reference . (_) @qualifier (identifier) @name .) @ref.call
(superclass [(type_identifier) @name (generic_type . (type_identifier) @name)
  (scoped_type_identifier (type_identifier) @name .)]) @ref.inherit
(super_interfaces (type_list [(type_identifier) @name (generic_type . (type_identifier) @name)])) @ref.implement
(extends_interfaces (type_list [(type_identifier) @name (generic_type . (type_identifier) @name)])) @ref.inherit
(formal_parameter type: [(type_identifier) @name (generic_type . (type_identifier) @name)]) @ref.reference
(field_declaration type: [(type_identifier) @name (generic_type . (type_identifier) @name)]) @ref.reference
(local_variable_declaration type: [(type_identifier) @name (generic_type . (type_identifier) @name)]) @ref.reference
(marker_annotation name: (identifier) @name) @ref.reference
(annotation name: (identifier) @name) @ref.reference
(import_declaration (scoped_identifier name: (identifier) @name) @module . ";") @ref.import
(import_declaration (_) @module (asterisk) @name) @ref.import

((class_declaration (modifiers (annotation name: (identifier) @annotation
  arguments: (annotation_argument_list (string_literal) @path)) @prefix))
  (#any-of? @annotation "RequestMapping" "Path"))
((class_declaration (modifiers (annotation name: (identifier) @annotation
  arguments: (annotation_argument_list
    (element_value_pair key: (identifier) @key value: (string_literal) @path))) @prefix))
  (#eq? @annotation "RequestMapping") (#any-of? @key "value" "path"))
((method_declaration
  (modifiers (annotation name: (identifier) @method
    arguments: (annotation_argument_list
      [(string_literal) @path
       (element_value_pair key: (identifier) @key value: (string_literal) @path)
       (element_value_pair key: (identifier) @key value: (element_value_array_initializer . (string_literal) @path))]))
    @route)
  name: (identifier) @handler) (#match? @method "^(Get|Post|Put|Delete|Patch|Request)Mapping$")
  (#not-match? @key "^(name|produces|consumes|headers|params)$"))
((method_declaration (modifiers (annotation name: (identifier) @method) @route) name: (identifier) @handler)
  (#match? @method "^(Get|Post|Put|Delete|Patch)Mapping$"))
((method_declaration (modifiers (marker_annotation name: (identifier) @method) @route) name: (identifier) @handler)
  (#match? @method "^(Get|Post|Put|Delete|Patch)Mapping$"))
((method_invocation name: (identifier) @method arguments: (argument_list . (string_literal) @path)) @request
  (#match? @method "^(getFor|postFor|put$|delete$|exchange|get$|post$|patch$)"))
"""


def refine_kind(kind: str, name: str, signature: str, _parent_kind: str) -> str:
    if kind == "field":
        words = signature.split("=", 1)[0].split()
        return "constant" if "static" in words and "final" in words else kind
    return kind


SPEC = LanguageSpec(
    module="tree_sitter_java",
    query=QUERY,
    is_private=modifier_is_private,
    refine_kind=refine_kind,
    blocks=frozenset(
        {
            "enum_body_declarations",
            "annotation_type_body",
            "array_initializer",
            "argument_list",
            "switch_block_statement_group",
        }
    ),
)
