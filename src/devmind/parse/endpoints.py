"""Names of HTTP endpoints, as servers declare them and clients call them → method and path."""

from __future__ import annotations

import re

METHODS = frozenset({"get", "post", "put", "delete", "patch", "head", "options"})
# Declares a route of any method unless it names some: Flask, aiohttp, Express, Gin, net/http, Spring.
_ANY = frozenset({"route", "api_route", "all", "any", "use", "handle", "handlefunc", "request"})
_NAMED_METHOD = re.compile(r"""(?:methods?\s*[=:]\s*[\[({]?\s*|RequestMethod\.)["'`]?([A-Za-z]+)""")
_QUOTES = re.compile(r"""^[@$A-Za-z]{0,2}(\"{3}|'{3}|["'`])(.*)\1$""", re.DOTALL)
_HOST = re.compile(r"^(?:\w+://[^/]*|\$\{[^}]*\}|\{[^}]*\})(?=/)")
MAX_PATH = 200


def unquote(literal: str) -> str:
    """Return the inside of a string literal; text that is no literal comes back unchanged."""
    found = _QUOTES.match(literal)
    return found.group(2) if found else literal


def http_method(word: str, text: str) -> str:
    """Return ``GET``… or ``ANY`` for the function or annotation ``word`` of the declaration ``text``; "" if neither."""
    lowered = word.lower()
    bare = lowered.removesuffix("mapping").removeprefix("http")  # ASP.NET: ``[HttpGet]``
    if bare in METHODS:
        return bare.upper()
    if lowered in ("fetch", "route", "websocket", "requestmapping") or lowered in _ANY:
        named = _NAMED_METHOD.search(text)
        if named and named.group(1).lower() in METHODS:
            return named.group(1).upper()
        return {"fetch": "GET", "route": "GET", "websocket": "WS"}.get(lowered, "ANY")
    return ""


def route_path(prefix: str, literal: str) -> str:
    path = unquote(literal) if literal else ""
    joined = f"{prefix.rstrip('/')}/{path.lstrip('/')}" if path or not prefix else prefix
    return (joined if joined.startswith("/") else f"/{joined}")[:MAX_PATH]


def request_path(literal: str) -> str:
    """Return the path that a client call asks for, without scheme, host and query; "" if it is no URL."""
    path = _HOST.sub("", unquote(literal).strip()).split("?", 1)[0]
    return path if path.startswith("/") and len(path) <= MAX_PATH and not any(c.isspace() for c in path) else ""
