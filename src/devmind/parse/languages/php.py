"""PHP: namespaces, classes, interfaces, traits, enums, functions, properties, Laravel routes."""

from __future__ import annotations

import re

from devmind.parse.spec import LanguageSpec, modifier_is_private

QUERY = """
(namespace_definition name: (namespace_name) @name body: (_) @body) @def.namespace
(program (namespace_definition name: (namespace_name) @name !body)) @def.namespace
(class_declaration name: (name) @name body: (_)? @body) @def.class
(interface_declaration name: (name) @name body: (_)? @body) @def.interface
(trait_declaration name: (name) @name body: (_)? @body) @def.trait
(enum_declaration name: (name) @name body: (_)? @body) @def.enum
(enum_case name: (name) @name) @def.enum_member
(function_definition name: (name) @name body: (_)? @body) @def.function
(method_declaration name: (name) @name body: (_)? @body) @def.method
(const_declaration (const_element . (name) @name)) @def.constant
(property_declaration (property_element name: (variable_name (name) @name))) @def.property
(property_promotion_parameter name: (variable_name (name) @name)) @def.property
((function_call_expression function: (name) @_f arguments: (arguments . (argument (string
  (string_content) @name)))) @def.constant (#eq? @_f "define"))
(scoped_call_expression scope: (name) @_c name: (name) @method arguments: (arguments . (argument (_) @path)
  (argument [(string (string_content) @handler) (class_constant_access_expression . (name) @handler)
    (array_creation_expression (array_element_initializer (string (string_content) @handler)))])?)
  (#eq? @_c "Route")) @route

(function_call_expression function: (name) @name) @ref.call
(function_call_expression function: (qualified_name prefix: (_) @qualifier (name) @name .)) @ref.call
(member_call_expression object: (_) @qualifier name: (name) @name) @ref.call
(nullsafe_member_call_expression object: (_) @qualifier name: (name) @name) @ref.call
(scoped_call_expression scope: (_) @qualifier name: (name) @name) @ref.call
(object_creation_expression . (name) @name) @ref.call
(object_creation_expression . (qualified_name prefix: (_) @qualifier (name) @name .)) @ref.call
(object_creation_expression . (qualified_name . "\\\\" @qualifier . (name) @name .)) @ref.call
(attribute . (name) @name) @ref.call
(namespace_use_declaration (namespace_use_clause . [(qualified_name) (name)] @module alias:
  (name)? @alias)) @ref.import
(namespace_use_declaration (namespace_name) @module body: (namespace_use_group (namespace_use_clause .
  (_) @name alias: (name)? @alias))) @ref.import
(require_once_expression (string (string_content) @module)) @ref.import
(require_expression (string (string_content) @module)) @ref.import
(include_expression (string (string_content) @module)) @ref.import
(include_once_expression (string (string_content) @module)) @ref.import
(base_clause (name) @name) @ref.inherit
(base_clause (qualified_name (name) @name .)) @ref.inherit
(class_interface_clause (name) @name) @ref.implement
(class_interface_clause (qualified_name (name) @name .)) @ref.implement
(declaration_list (use_declaration (name) @name)) @ref.implement
(declaration_list (use_declaration (qualified_name (name) @name .))) @ref.implement
(comment) @comment
"""

_ATTRIBUTES = re.compile(r"^(?:#\[[^\]]*\]\s*)+")


def is_private(name: str, signature: str) -> bool:
    """The signature of a namespace without braces is the head of the file and says nothing."""
    return not signature.startswith("<?") and modifier_is_private(name, _ATTRIBUTES.sub("", signature))


SPEC = LanguageSpec(
    module="tree_sitter_php",
    query=QUERY,
    function="language_php",
    separator="\\",
    is_private=is_private,
    blocks=frozenset({"enum_declaration_list", "colon_block"}),
)
