"""The tables of a configuration that name models: which keys they know, and what is wrong with one.

Knows forms, not models: whether a model is there is found when it is opened.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Final

MAX_DIM: Final = 65_536  # of a vector; what lies above is a number in the wrong field
MAX_TOKENS: Final = 1_000_000
MAX_CANDIDATES: Final = 200  # as many as a leg gives
MAX_REWRITES: Final = 8
MAX_SECONDS: Final = 3_600.0


@dataclass(frozen=True, slots=True)
class _Key:
    """What a value must be; the bounds are those of a number, both allowed."""

    type: type
    least: float = -inf
    most: float = inf
    one_of: tuple[str, ...] = ()


_Keys = Mapping[str, _Key]
_TEXT, _FLAG, _TABLE = _Key(str), _Key(bool), _Key(dict)
_SECONDS = _Key(float, 0.01, MAX_SECONDS)
_PREFIXES: _Keys = {"query_prefix": _TEXT, "text_prefix": _TEXT}
_THREADS: _Keys = {"n_threads": _Key(int, 0, 1024), "max_tokens": _Key(int, 16, MAX_TOKENS)}
_ENDPOINT: _Keys = {"base_url": _TEXT, "model": _TEXT, "api_key_env": _TEXT, "timeout_s": _SECONDS}
_DIM: _Keys = {"dim": _Key(int, 1, MAX_DIM)}
_FUSED: _Keys = {"top": _Key(int, 2, MAX_CANDIDATES), "weight": _Key(float, 0, 1)}

REMOTE: Final = "remote"  # the kind of a table that names none
KINDS: Final[Mapping[str, Mapping[str, _Keys]]] = {
    "embedder": {
        REMOTE: {
            **_ENDPOINT, **_DIM, "batch": _Key(int, 1), "n_retries": _Key(int, 0), "send_dim": _FLAG, **_PREFIXES,
        },
        "onnx": {
            "path": _TEXT, "pooling": _Key(str, one_of=("mean", "cls", "last", "model")), **_DIM, **_THREADS,
            **_PREFIXES,
        },
        "sentence-transformers": {
            "model": _TEXT, "revision": _TEXT, **_DIM, "max_tokens": _Key(int, 16, MAX_TOKENS), "batch": _Key(int, 1),
            "device": _TEXT, "trust_remote_code": _FLAG, **_PREFIXES,
        },
    },
    "reranker": {
        REMOTE: {
            **_ENDPOINT, "form": _Key(str, one_of=("documents", "texts")), "max_chars": _Key(int, 100, 1_000_000),
            "body": _TABLE, **_FUSED,
        },
        "onnx": {"path": _TEXT, **_THREADS, **_FUSED},
    },
    "expansion": {
        REMOTE: {**_ENDPOINT, "n": _Key(int, 1, MAX_REWRITES), "weight": _Key(float, 0, 1), "body": _TABLE},
    },
}  # fmt: skip
_NEEDS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("embedder", REMOTE): ("base_url", "model", "dim"),
    ("embedder", "onnx"): ("path",),
    ("embedder", "sentence-transformers"): ("model",),
    ("reranker", REMOTE): ("base_url",),
    ("reranker", "onnx"): ("path",),
    ("expansion", REMOTE): ("base_url", "model"),
}


def table_problem(name: str, table: Any) -> str:
    """Return what is wrong with the table ``name``; empty if nothing is."""
    if not isinstance(table, dict):
        kinds = " or ".join(repr(kind) for kind in KINDS[name])
        return f"must be a table [{name}], of kind {kinds}; leave it out to go without"
    kind = table.get("kind", REMOTE)
    if not isinstance(kind, str) or kind not in KINDS[name]:
        return f"kind must be one of {', '.join(KINDS[name])}"
    keys = KINDS[name][kind]
    for key, value in table.items():
        if key == "kind":
            continue
        if key not in keys:
            return f"unknown key {key!r}; known keys: kind, {', '.join(keys)}{_told(name, key)}"
        problem = _value_problem(keys[key], value)
        if problem:
            return f"{key} {problem}, not {value!r}"
    missing = [key for key in _NEEDS[name, kind] if not table.get(key)]
    return f"needs {' and '.join(missing)}" if missing else ""


def _told(name: str, key: str) -> str:
    """Return which kinds of the table do know the key, or where it belongs if it is a secret."""
    if key in ("api_key", "key", "token", "secret"):
        return "; put the key into an environment variable and name that in api_key_env"
    kinds = [kind for kind, keys in KINDS[name].items() if key in keys]
    return f" ({key} belongs to kind {' and '.join(kinds)})" if kinds else ""


def _value_problem(key: _Key, value: Any) -> str:
    wanted = (int, float) if key.type is float else key.type
    if not isinstance(value, wanted) or isinstance(value, bool) != (key.type is bool):
        return f"must be of type {key.type.__name__}"
    if key.one_of and value not in key.one_of:
        return f"must be one of {', '.join(key.one_of)}"
    if isinstance(value, dict):
        return "" if is_json(value) else "must hold what JSON can: no date or time, NaN or infinity"
    if isinstance(value, (int, float)) and not key.least <= value <= key.most:
        return f"must be at least {key.least:g}" if value < key.least else f"must be at most {key.most:g}"
    return ""


def is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def with_places(table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the table with its paths made absolute: one that is relative starts at ``folder``, the file's own."""
    found = dict(table)
    if "path" in found:
        found["path"] = str((folder / expanded(found["path"])).absolute())
    model = found.get("model", "")
    if found.get("kind") == "sentence-transformers" and model.startswith((".", "/", "~")):
        found["model"] = str((folder / expanded(model)).absolute())
    return found


def expanded(path: str) -> Path:
    """Return a path as it was written, with the home folder for ``~``; a user that there is none of is a name."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)
