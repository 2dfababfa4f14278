"""Elixir: modules, protocols, functions and macros (clauses as one), attributes, types, Phoenix routes."""

from __future__ import annotations

import re
from dataclasses import replace
from inspect import cleandoc
from typing import Final

from devmind.parse.clauses import merge_clauses
from devmind.parse.spec import LanguageSpec
from devmind.parse.structure import structure
from devmind.types import ParsedDocument

QUERY = """
((call target: (identifier) @_k (arguments . (alias) @name) (do_block) @body) @def.module (#eq? @_k "defmodule"))
((call target: (identifier) @_k (arguments . (alias) @name) (do_block) @body) @def.protocol (#eq? @_k "defprotocol"))
((call target: (identifier) @_k (arguments . (call target: (identifier) @name))
  (do_block)? @body) @def.function (#any-of? @_k "def" "defp" "defdelegate" "defn" "defnp"))
((call target: (identifier) @_k (arguments . (binary_operator left: (call target:
  (identifier) @name) operator: "when")) (do_block)? @body) @def.function (#any-of? @_k "def" "defp"))
((call target: (identifier) @_k (arguments . (identifier) @name) (do_block)? @body) @def.function
  (#any-of? @_k "def" "defp" "defdelegate"))
((call target: (identifier) @_k (arguments . (binary_operator operator: _ @name))
  (do_block)? @body) @def.function (#any-of? @_k "def" "defp") (#not-eq? @name "when"))
((call target: (identifier) @_k (arguments . (call target: (identifier) @name)) (do_block)? @body) @def.macro
  (#any-of? @_k "defmacro" "defmacrop" "defguard" "defguardp"))
((call target: (identifier) @_k (arguments . (binary_operator left: (call target:
  (identifier) @name) operator: "when")) (do_block)? @body) @def.macro (#any-of? @_k "defmacro" "defmacrop"
  "defguard" "defguardp"))
((call target: (identifier) @_k (arguments . (identifier) @name) (do_block)? @body) @def.macro (#any-of? @_k
  "defmacro" "defmacrop"))
((call target: (identifier) @name) @def.struct (#any-of? @name "defstruct" "defexception"))
((unary_operator operator: "@" operand: (call target: (identifier) @_k (arguments .
  (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")))) @def.type
  (#any-of? @_k "type" "typep" "opaque"))
((unary_operator operator: "@" operand: (call target: (identifier) @_k (arguments . (binary_operator left:
  (call target: (identifier) @name) operator: "::")))) @def.function (#any-of? @_k "callback" "macrocallback"))
((unary_operator operator: "@" operand: (call target: (identifier) @name (arguments))) @def.constant
  (#not-match? @name
  "^(doc|moduledoc|typedoc|spec|type|typep|opaque|callback|macrocallback|behaviour|impl|dialyzer|deprecated|since|derive|enforce_keys|tag|compile|optional_callbacks)$"))
((call target: (identifier) @method (arguments . (string) @path . (alias)? . (atom)? @handler)) @route
  (#any-of? @method "get" "post" "put" "patch" "delete"))

((call target: (identifier) @name) @ref.call (#not-match? @name
  "^(def|defp|defmodule|defmacro|defmacrop|defprotocol|defimpl|defstruct|defguard|defguardp|defdelegate|use|behaviour|callback|macrocallback|alias|import|require|if|unless|case|cond|with|for|fn|quote|unquote|raise|spec|type|doc|moduledoc)$"))
(call target: (dot left: (_) @qualifier right: (identifier) @name)) @ref.call
((call target: (identifier) @_k (arguments . (alias) @module (keywords (pair key: (keyword) @_as value:
  (alias) @alias))?)) @ref.import (#any-of? @_k "use" "alias" "import" "require"))
((call target: (identifier) @_k (arguments . (dot left: (alias) @module right: (tuple
  (alias) @name)))) @ref.import (#any-of? @_k "alias"))
((unary_operator operand: (call target: (identifier) @_k (arguments . (alias) @name))) @ref.implement
  (#eq? @_k "behaviour"))
((call target: (identifier) @_k (arguments . (alias) @name)) @ref.implement (#eq? @_k "defimpl"))
((unary_operator operand: (call target: (identifier) @_k)) @comment (#any-of? @_k "doc" "typedoc"))
((unary_operator operand: (call target: (identifier) @_k)) @attr (#any-of? @_k "spec" "impl" "deprecated" "since"))
(do_block (unary_operator operand: (call target: (identifier) @_k
  (arguments [(string (quoted_content) @doc) (sigil (quoted_content) @doc)]))) (#eq? @_k "moduledoc"))
((call target: (identifier) @_k (arguments . (_) @name) (do_block)) @scope (#eq? @_k "defimpl"))
(comment) @comment
"""

_DOC = re.compile(r"^@(?:type)?doc\s+(?:~[sS])?(\"{3}|\")?|\"{1,3}\s*$")
_PRIVATE = ("defp ", "defmacrop ", "defguardp ", "defnp ", "@typep ")


_SPEC: Final = LanguageSpec(
    module="tree_sitter_elixir",
    query=QUERY,
    is_private=lambda _name, signature: signature.startswith(_PRIVATE),
    clean_doc=lambda text: cleandoc(text).strip(),
    blocks=frozenset({"source", "stab_clause"}),
)


def read(text: str) -> ParsedDocument | None:
    """Return the structure; a definition's head looks like a call of itself and is none."""
    parsed = structure(text, _SPEC)
    if parsed is None:
        return None
    symbols = parsed.symbols
    heads: set[int] = set()
    references = []
    for reference in parsed.references:
        scope = reference.scope
        if reference.kind == "calls" and scope >= 0 and symbols[scope].name == reference.name and scope not in heads:
            heads.add(scope)
            continue
        references.append(reference)
    cleaned = tuple(
        replace(symbol, docstring=cleandoc(_DOC.sub("", symbol.docstring)).strip())
        if symbol.docstring.startswith(("@doc", "@typedoc"))
        else replace(symbol, signature=f"@{symbol.name} {symbol.signature}")
        if symbol.kind == "constant"
        else symbol
        for symbol in symbols
    )
    return merge_clauses(replace(parsed, symbols=cleaned, references=tuple(references)))
