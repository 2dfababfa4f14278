"""Settings → how to reach the embedder that they name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from devmind.model_tables import REMOTE
from devmind.settings import Settings, secret

if TYPE_CHECKING:
    from devmind.embed.choose import EmbedderOptions


def embedder_options(settings: Settings) -> EmbedderOptions | None:
    """Return what the settings say of the embedder; None for the built-in one.

    Raises:
        UsageError: the environment variable that should hold its key does not.
    """
    return options_of(settings.embedder) if settings.embedder else None


def options_of(table: Mapping[str, Any], *, secret: Callable[[str], str] = secret) -> EmbedderOptions:
    """Return the options that a table ``[embedder]`` without faults describes; raises as `embedder_options`."""
    values = dict(table)
    kind = values.pop("kind", REMOTE)
    if kind == "onnx":
        from devmind.embed.onnx import OnnxOptions

        return OnnxOptions(**values)
    if kind == "sentence-transformers":
        from devmind.embed.sentence_transformers import SentenceTransformerOptions

        return SentenceTransformerOptions(**values)
    from devmind.embed.remote import RemoteOptions

    variable = values.pop("api_key_env", "")
    return RemoteOptions(**values, api_key=secret(variable) if variable else "")
