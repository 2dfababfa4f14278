"""Structure to chunks: fixed windows, meaning, syntax, or layered (the default)."""

from devmind.chunk.document import chunk_document
from devmind.chunk.rules import ChunkRules

__all__ = ["ChunkRules", "chunk_document"]
