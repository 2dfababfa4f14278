"""The name of an embedder → the embedder: the built-in model, or an OpenAI-compatible endpoint by configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from devmind.embed.types import Embedder
from devmind.evaluate.targets.config import read_config
from devmind.evaluate.targets.wire import checked_url

BUILT_IN: Final = "builtin"


@contextmanager
def open_embedder(name: str, *, secret: Callable[[str], str]) -> Iterator[Embedder]:
    """Give the embedder for the block, and let go of its connections after it.

    Args:
        name: ``builtin``, or the path of a configuration (``docs/evaluation.md``).

    Raises:
        UsageError: The configuration is wrong, or the variable of its key is not set.
    """
    if name == BUILT_IN:
        from devmind.embed.static import built_in

        yield built_in()
        return
    from devmind.embed.remote import RemoteEmbedder, RemoteOptions

    table = read_config(Path(name))
    dim = table.number("dim")
    if dim is None or dim not in range(1, 65_537):
        raise table.error("dim", dim, "must be the number of dimensions that the model returns, from 1 to 65536")
    variable = table.text("api_key_env", "")
    options = RemoteOptions(
        base_url=checked_url(table.text("base_url"), where=table.where("base_url")),
        model=table.text("model"),
        dim=int(dim),
        api_key=secret(variable) if variable else "",
        send_dim=table.flag("send_dim", default=False),
        query_prefix=table.text("query_prefix", ""),
        text_prefix=table.text("text_prefix", ""),
    )
    table.finish()
    embedder = RemoteEmbedder(options)
    try:
        yield embedder
    finally:
        embedder.close()
