"""The languages that have a reader: name → module, loaded when a document of that language first comes by.

A module holds ``read(text) -> ParsedDocument | None`` or else ``SPEC`` (a ``LanguageSpec``); a module that serves
several languages holds ``SPECS`` by language name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache

from devmind.parse.spec import LanguageSpec
from devmind.types import ParsedDocument

Reader = LanguageSpec | Callable[[str], ParsedDocument | None]

MODULES = {
    "bash": "bash",
    "c": "c",
    "cpp": "cpp",
    "csharp": "csharp",
    "css": "css",
    "dockerfile": "dockerfile",
    "elixir": "elixir",
    "go": "go",
    "graphql": "graphql",
    "haskell": "haskell",
    "html": "html",
    "java": "java",
    "javascript": "javascript",
    "json": "keys",
    "jsx": "javascript",
    "kotlin": "kotlin",
    "less": "css",
    "lua": "lua",
    "make": "make",
    "markdown": "markdown",
    "php": "php",
    "proto": "proto",
    "python": "python",
    "rst": "rst",
    "ruby": "ruby",
    "rust": "rust",
    "scala": "scala",
    "scss": "css",
    "shell": "bash",
    "sql": "sql",
    "swift": "swift",
    "toml": "keys",
    "tsx": "typescript",
    "typescript": "typescript",
    "vue": "vue",
    "yaml": "keys",
    "zig": "zig",
}


@cache
def reader_for(language: str) -> Reader | None:
    """Return the reader of ``language``, or None if it has none."""
    name = MODULES.get(language)
    if name is None:
        return None
    path = f"devmind.parse.languages.{name}"
    try:
        module = importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        return None
    if hasattr(module, "SPECS"):
        chosen: Reader = module.SPECS[language]
        return chosen
    reader: Reader = module.read if hasattr(module, "read") else module.SPEC
    return reader
