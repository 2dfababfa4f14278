"""Dockerfile: build stages, arguments and environment, base images."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from devmind.parse.spec import LanguageSpec
from devmind.parse.structure import structure
from devmind.types import ParsedDocument, split_lines

QUERY = """
(from_instruction as: (image_alias) @name) @def.stage
(from_instruction !as (image_spec name: (image_name) @name)) @def.stage
(arg_instruction name: (unquoted_string) @name) @def.variable
(env_instruction (env_pair name: (unquoted_string) @name)) @def.variable

(from_instruction (image_spec name: (image_name) @module)) @ref.import
(comment) @comment
"""

_SPEC: Final = LanguageSpec(
    module="tree_sitter_dockerfile",
    query=QUERY,
    is_private=lambda _name, _signature: False,
)


def read(text: str) -> ParsedDocument | None:
    """Return the structure; a stage reaches to the next ``FROM`` and holds what stands between."""
    parsed = structure(text, _SPEC)
    if parsed is None:
        return None
    symbols = list(parsed.symbols)
    end, stage = len(split_lines(text)), -1
    for index in reversed(range(len(symbols))):
        if symbols[index].kind == "stage":
            symbols[index] = replace(symbols[index], end_line=max(end, symbols[index].end_line))
            end = symbols[index].doc_line - 1
    for index, symbol in enumerate(symbols):
        if symbol.kind == "stage":
            stage = index
        elif stage >= 0:
            name = f"{symbols[stage].name}.{symbol.name}"
            symbols[index] = replace(symbol, parent=stage, qualified_name=name)
    return replace(parsed, symbols=tuple(symbols))
