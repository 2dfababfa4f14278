"""Swift: types, extensions as scopes, protocols, functions, initialisers, properties, enum cases."""

from __future__ import annotations

from devmind.parse.spec import LanguageSpec

QUERY = """
(class_declaration "class" name: (type_identifier) @name body: (_) @body) @def.class
(class_declaration "actor" name: (type_identifier) @name body: (_) @body) @def.class
(class_declaration "struct" name: (type_identifier) @name body: (_) @body) @def.struct
(class_declaration "enum" name: (type_identifier) @name body: (_) @body) @def.enum
(protocol_declaration name: (type_identifier) @name body: (_) @body) @def.protocol
(enum_entry name: (simple_identifier) @name) @def.enum_member
(function_declaration name: [(simple_identifier) (custom_operator)] @name body: (_)? @body) @def.function
(protocol_function_declaration name: (simple_identifier) @name) @def.function
(init_declaration "init" @name body: (_)? @body) @def.method
(deinit_declaration "deinit" @name body: (_)? @body) @def.method
(subscript_declaration "subscript" @name) @def.method
(typealias_declaration name: (type_identifier) @name) @def.type
(associatedtype_declaration name: (type_identifier) @name) @def.type
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.property
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.property)
(enum_class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.property)
(source_file (property_declaration (value_binding_pattern "let") name: (pattern bound_identifier:
  (simple_identifier) @name)) @def.constant)
(source_file (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.variable)

(call_expression . (simple_identifier) @name) @ref.call
(call_expression . (navigation_expression target: (_) @qualifier suffix: (navigation_suffix suffix:
  (simple_identifier) @name))) @ref.call
(import_declaration (identifier) @module) @ref.import
(class_declaration ["class" "actor"] (inheritance_specifier inherits_from: (user_type
  (type_identifier) @name .))) @ref.inherit
(class_declaration ["struct" "enum" "extension"] (inheritance_specifier inherits_from: (user_type
  (type_identifier) @name .))) @ref.implement
(protocol_declaration (inheritance_specifier inherits_from: (user_type (type_identifier) @name .))) @ref.inherit
(comment) @comment
(multiline_comment) @comment
(class_declaration "extension" name: (_) @name) @scope
"""


def is_private(_name: str, signature: str) -> bool:
    words = signature.split("(", 1)[0].split()
    return "private" in words or "fileprivate" in words


def clean_owner(text: str) -> str:
    return text.split("<", 1)[0].strip()


SPEC = LanguageSpec(
    module="tree_sitter_swift",
    query=QUERY,
    is_private=is_private,
    clean_owner=clean_owner,
    blocks=frozenset({"enum_class_body", "protocol_body"}),
)
