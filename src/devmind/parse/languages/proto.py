"""Protocol buffers, line by line (no grammar has a wheel): messages, enums, services, calls, fields, imports."""

from __future__ import annotations

import re
from dataclasses import replace

from devmind.parse.braces import Found, outline_braces, type_references
from devmind.types import ParsedDocument, Reference, split_lines

_NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_COMMENT = re.compile(r"\s*(?://|/\*|\*)")
_BLOCK = re.compile(r"(message|enum|service|extend|oneof)\s+([\w.]+)")
_RPC = re.compile(r"rpc\s+(\w+)\s*\(")
_FIELD = re.compile(r"(?:(?:optional|required|repeated)\s+)?(?:map\s*<[^>]*>|[\w.]+)\s+(\w+)\s*=\s*\d+")
_MEMBER = re.compile(r"(\w+)\s*=\s*-?(?:0[xX])?\w+")
_IMPORT = re.compile(r"\s*import\s+(?:public\s+|weak\s+)?\"([^\"]+)\"")
_TYPES = re.compile(
    r"^\s*(?:(?:optional|required|repeated)\s+)?(?P<type>[\w.]*[A-Z]\w*)\s+\w+\s*=|"
    r"map\s*<\s*\w+\s*,\s*(?P<value>[\w.]*[A-Z]\w*)|[(]\s*(?:stream\s+)?(?P<message>[\w.]*[A-Z]\w*)\s*[)]"
)


def recognise(line: str, kind: str) -> Found | None:
    if found := _BLOCK.match(line):
        word, name = found.groups()
        if word in ("extend", "oneof"):
            return Found(name, "object", opens=True)
        return Found(name, "message" if word == "message" else "enum" if word == "enum" else "service", opens=True)
    if found := _RPC.match(line):
        return Found(found.group(1), "rpc", opens=True)
    if kind == "enum" and not line.startswith(("option ", "reserved ")) and (found := _MEMBER.match(line)):
        return Found(found.group(1), "enum_member")
    if kind in ("message", "object") and not line.startswith("option ") and (found := _FIELD.match(line)):
        return Found(found.group(1), "field")
    return None


def read(text: str) -> ParsedDocument:
    parsed = outline_braces(text, recognise, noise=_NOISE, is_comment=_COMMENT)
    imports = tuple(
        Reference(found.group(1).rpartition("/")[2], "imports", number, -1, found.group(1))
        for number, line in enumerate(split_lines(text), start=1)
        if (found := _IMPORT.match(line))
    )
    return replace(parsed, references=imports + type_references(text, _TYPES, parsed.symbols, noise=_NOISE))
