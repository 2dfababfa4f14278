"""Strategy ``fixed``: windows of one size with overlap, blind to structure. The baseline that others must beat."""

from __future__ import annotations

from collections.abc import Sequence

from devmind.chunk.measure import Ruler
from devmind.chunk.pack import Piece, Places, pack
from devmind.chunk.rules import ChunkRules
from devmind.types import Chunk, ParsedDocument


def fixed_pieces(ruler: Ruler, rules: ChunkRules) -> list[Piece]:
    """Return windows of at most ``fixed_tokens``, each repeating the end of the one before."""
    size = min(rules.fixed_tokens, rules.budget_tokens)
    places = Places({}, bytearray(ruler.n + 2))
    return pack(ruler, places, (1, ruler.n), cap=size, overlap=rules.overlap_tokens, even=False)


def bare_chunks(ruler: Ruler, parsed: ParsedDocument, pieces: Sequence[Piece], rules: ChunkRules) -> tuple[Chunk, ...]:
    """Return chunks without headers; a symbol belongs to the piece that first shows its first line."""
    by_start = sorted(range(len(parsed.symbols)), key=lambda i: (parsed.symbols[i].start_line, i))
    chunks: list[Chunk] = []
    at = 0
    for piece in pieces:
        inside: list[int] = []
        while at < len(by_start) and parsed.symbols[by_start[at]].start_line <= piece.end:
            if parsed.symbols[by_start[at]].start_line >= piece.own:
                inside.append(by_start[at])
            at += 1
        size = ruler.tokens(piece.start, piece.end)
        chunks.append(
            Chunk(
                start_line=piece.start,
                end_line=piece.end,
                content=ruler.content(piece.start, piece.end),
                header="",
                n_tokens=size,
                symbols=tuple(inside),
                node_type="long_line" if size > rules.budget_tokens else "module",
            )
        )
    return tuple(chunks)
