"""Values → JSON-ready objects: the shapes that the command line, the HTTP API and MCP share."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from typing import Any

from devmind.types import Hit

UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def safe(text: str) -> str:
    """Return ``text`` with control and direction characters written as escapes."""
    return UNSAFE.sub(lambda match: f"\\x{ord(match[0]):02x}" if match[0] < "\x7f" else f"\\u{ord(match[0]):04x}", text)


def to_json(value: Any) -> Any:
    """Return ``value`` as dicts, lists and scalars. A hit's header stays inside: it is indexed, never shown."""
    if is_dataclass(value) and not isinstance(value, type):
        hidden = {"header"} if isinstance(value, Hit) else set()
        return {item.name: to_json(getattr(value, item.name)) for item in fields(value) if item.name not in hidden}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(item) for item in value]
    return str(value) if isinstance(value, PurePath) else value


def batch_hit(hit: Hit) -> dict[str, Any]:
    """Return a hit of a batch run: the same shape, and ``file`` for evaluation tools that look for it."""
    return {"file": hit.path, **to_json(hit)}


def dumps(value: Any) -> str:
    """Return one line of JSON, Chinese text as it is."""
    return json.dumps(to_json(value), ensure_ascii=False)
