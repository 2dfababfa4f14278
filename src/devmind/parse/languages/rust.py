"""Rust: items, impl blocks as scopes, enum variants, macros, use trees, axum and actix routes."""

from __future__ import annotations

import re
from typing import Final

from devmind.parse.spec import LanguageSpec
from devmind.parse.structure import structure
from devmind.types import ParsedDocument

QUERY = """
(struct_item name: (type_identifier) @name body: (_)? @body) @def.struct
(union_item name: (type_identifier) @name body: (_)? @body) @def.union
(enum_item name: (type_identifier) @name body: (_)? @body) @def.enum
(enum_variant name: (identifier) @name) @def.enum_member
(trait_item name: (type_identifier) @name body: (_)? @body) @def.trait
(mod_item name: (identifier) @name body: (_) @body) @def.module
(type_item name: (type_identifier) @name) @def.type
(associated_type name: (type_identifier) @name) @def.type
(const_item name: (identifier) @name) @def.constant
(static_item name: (identifier) @name) @def.variable
(macro_definition name: (identifier) @name) @def.macro
(function_item name: (identifier) @name body: (_)? @body) @def.function
(function_signature_item name: (identifier) @name) @def.function
(struct_item body: (field_declaration_list (field_declaration name: (field_identifier) @name) @def.field))
(union_item body: (field_declaration_list (field_declaration name: (field_identifier) @name) @def.field))

(call_expression function: (identifier) @name) @ref.call
(call_expression function: (field_expression value: (_) @qualifier field: (field_identifier) @name)) @ref.call
(call_expression function: (scoped_identifier path: (_)? @qualifier name: (identifier) @name)) @ref.call
(call_expression function: (generic_function function: (identifier) @name)) @ref.call
(call_expression function: (generic_function function: (field_expression value: (_) @qualifier field:
  (field_identifier) @name))) @ref.call
(call_expression function: (generic_function function: (scoped_identifier path: (_)? @qualifier name:
  (identifier) @name))) @ref.call
(struct_expression name: (type_identifier) @name) @ref.call
(macro_invocation macro: (identifier) @name) @ref.call
(macro_invocation macro: (scoped_identifier path: (_)? @qualifier name: (identifier) @name)) @ref.call
(use_declaration argument: (identifier) @module) @ref.import
(use_declaration argument: (scoped_identifier path: (_)? @module name: (identifier) @name)) @ref.import
(use_as_clause path: (scoped_identifier path: (_)? @module name: (identifier) @name) alias:
  (identifier) @alias) @ref.import
(scoped_use_list path: (_) @module list: (use_list (identifier) @name)) @ref.import
(scoped_use_list path: (_) @module list: (use_list (scoped_identifier name: (identifier) @name))) @ref.import
(scoped_use_list path: (_) @module
  list: (use_list (use_as_clause path: (identifier) @name alias: (identifier) @alias))) @ref.import
(scoped_use_list path: (_) @module list: (use_list (self) @name)) @ref.import
(use_wildcard (_) @module "*" @name) @ref.import
(scoped_use_list path: (_) @module list: (use_list (use_wildcard . "*" @name))) @ref.import
(mod_item name: (identifier) @module !body) @ref.import
(extern_crate_declaration name: (identifier) @module) @ref.import
(impl_item trait: (type_identifier) @name) @ref.implement
(impl_item trait: (generic_type type: (type_identifier) @name)) @ref.implement
(impl_item trait: (scoped_type_identifier name: (type_identifier) @name)) @ref.implement
(impl_item trait: (generic_type type: (scoped_type_identifier name: (type_identifier) @name))) @ref.implement
(trait_item bounds: (trait_bounds (type_identifier) @name)) @ref.inherit
(trait_item bounds: (trait_bounds (scoped_type_identifier name: (type_identifier) @name))) @ref.inherit
(line_comment) @comment
(block_comment) @comment
(impl_item type: (_) @name) @scope
(attribute_item) @attr
(call_expression function: (field_expression field: (field_identifier) @_r)
  arguments: (arguments . (string_literal) @path . (call_expression function: [(identifier) @method
    (scoped_identifier name: (identifier) @method)] arguments: (arguments . [(identifier) @handler
    (scoped_identifier name: (identifier) @handler)]?)))
  (#eq? @_r "route")) @route
((attribute_item (attribute (identifier) @method arguments: (token_tree . (string_literal) @path))) @route
  . (attribute_item)* . (function_item name: (identifier) @handler))
"""

_ITEM = re.compile(
    r"(?:(?:default|async|unsafe|const|extern(?: \"[^\"]*\")?) )*(?:fn|struct|enum|trait|const|static|type|mod|union)\b"
)
_FIELD = re.compile(r"[a-z_]\w*\s*:")
_ARGUMENTS = re.compile(r"<.*$", re.DOTALL)


def is_private(_name: str, signature: str) -> bool:
    """An item or field without ``pub``. Methods of a trait cannot be told apart by their text and count as private."""
    return _ITEM.match(signature) is not None or _FIELD.match(signature) is not None


def clean_owner(text: str) -> str:
    """``&'a mut path::Type<T>`` → ``Type``."""
    bare = re.sub(r"^(?:&|\*|'\w+|mut\b|dyn\b|const\b|\s)+", "", text)
    return _ARGUMENTS.sub("", bare).strip().rpartition("::")[2]


_SPEC: Final = LanguageSpec(
    module="tree_sitter_rust",
    query=QUERY,
    separator="::",
    is_private=is_private,
    clean_owner=clean_owner,
    blocks=frozenset({"enum_variant_list", "match_block"}),
)

_OPENS = re.compile(r"( *)[\w:]+! *\{ *$")
_SKIPPED = re.compile(r"\s*(?://|#!?\[|$)")
_STARTS_ITEM = re.compile(
    r"\s*(?:pub(?:\([^)]*\))? )?(?:(?:async|unsafe|const) )*(?:fn|struct|enum|trait|impl|mod|use|type|macro_rules)\b"
)


def unwrap_macros(text: str) -> str:
    """Blank ``cfg_…! {`` and its closing line where plain items stand inside: the grammar sees only tokens there."""
    if "! {" not in text and "!{" not in text:
        return text
    lines = text.split("\n")
    opened: list[tuple[str, int]] = []
    for number, line in enumerate(lines):
        if found := _OPENS.match(line):
            opened.append((found.group(1), number))
        elif opened and line.rstrip() in (f"{opened[-1][0]}}}", f"{opened[-1][0]}}};"):
            start = opened.pop()[1]
            first = next((inner for inner in lines[start + 1 : number] if not _SKIPPED.match(inner)), "")
            if _STARTS_ITEM.match(first):
                lines[start] = lines[number] = ""
    return "\n".join(lines)


def read(text: str) -> ParsedDocument | None:
    return structure(unwrap_macros(text), _SPEC)
