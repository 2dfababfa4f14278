"""Ruby: modules, classes, methods, constants, attributes, Rails associations and routes, mixins."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from devmind.parse.spec import LanguageSpec
from devmind.parse.structure import structure
from devmind.types import ParsedDocument, split_lines

QUERY = """
(module name: (constant) @name body: (_)? @body) @def.module
(module name: (scope_resolution scope: (_)? @owner name: (_) @name) body: (_)? @body) @def.module
(class name: (constant) @name body: (_)? @body) @def.class
(class name: (scope_resolution scope: (_)? @owner name: (_) @name) body: (_)? @body) @def.class
(assignment left: (constant) @name right: (call receiver: (constant) @_s method: (identifier) @_n)
  (#any-of? @_s "Struct"
  "Class" "Data" "Module") (#any-of? @_n "new" "define")) @def.class
(method name: (_) @name body: (_)? @body) @def.method
(singleton_method name: (_) @name body: (_)? @body) @def.method
(assignment left: (constant) @name) @def.constant
(alias name: (_) @name) @def.method
((call method: (identifier) @_m arguments: (argument_list . (simple_symbol) @name)) @def.method (#any-of? @_m
  "define_method" "alias_method" "define_singleton_method"))
((call method: (identifier) @_m arguments: (argument_list (simple_symbol) @name)) @def.property (#any-of? @_m
  "attr_accessor" "attr_reader" "attr_writer" "cattr_accessor" "mattr_accessor" "class_attribute"
  "thread_mattr_accessor"))
((call !receiver method: (identifier) @_m arguments: (argument_list . (simple_symbol) @name)) @def.property
  (#any-of? @_m "has_many" "has_one" "belongs_to" "has_and_belongs_to_many" "scope"))
(call !receiver method: (identifier) @method arguments: (argument_list . (string) @path
  (pair key: (hash_key_symbol) @_to value: (string (string_content) @handler))? )
  (#any-of? @method "get" "post" "put" "patch" "delete")) @route

(call receiver: (_) @qualifier method: [(identifier) (constant)] @name) @ref.call
((call !receiver method: [(identifier) (constant)] @name) @ref.call (#not-match? @name
  "^(require|require_relative|include|extend|prepend|private|public|protected|attr_accessor|attr_reader|attr_writer)$"))
((call method: (identifier) @_m arguments: (argument_list . (string (string_content) @module))) @ref.import
  (#any-of? @_m "require" "require_relative" "load" "autoload"))
(class superclass: (superclass (constant) @name)) @ref.inherit
(class superclass: (superclass (scope_resolution name: (constant) @name))) @ref.inherit
((call !receiver method: (identifier) @_m arguments: (argument_list (constant) @name)) @ref.implement
  (#any-of? @_m "include" "extend" "prepend"))
((call !receiver method: (identifier) @_m arguments: (argument_list (scope_resolution name:
  (constant) @name))) @ref.implement (#any-of? @_m "include" "extend" "prepend"))
(comment) @comment
"""

_SPEC: Final = LanguageSpec(
    module="tree_sitter_ruby",
    query=QUERY,
    separator="::",
    is_private=lambda _name, _signature: False,
    clean_name=lambda text: text.lstrip(":"),
    blocks=frozenset({"then", "else", "block_body", "begin"}),
)

_SWITCH = re.compile(r"( *)(private|protected|public)\s*(?:#.*)?$")
_INLINE = re.compile(r"\s*(?:private|protected) def\b")


def read(text: str) -> ParsedDocument | None:
    """Return the structure; methods below a bare ``private`` at their own indentation are private."""
    parsed = structure(text, _SPEC)
    if parsed is None:
        return None
    lines = split_lines(text)
    switches = [(n, len(m.group(1)), m.group(2)) for n, line in enumerate(lines, start=1) if (m := _SWITCH.match(line))]
    symbols = list(parsed.symbols)
    for index, symbol in enumerate(symbols):
        if symbol.kind != "method" or symbol.start_line > len(lines):
            continue
        line = lines[symbol.start_line - 1]
        first = symbols[symbol.parent].start_line if symbol.parent >= 0 else symbol.start_line
        indent = len(line) - len(line.lstrip())
        last = [word for n, at, word in switches if first < n < symbol.start_line and indent - 2 <= at <= indent][-1:]
        if _INLINE.match(line) or (last and last[0] != "public"):
            symbols[index] = replace(symbol, visibility="private")
    return replace(parsed, symbols=tuple(symbols))
