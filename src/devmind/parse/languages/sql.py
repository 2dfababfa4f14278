"""SQL: tables with columns, views, routines, types, indexes; the tables that a statement uses."""

from __future__ import annotations

from devmind.parse.spec import LanguageSpec

QUERY = """
(create_table (object_reference name: (identifier) @name)) @def.table
(create_view (object_reference name: (identifier) @name)) @def.view
(create_materialized_view (object_reference name: (identifier) @name)) @def.view
(create_function (object_reference name: (identifier) @name)) @def.function
(create_procedure (object_reference name: (identifier) @name)) @def.function
(create_trigger . (_)* (keyword_trigger) . (object_reference name: (identifier) @name)) @def.function
(create_type (object_reference name: (identifier) @name)) @def.type
(create_schema (identifier) @name) @def.namespace
(create_index column: (identifier) @name) @def.key
(create_sequence (object_reference name: (identifier) @name)) @def.object
(create_table (column_definitions (column_definition name: (identifier) @name) @def.field))
(create_type (enum_elements enum_element: (literal) @name @def.enum_member))

(invocation (object_reference name: (identifier) @name)) @ref.call
(relation (object_reference schema: (identifier)? @qualifier name: (identifier) @name)) @ref.reference
(constraint (object_reference name: (identifier) @name)) @ref.reference
(column_definition (keyword_references) (object_reference name: (identifier) @name)) @ref.reference
(alter_table . (_)* (object_reference name: (identifier) @name)) @ref.reference
(comment) @comment
(marginalia) @comment
"""


def clean_name(text: str) -> str:
    return text.strip("`\"'[]")


SPEC = LanguageSpec(
    module="tree_sitter_sql",
    query=QUERY,
    is_private=lambda _name, _signature: False,
    clean_name=clean_name,
    blocks=frozenset({"column_definitions"}),
)
