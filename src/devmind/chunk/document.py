"""One document and its structure in, its chunks out, by the strategy that the rules name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from devmind.chunk.layered import Layered
from devmind.chunk.measure import HeaderCosts, Ruler
from devmind.chunk.rules import ChunkRules
from devmind.chunk.windows import bare_chunks, fixed_pieces
from devmind.errors import UsageError
from devmind.types import Chunk, Document, ParsedDocument, split_lines

if TYPE_CHECKING:
    import numpy as np


def chunk_document(
    document: Document,
    parsed: ParsedDocument,
    rules: ChunkRules,
    *,
    count_tokens_by_line: Callable[[Sequence[str]], list[int]],
    embed_lines: Callable[[Sequence[str]], np.ndarray] | None = None,
) -> tuple[Chunk, ...]:
    """Return the chunks of ``document``, ordered by start line.

    Every non-blank line is in some chunk. Header and content of a chunk stay within the budget, but for a single line
    that is larger by itself. Under ``layered`` and ``syntax`` no definition that fits the budget is cut.

    Args:
        count_tokens_by_line: token counts that add up over lines; called once for the text, then for header lines.
        embed_lines: lines to ``(n_lines, dim)``; needed by ``semantic`` alone.

    Raises:
        UsageError: ``semantic`` without ``embed_lines``.
    """
    lines = split_lines(document.text)
    if not lines:
        return ()
    ruler = Ruler(lines, count_tokens_by_line(lines))
    if rules.strategy == "fixed":
        return bare_chunks(ruler, parsed, fixed_pieces(ruler, rules), rules)
    if rules.strategy == "semantic":
        if embed_lines is None:
            raise UsageError(
                "chunking strategy 'semantic' needs an embedding model: configure one or choose 'layered'",
                code="no_embedder",
            )
        # numpy is loaded only for the one strategy that needs it
        from devmind.chunk.semantic import semantic_pieces

        return bare_chunks(ruler, parsed, semantic_pieces(ruler, rules, embed_lines), rules)
    return Layered(parsed, ruler, HeaderCosts(count_tokens_by_line), rules).chunks()
