"""Haskell: functions (signature and equations as one), data types and constructors, classes, instances."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from devmind.parse.clauses import merge_clauses
from devmind.parse.spec import LanguageSpec
from devmind.parse.structure import structure
from devmind.types import ParsedDocument

QUERY = """
(data_type name: (name) @name) @def.type
(newtype name: (name) @name) @def.type
(type_synonym name: (name) @name) @def.type
(type_family name: (name) @name) @def.type
(class name: (name) @name) @def.class
(data_constructor constructor: (prefix name: (constructor) @name)) @def.enum_member
(data_constructor constructor: (record name: (constructor) @name)) @def.enum_member
(newtype_constructor name: (constructor) @name) @def.enum_member
(gadt_constructor name: (constructor) @name) @def.enum_member
(field name: (field_name (variable) @name)) @def.field
(declarations (signature name: (variable) @name) @def.function)
(declarations (signature name: (prefix_id (operator) @name)) @def.function)
(class_declarations (signature name: (variable) @name) @def.function)
(declarations (function name: (variable) @name) @def.function)
(declarations (function (infix operator: (operator) @name)) @def.function)
(declarations (bind name: (variable) @name) @def.function)
(class_declarations (function name: (variable) @name) @def.function)
(instance_declarations (function name: (variable) @name) @def.function)
(instance_declarations (bind name: (variable) @name) @def.function)
(pattern_synonym (equation synonym: (apply function: (constructor) @name))) @def.type

(apply function: (variable) @name) @ref.call
(apply function: (qualified module: (module) @qualifier id: (variable) @name)) @ref.call
(infix left_operand: (variable) @name) @ref.call
(apply function: (constructor) @name) @ref.call
(import module: (module) @module alias: (module) @alias) @ref.import
(import module: (module) @module !alias !names) @ref.import
(import module: (module) @module !alias names: (import_list name: (import_name variable:
  (variable) @name))) @ref.import
(import module: (module) @module !alias names: (import_list name: (import_name type: (name) @name))) @ref.import
(instance name: (name) @name) @ref.implement
(comment) @comment
(haddock) @comment
(instance patterns: (type_patterns) @name) @scope
"""

_TYPE = re.compile(r"[A-Z][\w']*")


def clean_owner(text: str) -> str:
    """The first type constructor of an instance's head."""
    found = _TYPE.search(text)
    return found.group() if found else ""


_SPEC: Final = LanguageSpec(
    module="tree_sitter_haskell",
    query=QUERY,
    is_private=lambda _name, _signature: False,
    clean_owner=clean_owner,
    blocks=frozenset({"declarations", "imports", "class_declarations", "instance_declarations", "do"}),
)


def read(text: str) -> ParsedDocument | None:
    parsed = structure(text, _SPEC)
    if parsed is None:
        return None
    symbols = tuple(replace(s, docstring=s.docstring.lstrip("|^ ")) if s.docstring else s for s in parsed.symbols)
    return merge_clauses(replace(parsed, symbols=symbols, lead=parsed.lead.lstrip("|^ ")))
