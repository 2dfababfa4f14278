"""JavaScript and JSX; its patterns and rules also serve TypeScript and Vue."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from devmind.parse.spec import LanguageSpec
from devmind.parse.structure import structure
from devmind.types import ParsedDocument

FUNCTION_VALUE = "[(arrow_function body: (_) @body) (function_expression body: (_) @body)]"

# Members that code gives to an object after it was made: under another name too, by string, by a call, all at once.
# They cost up to a tenth of the time that a file takes: only files where such words stand are asked (`_ADDS_MEMBERS`),
# and none in TypeScript, which has its own means for all of this.
# An assignment of an assignment defines both names; they share the statement, so that neither lies in the other.
ASSIGNED = f"""
((expression_statement (assignment_expression left: (member_expression) @_exports
  right: (function_expression name: (identifier) @name body: (_) @body))) @def.function
  (#eq? @_exports "module.exports"))
(expression_statement (assignment_expression
  left: (member_expression property: (property_identifier) @name) right: (class body: (_) @body))) @def.class
(expression_statement (assignment_expression
  left: (member_expression object: (_) @owner property: (property_identifier) @name)
  right: (assignment_expression right: {FUNCTION_VALUE}))) @def.function
(expression_statement (assignment_expression right: (assignment_expression
  left: (member_expression object: (_) @owner property: (property_identifier) @name) right: {FUNCTION_VALUE})))
  @def.function
(expression_statement (assignment_expression
  left: (subscript_expression object: (_) @owner index: (string (string_fragment) @name)) right: {FUNCTION_VALUE}))
  @def.function
((expression_statement (call_expression function: [(identifier) @_definer
    (member_expression property: (property_identifier) @_definer)]
  arguments: (arguments . [(identifier) (member_expression)] @owner . (string (string_fragment) @name)
    . [(function_expression body: (_) @body) (arrow_function body: (_) @body) (object) @body (_)]))) @def.property
  (#match? @_definer "^define(Getter|Setter|Property)$"))
((program (expression_statement (assignment_expression
  left: (member_expression object: (_) @_exports property: (property_identifier) @name) right: (_) @_value))
  @def.variable)
  (#any-of? @_exports "exports" "module.exports") (#not-eq? @name @_value))
((program (expression_statement (assignment_expression left: (member_expression) @_exports
  right: (object (pair key: (property_identifier) @name value: (_) @_value) @def.variable))))
  (#eq? @_exports "module.exports") (#not-eq? @name @_value))
((expression_statement (assignment_expression left: (member_expression) @name right: (object) @scope))
  (#not-match? @name "^(module[.])?exports$"))
((call_expression function: (member_expression) @_assign
  arguments: (arguments . [(identifier) (member_expression)] @name . (object) @scope))
  (#eq? @_assign "Object.assign"))
"""

# What sets a route apart from a client call with the same shape: an inline handler, or a receiver that is no client.
# Patterns that hold for JavaScript and TypeScript alike.
COMMON = f"""
(function_declaration name: (identifier) @name body: (_) @body) @def.function
(generator_function_declaration name: (identifier) @name body: (_) @body) @def.function
(method_definition name: (_) @name body: (_) @body) @def.method
(lexical_declaration (variable_declarator name: (identifier) @name value: {FUNCTION_VALUE})) @def.function
(variable_declaration (variable_declarator name: (identifier) @name value: {FUNCTION_VALUE})) @def.function
(pair key: (property_identifier) @name value: {FUNCTION_VALUE}) @def.function
(expression_statement (assignment_expression
  left: (member_expression object: (_) @owner property: (property_identifier) @name) right: {FUNCTION_VALUE}))
  @def.function
(expression_statement (assignment_expression left: (identifier) @name right: {FUNCTION_VALUE})) @def.function
(export_statement "default" @name value: {FUNCTION_VALUE}) @def.function
(program (lexical_declaration (variable_declarator name: (identifier) @name)) @def.variable)
(program (variable_declaration (variable_declarator name: (identifier) @name)) @def.variable)
(program (export_statement
  declaration: (lexical_declaration (variable_declarator name: (identifier) @name)) @def.variable))
(program (export_statement
  declaration: (variable_declaration (variable_declarator name: (identifier) @name)) @def.variable))
(export_statement declaration: (_)) @wrap
(export_statement value: (class)) @wrap
(comment) @comment

(call_expression function: (identifier) @name) @ref.call
(call_expression function: (member_expression object: (_) @qualifier property: (property_identifier) @name)) @ref.call
(new_expression constructor: (identifier) @name) @ref.call
(new_expression constructor: (member_expression object: (_) @qualifier property: (property_identifier) @name)) @ref.call

(import_statement (import_clause (identifier) @alias) source: (string) @module) @ref.import
(import_statement (import_clause (namespace_import (identifier) @alias)) source: (string) @module) @ref.import
(import_statement (import_clause (named_imports (import_specifier name: (identifier) @name !alias)))
  source: (string) @module) @ref.import
(import_statement
  (import_clause (named_imports (import_specifier name: (identifier) @name alias: (identifier) @alias)))
  source: (string) @module) @ref.import
(import_statement "import" . source: (string) @module) @ref.import
(export_statement (export_clause (export_specifier name: (identifier) @name)) source: (string) @module) @ref.import
(export_statement "*" @name source: (string) @module) @ref.import
((variable_declarator name: (identifier) @alias
  value: (call_expression function: (identifier) @callee arguments: (arguments . (string) @module))) @ref.import
  (#eq? @callee "require"))
((variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @name)
  value: (call_expression function: (identifier) @callee arguments: (arguments . (string) @module))) @ref.import
  (#eq? @callee "require"))
((variable_declarator
  name: (object_pattern (pair_pattern key: (property_identifier) @name value: (identifier) @alias))
  value: (call_expression function: (identifier) @callee arguments: (arguments . (string) @module))) @ref.import
  (#eq? @callee "require"))
(call_expression function: (import) arguments: (arguments . (string) @module)) @ref.import

((call_expression
  function: (member_expression property: (property_identifier) @method)
  arguments: (arguments . (string) @path (_)* [(arrow_function) (function_expression)] .)) @route
  (#any-of? @method "get" "post" "put" "delete" "patch" "head" "options" "all")
  (#match? @path "^.[/*]"))
((call_expression
  function: (member_expression object: (identifier) @router property: (property_identifier) @method)
  arguments: (arguments . (string) @path (_)* [(identifier) (member_expression)] @handler .)) @route
  (#any-of? @method "get" "post" "put" "delete" "patch" "head" "options" "all")
  (#not-match? @router "^([$]?http|axios|client|api|request|superagent|ky|got|\\\\w+Client)$")
  (#match? @path "^.[/*]"))
((call_expression function: (identifier) @method arguments: (arguments . [(string) (template_string)] @path)) @request
  (#any-of? @method "fetch" "$fetch" "useFetch" "request"))
(call_expression function: (member_expression property: (property_identifier) @method)
  arguments: (arguments . [(string) (template_string)] @path)) @request
"""

JSX = """
(jsx_opening_element name: (identifier) @name (#match? @name "^[A-Z]")) @ref.reference
(jsx_self_closing_element name: (identifier) @name (#match? @name "^[A-Z]")) @ref.reference
(jsx_opening_element name: (member_expression object: (_) @qualifier property: (property_identifier) @name))
  @ref.reference
(jsx_self_closing_element name: (member_expression object: (_) @qualifier property: (property_identifier) @name))
  @ref.reference
"""

QUERY = """
(class_declaration name: (identifier) @name body: (_) @body) @def.class
(lexical_declaration (variable_declarator name: (identifier) @name value: (class body: (_) @body))) @def.class
(field_definition property: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])
  @def.method
(field_definition property: (_) @name) @def.field
(class_heritage (identifier) @name) @ref.inherit
(class_heritage (member_expression object: (_) @qualifier property: (property_identifier) @name)) @ref.inherit
"""

_CONSTANT = re.compile(r"_*[A-Z][A-Z0-9_]*$")
_NAMED_EXPORT = re.compile(r"module\.exports = (?:async )?function\*? ?\w")  # known by the function's own name
_NO_OWNER = frozenset({"exports", "module.exports", "module", "this", "window", "self", "globalThis"})


def is_private(name: str, signature: str) -> bool:
    words = signature.split("(", 1)[0].split()
    return name.startswith(("#", "_")) or "private" in words or "protected" in words


def refine_kind(kind: str, name: str, signature: str, parent_kind: str) -> str:
    if name == "__esModule":
        return ""  # a mark that compilers leave
    if name == "exports" and _NAMED_EXPORT.match(signature):
        return ""
    if kind == "method" and re.match(r"(?:\w+ )*[gs]et [\w#]+\(", signature):
        return "property"
    if kind in ("variable", "field") and _CONSTANT.match(name):
        return "constant"
    return kind


def clean_name(text: str) -> str:
    return text.strip("\"'`[]")


def clean_owner(text: str) -> str:
    owner = text.removesuffix(".prototype")
    owner = owner.removeprefix("module.exports.").removeprefix("exports.")
    return "" if owner in _NO_OWNER or not re.fullmatch(r"[\w$.]+", owner) else owner


BLOCKS = frozenset({"arguments", "named_imports", "object_type", "jsx_element", "template_string"})

SPEC = LanguageSpec(
    module="tree_sitter_javascript",
    query=QUERY + COMMON + JSX,
    is_private=is_private,
    refine_kind=refine_kind,
    clean_name=clean_name,
    clean_owner=clean_owner,
    blocks=BLOCKS,
)

_WITH_MEMBERS: Final = replace(SPEC, query=QUERY + COMMON + ASSIGNED + JSX)
_ADDS_MEMBERS = (
    *("exports", ".prototype = ", "defineGetter(", "defineSetter(", "defineProperty(", "Object.assign("),
    *("'] = ", '"] = '),
)
_ASSIGNS_MEMBERS = re.compile(r"\.\w+ = (?:\{|class\b|[\w.]+ = )")


def read(text: str) -> ParsedDocument | None:
    adds_members = any(sign in text for sign in _ADDS_MEMBERS) or _ASSIGNS_MEMBERS.search(text)
    return structure(text, _WITH_MEMBERS if adds_members else SPEC)
