"""GraphQL, line by line (no grammar has a wheel): types, inputs, interfaces, enums, fields, operations, fragments."""

from __future__ import annotations

import re
from dataclasses import replace

from devmind.parse.braces import Found, outline_braces, type_references
from devmind.types import ParsedDocument, Reference, SymbolKind, split_lines

_NOISE = re.compile(r"\"\"\".*?\"\"\"|#[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_COMMENT = re.compile(r"(?!\s*[}{])\s*\S")
_BLOCK = re.compile(
    r"(?:extend\s+)?(type|input|interface|enum|union|scalar|schema|directive|query|mutation|subscription|fragment)\b\s*@?(\w*)"
)
_FIELD = re.compile(r"(\w+)\s*(?:\([^)]*\)?)?\s*:")
_OPEN_FIELD = re.compile(r"(\w+)\s*\($")
_MEMBER = re.compile(r"([A-Za-z_]\w*)\b(?!\s*[:(])")
_TYPES = re.compile(r"[:=|&]\s*\[*\s*(?P<type>[A-Z]\w*)")
_IMPLEMENTS = re.compile(r"\s*(?:extend\s+)?(?:type|interface)\s+\w+\s+implements\s+([\w\s&,]+)")
_SCALARS = frozenset({"String", "Int", "Float", "Boolean", "ID"})
_KINDS: dict[str, SymbolKind] = {
    "type": "class",
    "input": "struct",
    "interface": "interface",
    "enum": "enum",
    "union": "union",
    "scalar": "type",
    "schema": "object",
    "directive": "macro",
    "query": "function",
    "mutation": "function",
    "subscription": "function",
    "fragment": "function",
}


def recognise(line: str, kind: str) -> Found | None:
    if not kind:
        found = _BLOCK.match(line)
        if found and (found.group(2) or found.group(1) == "schema"):
            opens = found.group(1) not in ("union", "scalar", "directive")
            return Found(found.group(2) or "schema", _KINDS[found.group(1)], opens=opens and "{" in line)
        return None
    if kind == "enum" and (found := _MEMBER.match(line)):
        return Found(found.group(1), "enum_member")
    if kind in ("class", "struct", "interface") and (found := _FIELD.match(line) or _OPEN_FIELD.match(line)):
        return Found(found.group(1), "field")
    return None


def read(text: str) -> ParsedDocument:
    parsed = outline_braces(text, recognise, noise=_NOISE, is_comment=_COMMENT, brackets="{}()")
    by_line = {symbol.start_line: index for index, symbol in enumerate(parsed.symbols)}
    implemented = tuple(
        Reference(name, "implements", number, by_line.get(number, -1))
        for number, line in enumerate(split_lines(text), start=1)
        if (found := _IMPLEMENTS.match(line))
        for name in re.findall(r"\w+", found.group(1))
    )
    used = type_references(text, _TYPES, parsed.symbols, noise=_NOISE, known=_SCALARS)
    lead = "" if parsed.lead.startswith('"') else parsed.lead
    return replace(parsed, references=implemented + used, lead=lead)
