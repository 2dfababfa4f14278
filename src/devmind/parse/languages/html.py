"""HTML: elements with an id, scripts and style sheets as imports, inline scripts read as JavaScript."""

from __future__ import annotations

import re

from devmind.parse.blocks import join, structure_within
from devmind.parse.languages.javascript import SPEC as JAVASCRIPT
from devmind.parse.languages.keys import never_private
from devmind.parse.spec import LanguageSpec
from devmind.parse.structure import structure
from devmind.types import ParsedDocument

QUERY = """
((element (start_tag
  (attribute (attribute_name) @key (quoted_attribute_value (attribute_value) @name))) @body) @def.element
  (#eq? @key "id"))
((element (self_closing_tag
  (attribute (attribute_name) @key (quoted_attribute_value (attribute_value) @name)))) @def.element
  (#eq? @key "id"))
((script_element (start_tag
  (attribute (attribute_name) @key (quoted_attribute_value (attribute_value) @module)))) @ref.import
  (#eq? @key "src"))
((element (start_tag (tag_name) @tag
  (attribute (attribute_name) @key (quoted_attribute_value (attribute_value) @module)))) @ref.import
  (#eq? @tag "link") (#eq? @key "href"))
(comment) @comment
"""

_SCRIPT = re.compile(r"<script\b[^>]{0,2000}>(.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
_DATA = re.compile(r"type\s*=\s*[\"']?(?!module|text/javascript|application/javascript)", re.IGNORECASE)

SPEC_OF_TAGS = LanguageSpec(
    module="tree_sitter_html", query=QUERY, is_private=never_private, blocks=frozenset({"element"})
)


def read(text: str) -> ParsedDocument | None:
    """Return the structure of an HTML ``text``, inline scripts included."""
    tags = structure(text, SPEC_OF_TAGS)
    if tags is None:
        return None
    spans = [
        found.span(1)
        for found in _SCRIPT.finditer(text)
        if found.group(1).strip() and not _DATA.search(text[found.start() : found.start(1)])
    ]
    return join(tags, structure_within(text, spans, JAVASCRIPT)) if spans else tags
