"""JSON, YAML and TOML: the keys of the top two levels."""

from __future__ import annotations

from devmind.parse.spec import LanguageSpec

JSON = """
(document (object (pair key: (string) @name) @def.key))
(document (object (pair value: (object (pair key: (string) @name) @def.key))))
(comment) @comment
"""

YAML = """
(document (block_node (block_mapping (block_mapping_pair key: (flow_node) @name) @def.key)))
(document (block_node (block_mapping (block_mapping_pair
  value: (block_node (block_mapping (block_mapping_pair key: (flow_node) @name) @def.key))))))
(comment) @comment
"""

TOML = """
(document (pair . (_) @name) @def.key)
(table . (_) @name) @def.key
(table_array_element . (_) @name) @def.key
(table (pair . (_) @name) @def.key)
(table_array_element (pair . (_) @name) @def.key)
(comment) @comment
"""


def clean_name(text: str) -> str:
    return " ".join(text.strip("\"'").split())


def never_private(_name: str, _signature: str) -> bool:
    return False


def _spec(name: str, query: str) -> LanguageSpec:
    return LanguageSpec(
        module=f"tree_sitter_{name}",
        query=query,
        clean_name=clean_name,
        is_private=never_private,
        blocks=frozenset({"block_mapping", "block_sequence", "flow_mapping", "flow_sequence", "table", "stream"}),
    )


SPECS = {"json": _spec("json", JSON), "toml": _spec("toml", TOML), "yaml": _spec("yaml", YAML)}
