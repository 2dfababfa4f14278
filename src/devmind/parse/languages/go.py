"""Go: functions, methods under their receiver, types, fields, constants, imports, calls, Gin/chi/net/http routes."""

from __future__ import annotations

import re

from devmind.parse.spec import LanguageSpec

QUERY = """
(function_declaration name: (identifier) @name body: (block)? @body) @def.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @owner))
  name: (field_identifier) @name body: (block)? @body) @def.method
(type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @def.struct
(type_spec name: (type_identifier) @name type: (interface_type)) @def.interface
(type_spec name: (type_identifier) @name) @def.type
(type_alias name: (type_identifier) @name) @def.type
(type_declaration . (type_spec) .) @wrap
(field_declaration name: (field_identifier) @name) @def.field
(method_elem name: (field_identifier) @name) @def.method
(source_file (const_declaration (const_spec name: (identifier) @name) @def.constant))
(source_file (var_declaration (var_spec name: (identifier) @name) @def.variable))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @def.variable)))
(comment) @comment

(call_expression function: (identifier) @name) @ref.call
(call_expression function: (selector_expression operand: (_) @qualifier field: (field_identifier) @name)) @ref.call
(composite_literal type: (type_identifier) @name) @ref.reference
(composite_literal type: (qualified_type package: (_) @qualifier name: (type_identifier) @name)) @ref.reference
(parameter_declaration type: [(type_identifier) @name (pointer_type (type_identifier) @name)]) @ref.reference
(parameter_declaration type:
  [(qualified_type package: (_) @qualifier name: (type_identifier) @name)
   (pointer_type (qualified_type package: (_) @qualifier name: (type_identifier) @name))]) @ref.reference
(field_declaration !name type: [(type_identifier) @name (qualified_type name: (type_identifier) @name)
  (pointer_type (type_identifier) @name)]) @ref.inherit
(type_elem . (type_identifier) @name .) @ref.inherit
(import_spec !name path: (_) @module) @ref.import
(import_spec name: (_) @alias path: (_) @module) @ref.import

((call_expression
  function: (selector_expression operand: (_) @router field: (field_identifier) @method)
  arguments: (argument_list . (interpreted_string_literal) @path (_)*
    [(identifier) (selector_expression) (func_literal)] @handler .)) @route
  (#match? @method "^(GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS|Get|Post|Put|Delete|Patch|Any|Handle|HandleFunc)$")
  (#not-match? @router "[cC]lient$")
  (#match? @path "^.([A-Z]+ )?/"))
((call_expression
  function: (selector_expression field: (field_identifier) @method)
  arguments: (argument_list . (interpreted_string_literal) @path)) @request
  (#match? @method "^(Get|Post|PostForm|Head)$"))
"""

_RECEIVER = re.compile(r"\**\s*([A-Za-z_]\w*)")


def starts_lower(name: str, _signature: str) -> bool:
    return not name[:1].isupper()


def receiver_type(text: str) -> str:
    found = _RECEIVER.match(text)
    return found.group(1) if found else ""


def drop_blank(kind: str, name: str, _signature: str, _parent_kind: str) -> str:
    return "" if name == "_" else kind


SPEC = LanguageSpec(
    module="tree_sitter_go",
    query=QUERY,
    is_private=starts_lower,
    refine_kind=drop_blank,
    clean_owner=receiver_type,
    blocks=frozenset({"literal_value", "argument_list", "import_spec_list", "const_declaration", "var_spec_list"}),
    signature_prefix=(
        ("struct", "type "),
        ("interface", "type "),
        ("type", "type "),
        ("constant", "const "),
        ("variable", "var "),
    ),
)
