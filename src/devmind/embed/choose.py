"""What the settings say → the embedder to use."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from devmind.embed.types import Embedder

if TYPE_CHECKING:
    from devmind.embed.remote import RemoteOptions


@lru_cache(maxsize=4)
def open_embedder(remote: RemoteOptions | None) -> Embedder:
    """Return the built-in model, or the client of a remote one; opened once a process."""
    if remote is None:
        from devmind.embed.static import built_in

        return built_in()
    from devmind.embed.remote import RemoteEmbedder

    return RemoteEmbedder(remote)
