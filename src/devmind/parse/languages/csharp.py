"""C#: namespaces, types, members, delegates, ASP.NET routes."""

from __future__ import annotations

import re
from typing import Final

from devmind.parse.spec import LanguageSpec, modifier_is_private
from devmind.parse.structure import structure
from devmind.types import ParsedDocument

QUERY = """
(namespace_declaration name: (_) @name body: (_)? @body) @def.namespace
(compilation_unit (file_scoped_namespace_declaration name: (_) @name)) @scope
(class_declaration name: (identifier) @name body: (_)? @body) @def.class
(record_declaration name: (identifier) @name body: (_)? @body) @def.class
(struct_declaration name: (identifier) @name body: (_)? @body) @def.struct
(interface_declaration name: (identifier) @name body: (_)? @body) @def.interface
(enum_declaration name: (identifier) @name body: (_)? @body) @def.enum
(enum_member_declaration name: (identifier) @name) @def.enum_member
(delegate_declaration name: (identifier) @name) @def.type
(method_declaration name: (identifier) @name body: (_)? @body) @def.method
(constructor_declaration name: (identifier) @name body: (_)? @body) @def.method
(destructor_declaration name: (identifier) @name body: (_)? @body) @def.method
(operator_declaration operator: _ @name body: (_)? @body) @def.method
(indexer_declaration "this" @name) @def.property
(local_function_statement name: (identifier) @name body: (_)? @body) @def.function
(property_declaration name: (identifier) @name) @def.property
(event_declaration name: (identifier) @name) @def.property
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @def.property
(field_declaration (modifier "const") (variable_declaration (variable_declarator name:
  (identifier) @name))) @def.constant
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @def.field

(invocation_expression function: (identifier) @name) @ref.call
(invocation_expression function: (generic_name . (identifier) @name)) @ref.call
(invocation_expression function: (member_access_expression expression: (_)? @qualifier name:
  (identifier) @name)) @ref.call
(invocation_expression function: (member_access_expression expression: (_)? @qualifier name: (generic_name .
  (identifier) @name))) @ref.call
(invocation_expression function: (conditional_access_expression condition: (_) @qualifier
  (member_binding_expression name: (identifier) @name))) @ref.call
(object_creation_expression type: (identifier) @name) @ref.call
(object_creation_expression type: (generic_name . (identifier) @name)) @ref.call
(object_creation_expression type: (qualified_name name: (identifier) @name)) @ref.call
(attribute name: (identifier) @name) @ref.call
(using_directive name: (identifier) @alias (qualified_name) @module) @ref.import
(using_directive !name [(qualified_name) (identifier)] @module) @ref.import
((base_list (identifier) @name) @ref.inherit (#not-match? @name "^I[A-Z]"))
((base_list (identifier) @name) @ref.implement (#match? @name "^I[A-Z]"))
((base_list (generic_name . (identifier) @name)) @ref.inherit (#not-match? @name "^I[A-Z]"))
((base_list (generic_name . (identifier) @name)) @ref.implement (#match? @name "^I[A-Z]"))
(base_list (qualified_name name: (identifier) @name)) @ref.inherit
(base_list (primary_constructor_base_type type: (identifier) @name)) @ref.inherit
(comment) @comment
(class_declaration (attribute_list (attribute name: (identifier) @_r
  (attribute_argument_list . (attribute_argument (string_literal) @path)))) body: (declaration_list) @prefix
  (#eq? @_r "Route"))
(method_declaration (attribute_list (attribute name: (identifier) @method
  (attribute_argument_list . (attribute_argument (string_literal) @path))?)) name: (identifier) @handler) @route
"""

_ATTRIBUTES = re.compile(r"^(?:\[[^\]]*(?:\[[^\]]*\][^\]]*)*\]\s*)+")


def is_private(name: str, signature: str) -> bool:
    return modifier_is_private(name, _ATTRIBUTES.sub("", signature))


_SPEC: Final = LanguageSpec(
    module="tree_sitter_c_sharp",
    query=QUERY,
    is_private=is_private,
    blocks=frozenset({"enum_member_declaration_list", "accessor_list"}),
)

_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(if|elif|else|endif)\b")
_COMPLETE = (";", "{", "}", "]", "*/")


def settle(text: str) -> str:
    """Blank directives where the grammar, which has conditionals only between whole statements, cannot have them.

    Without ``#else`` all that a conditional holds stays; with one, and inside a declaration, its first branch alone.
    """
    lines = text.split("\n")
    blank: set[int] = set()
    opened: list[
        tuple[list[int], bool]
    ] = []  # of the conditionals around: their directives, whether code is unfinished
    before = ";"  # the last code seen
    for number, line in enumerate(lines):
        found = _DIRECTIVE.match(line)
        if not found:
            if (code := line.partition("//")[0].strip()) and not code.startswith("#"):
                before = code
        elif found.group(1) == "if":
            opened.append(([number], not before.endswith(_COMPLETE)))
        elif opened:
            directives, unfinished = opened[-1]
            directives.append(number)
            if found.group(1) == "endif":
                opened.pop()
                if len(directives) == 2:
                    blank.update(directives)
                elif unfinished:
                    blank.update((directives[0], *range(directives[1], number + 1)))
    return "\n".join("" if number in blank else line for number, line in enumerate(lines))


def read(text: str) -> ParsedDocument | None:
    """Return the structure of ``text`` after conditionals that break its syntax are settled."""
    return structure(settle(text), _SPEC)
