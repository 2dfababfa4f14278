"""Shaped candidates → hits: the words of each chunk, and its lines as they were indexed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from devmind.index.catalog import ORDINALS
from devmind.index.view import View
from devmind.retrieve.published import Published
from devmind.retrieve.rank import Ranking
from devmind.retrieve.shape import Spot
from devmind.retrieve.words import Words, words_of
from devmind.types import Hit, stable_id


def read_hits(published: Published, view: View, ranking: Ranking, spots: Sequence[Spot]) -> list[Hit]:
    """Return a hit for each spot, in order."""
    chunks = [(view.files[spot.file].content_id, int(view.keys[spot.row]) & ORDINALS) for spot in spots]
    words = words_of(published.catalog, chunks)
    whys = ranking.whys([spot.at for spot in spots])
    scores = ranking.scores[[spot.at for spot in spots]].tolist()
    return [_hit(published, view, *of_one) for of_one in zip(spots, words, scores, whys, strict=True)]


def _hit(published: Published, view: View, spot: Spot, words: Words, score: float, why: Mapping[str, float]) -> Hit:
    file = view.files[spot.file]
    repo, generation, commit = published.active[file.repo_id]
    also = ((view.files[twin], start) for twin, start in spot.also)
    return Hit(
        rank=spot.rank,
        score=round(score, 6),
        repo=repo,
        path=file.path,
        start_line=spot.start,
        end_line=spot.end,
        language=file.language,
        symbol=words.qualified_name,
        kind=words.node_type,
        role=file.role,
        content=published.cut(file.content_id, spot.start, spot.end),
        header=words.header,
        commit=commit,
        generation=generation,
        chunk_id=stable_id(repo, file.path, int(view.start[spot.row]), int(view.end[spot.row])),
        focus=spot.focus,
        also_at=tuple(f"{published.active[twin.repo_id].name}/{twin.path}:{start}" for twin, start in also),
        why=why,
    )
