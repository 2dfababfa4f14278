"""Python: functions, classes, module and class variables, imports, calls, Flask/FastAPI routes, HTTP client calls."""

from __future__ import annotations

import re
from inspect import cleandoc

from devmind.parse.spec import LanguageSpec

QUERY = """
((decorated_definition
  (decorator [(identifier) @decorator (attribute attribute: (identifier) @decorator)])
  definition: (function_definition name: (identifier) @name body: (block) @body) @def.property)
  (#match? @decorator "^(property|cached_property|setter|deleter)$"))
(function_definition name: (identifier) @name body: (block) @body) @def.function
(class_definition name: (identifier) @name body: (block) @body) @def.class
(decorated_definition) @wrap
(module (expression_statement (assignment left: (identifier) @name) @def.variable))
(module (expression_statement (assignment left: (pattern_list (identifier) @name)) @def.variable))
(module (type_alias_statement left: (type (identifier) @name)) @def.type)
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @def.field)))

(module . (comment)* . (expression_statement (string) @doc))
(function_definition body: (block . (comment)* . (expression_statement (string) @doc)))
(class_definition body: (block . (comment)* . (expression_statement (string) @doc)))
(comment) @comment

(call function: (identifier) @name) @ref.call
(call function: (attribute object: (_) @qualifier attribute: (identifier) @name)) @ref.call
(decorator (identifier) @name) @ref.call
(decorator (attribute object: (_) @qualifier attribute: (identifier) @name)) @ref.call
(class_definition superclasses: (argument_list (identifier) @name)) @ref.inherit
(class_definition superclasses: (argument_list (attribute object: (_) @qualifier attribute: (identifier) @name)))
  @ref.inherit
(class_definition superclasses: (argument_list (subscript value: (identifier) @name))) @ref.inherit
((type (identifier) @name) @ref.reference
  (#not-match? @name "^(int|str|bool|float|bytes|object|list|dict|tuple|set|type)$"))

(import_statement name: (dotted_name) @module) @ref.import
(import_statement name: (aliased_import name: (dotted_name) @module alias: (identifier) @alias)) @ref.import
(import_from_statement module_name: (_) @module name: (dotted_name) @name) @ref.import
(import_from_statement module_name: (_) @module
  name: (aliased_import name: (dotted_name) @name alias: (identifier) @alias)) @ref.import
(import_from_statement module_name: (_) @module (wildcard_import) @name) @ref.import
(future_import_statement name: (dotted_name) @name) @ref.import

(decorated_definition
  (decorator (call function: (attribute attribute: (identifier) @method)
    arguments: (argument_list . (string) @path))) @route
  definition: (function_definition name: (identifier) @handler))
(call function: (attribute attribute: (identifier) @method) arguments: (argument_list . (string) @path)) @request
"""

_ENUM_BASE = re.compile(r"^class \w+\((?:[\w.]+, ?)*(?:\w+\.)?\w*(?:Enum|Flag)\b")
_CONSTANT = re.compile(r"_*[A-Z][A-Z0-9_]*$")
_STRING = re.compile(r"""^[A-Za-z]{0,2}(\"{3}|'{3}|"|')(.*)\1$""", re.DOTALL)


def refine_kind(kind: str, name: str, signature: str, parent_kind: str) -> str:
    if kind == "class":
        return "enum" if _ENUM_BASE.match(signature) else kind
    if kind == "field" and parent_kind == "enum" and not name.startswith("_"):
        return "enum_member"
    if kind in ("variable", "field") and _CONSTANT.match(name):
        return "constant"
    return kind


def clean_doc(literal: str) -> str:
    found = _STRING.match(literal)
    return cleandoc(found.group(2)).strip() if found else literal


SPEC = LanguageSpec(
    module="tree_sitter_python",
    query=QUERY,
    refine_kind=refine_kind,
    clean_doc=clean_doc,
    blocks=frozenset({"tuple", "set"}),
)
