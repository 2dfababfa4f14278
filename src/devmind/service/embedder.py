"""Settings → how to reach the embedder that they name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devmind.settings import Settings, secret

if TYPE_CHECKING:
    from devmind.embed.remote import RemoteOptions


def remote_options(settings: Settings) -> RemoteOptions | None:
    """Return how to reach the embedder that the settings name; None for the built-in one.

    Raises:
        UsageError: the environment variable that should hold its key does not.
    """
    if not settings.embedder:
        return None
    from devmind.embed.remote import RemoteOptions

    table = dict(settings.embedder)
    variable = table.pop("api_key_env", "")
    return RemoteOptions(**table, api_key=secret(variable) if variable else "")
