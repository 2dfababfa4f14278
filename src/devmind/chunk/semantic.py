"""Strategy ``semantic``: cut where the meaning of the lines before and after parts most."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from devmind.chunk.measure import Ruler
from devmind.chunk.pack import Piece, Places, pack
from devmind.chunk.rules import ChunkRules

EmbedLines = Callable[[Sequence[str]], np.ndarray]
WINDOW_LINES = 4  # non-blank lines on each side; fewer follow single lines, more blur short functions


def _cut_lines(ruler: Ruler, rules: ChunkRules, embed_lines: EmbedLines) -> list[int]:
    """Return the lines before which the cosine of the two windows is at or under the threshold percentile."""
    filled = [line for line in range(1, ruler.n + 1) if not ruler.blank(line)]
    if len(filled) < 2:
        return []
    vectors = np.asarray(embed_lines([ruler.lines[line - 1] for line in filled]), dtype=np.float64)
    sums = np.concatenate([np.zeros((1, vectors.shape[1])), np.cumsum(vectors, axis=0)])
    at = np.arange(1, len(filled))
    before = sums[at] - sums[np.maximum(at - WINDOW_LINES, 0)]
    after = sums[np.minimum(at + WINDOW_LINES, len(filled))] - sums[at]
    norms = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    cosines = np.einsum("ij,ij->i", before, after) / np.maximum(norms, 1e-12)
    threshold = np.percentile(cosines, rules.semantic_threshold)
    return [filled[i] for i in at[cosines <= threshold]]


def semantic_pieces(ruler: Ruler, rules: ChunkRules, embed_lines: EmbedLines) -> list[Piece]:
    """Return pieces between ``min_tokens`` and the budget; what stays over budget is cut by blank lines and indent."""
    places = Places({}, bytearray(ruler.n + 2))
    pieces: list[Piece] = []
    start = 1
    for line in [*_cut_lines(ruler, rules, embed_lines), ruler.n + 1]:
        if line <= ruler.n and ruler.tokens(start, line - 1) < rules.min_tokens:
            continue
        for piece in pack(ruler, places, (start, line - 1), cap=rules.budget_tokens):
            last = pieces[-1] if pieces else None
            small = ruler.tokens(piece.start, piece.end) < rules.min_tokens
            if last and small and ruler.tokens(last.start, piece.end) <= rules.budget_tokens:
                pieces[-1] = Piece(last.start, last.own, piece.end)
            else:
                pieces.append(piece)
        start = line
    return pieces
