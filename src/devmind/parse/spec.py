"""What a language has to say about itself so that ``structure`` can read it.

Capture convention of ``LanguageSpec.query``; every pattern has exactly one *primary* capture:

- ``@def.<kind>`` on the whole definition, ``@name`` on its name; optional ``@body`` (the signature ends there) and
  ``@owner`` (a Go receiver, a C++ ``A::``). Of patterns that match the same node and name the first in the query wins.
- ``@scope`` with ``@name``: names what lies inside (Rust ``impl T``) without being a symbol itself.
- ``@ref.call`` with ``@name``, optional ``@qualifier``; ``@ref.import`` with ``@module`` and/or ``@name``, ``@alias``;
  ``@ref.inherit``, ``@ref.implement``, ``@ref.reference`` with ``@name``. The scope is the symbol around ``@name``.
- ``@comment``; ``@doc`` on a docstring node inside its definition (or at file level).
- ``@wrap`` around a definition that ends where it ends (decorators, export, template): its lines belong to it.
- ``@attr`` on an attribute that stands before its definition (Rust ``#[…]``).
- ``@route`` with ``@method``, ``@path``, optional ``@handler``; ``@prefix`` with ``@path`` inside a class;
  ``@request`` with ``@method``, ``@path`` (a client call). ``#not-any-of?`` is not honoured by
  py-tree-sitter 0.26: write ``#not-match?``. Other capture names serve predicates and are ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def underscore_is_private(name: str, _signature: str) -> bool:
    """Python's rule: a leading underscore, save for ``__dunder__`` names."""
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def modifier_is_private(_name: str, signature: str) -> bool:
    """The rule of Java, C# and their kin: ``private`` or ``protected`` stands in the signature."""
    words = signature.split("(", 1)[0].split()
    return "private" in words or "protected" in words


def same_kind(kind: str, _name: str, _signature: str, _parent_kind: str) -> str:
    return kind


def same_text(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageSpec:
    """A language: grammar, query and the few rules that a query cannot express.

    Attributes:
        module: the grammar's wheel, for example ``tree_sitter_go``.
        query: patterns by the convention of this module.
        function: the wheel's function that returns the grammar.
        separator: stands between the parts of a qualified name.
        is_private: (name, signature) → whether the symbol is private.
        refine_kind: (kind, name, signature, parent kind or "") → the final kind; "" drops the symbol.
        clean_doc: text of a ``@doc`` node → docstring.
        clean_name: text of a ``@name`` node of a definition → name.
        clean_owner: text of an ``@owner`` node → the part before the separator; "" for none.
        blocks: node types whose named children are statements; see ``structure.COMMON_BLOCKS`` for those always known.
        signature_prefix: kinds and the words put before a signature whose node begins too late (Go's grouped ``type``).
    """

    module: str
    query: str
    function: str = "language"
    separator: str = "."
    is_private: Callable[[str, str], bool] = underscore_is_private
    refine_kind: Callable[[str, str, str, str], str] = same_kind
    clean_doc: Callable[[str], str] = same_text
    clean_name: Callable[[str], str] = same_text
    clean_owner: Callable[[str], str] = same_text
    blocks: frozenset[str] = frozenset()
    signature_prefix: tuple[tuple[str, str], ...] = ()
