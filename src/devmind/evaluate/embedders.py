"""The name of an embedder → the embedder: the built-in model, or another one by a configuration file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from devmind.embed import choose
from devmind.embed.types import Embedder
from devmind.errors import UsageError
from devmind.evaluate.targets.config import Table, read_config
from devmind.model_tables import KINDS, MAX_DIM, REMOTE, table_problem, with_places
from devmind.models.wire import checked_url
from devmind.service.embedder import options_of
from devmind.settings import secret

BUILT_IN = "builtin"


def open_embedder(spec: str, *, secret: Callable[[str], str] = secret) -> Embedder:
    """Return the embedder that ``spec`` names.

    Args:
        spec: ``builtin``, or the path of a TOML or JSON file with the keys of a table ``[embedder]`` (`model_tables`);
            a path in it starts at the file's folder.

    Raises:
        UsageError: there is no such embedder, its configuration is wrong, or what it names is missing.
    """
    if spec == BUILT_IN:
        from devmind.embed.static import built_in

        return built_in()
    path = Path(spec)
    if path.suffix not in (".toml", ".json"):
        raise UsageError(
            f"unknown embedder {spec!r}: use {BUILT_IN}, or a configuration file *.toml or *.json", code="bad_config"
        )
    table = read_config(path)
    kind = table.text("kind", REMOTE, one_of=tuple(KINDS["embedder"]))
    return _remote(table, secret) if kind == REMOTE else _local(table.rest(), kind, path)


@contextmanager
def opened(specs: Sequence[str]) -> Iterator[Mapping[str, Embedder]]:
    """Give the embedders by the names that `open_embedder` knows; their connections end with the block."""
    with ExitStack() as stack:
        found = {}
        for spec in specs:
            found[spec] = open_embedder(spec)
            close = getattr(found[spec], "close", None)
            if close is not None:
                stack.callback(close)
        yield found


def _local(values: dict[str, Any], kind: str, file: Path) -> Embedder:
    table = {"kind": kind, **values}
    problem = table_problem("embedder", table)
    if problem:
        raise UsageError(f"{file}: {problem}", code="bad_config")
    return choose.open_embedder(options_of(with_places(table, file.parent)))


def _remote(table: Table, secret: Callable[[str], str]) -> Embedder:
    from devmind.embed.remote import RemoteEmbedder, RemoteOptions

    dim = table.number("dim", None)
    if dim is None or dim not in range(1, MAX_DIM + 1):
        raise table.error("dim", dim, f"must be the number of dimensions that the model returns, from 1 to {MAX_DIM}")
    key = table.text("api_key_env", "")
    options = RemoteOptions(
        base_url=checked_url(table.text("base_url"), where=table.where("base_url")),
        model=table.text("model"),
        dim=int(dim),
        batch=_whole(table, "batch", 64),
        timeout_s=_positive(table, "timeout_s", 60.0),
        send_dim=table.flag("send_dim", default=False),
        query_prefix=table.text("query_prefix", ""),
        text_prefix=table.text("text_prefix", ""),
        api_key=secret(key) if key else "",
    )
    table.finish()
    return RemoteEmbedder(options)


def _positive(table: Table, key: str, default: float) -> float:
    value = table.number(key, default)
    if value is None or not 0 < value < float("inf"):
        raise table.error(key, value, "must be a number above 0")
    return value


def _whole(table: Table, key: str, default: int) -> int:
    value = _positive(table, key, default)
    if value != int(value):
        raise table.error(key, value, "must be a whole number")
    return int(value)
