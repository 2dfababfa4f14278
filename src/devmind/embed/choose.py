"""What the settings say → the embedder to use."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from devmind.embed.types import Embedder

if TYPE_CHECKING:
    from devmind.embed.onnx import OnnxOptions
    from devmind.embed.remote import RemoteOptions
    from devmind.embed.sentence_transformers import SentenceTransformerOptions

    EmbedderOptions = RemoteOptions | OnnxOptions | SentenceTransformerOptions


@lru_cache(maxsize=4)
def open_embedder(options: EmbedderOptions | None) -> Embedder:
    """Return the built-in model, or another one that the options describe; opened once a process.

    Raises:
        UsageError: a package or a file is missing, or the model is none that embeds.
    """
    if options is None:
        from devmind.embed.static import built_in

        return built_in()
    from devmind.embed.remote import RemoteEmbedder, RemoteOptions

    if isinstance(options, RemoteOptions):
        return RemoteEmbedder(options)
    from devmind.embed.onnx import OnnxEmbedder, OnnxOptions

    if isinstance(options, OnnxOptions):
        return OnnxEmbedder(options)
    from devmind.embed.sentence_transformers import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(options)
