"""The optional second stage: candidates in order of rank → the same with the first of them reordered by a model.

A stage that fails changes nothing but a warning: hits in the first stage's order are better than none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from devmind.errors import DevMindError
from devmind.index.catalog import ORDINALS
from devmind.index.snapshot import Floats
from devmind.index.view import Rows, View
from devmind.models.rerank import Reranker
from devmind.retrieve.features import standardise
from devmind.retrieve.published import Published
from devmind.retrieve.rank import RERANKED, Ranking
from devmind.retrieve.words import words_of

# Five times the ten hits that are mostly shown: deep enough to lift what the first stage placed badly. Not measured, as
# no hosted reranker was asked.
TOP: Final = 50
# Chosen by reasoning: the model reads question and code together, which the first stage does not, and knows nothing of
# paths, roles and definitions, which the first stage does. A general sentence model in its place neither helps nor
# harms at .25 and .5, and costs .15 of nDCG@10 at 1 (docs/retrieval.md); a cross-encoder was not measured.
WEIGHT: Final = 0.5


@dataclass(frozen=True, slots=True)
class SecondStage:
    """``reranker`` reads the first ``top`` candidates; its say counts ``weight`` (0..1), the first stage's the rest."""

    reranker: Reranker
    top: int = TOP
    weight: float = WEIGHT

    @property
    def name(self) -> str:
        return f"{self.reranker.name} top {self.top} weight {self.weight:g}"


@dataclass(frozen=True, slots=True)
class Staged:
    """A ranking after the second stage. ``warnings`` say why it is that of the first."""

    ranking: Ranking
    warnings: tuple[str, ...] = ()
    n_calls: int = 0
    n_tokens: int = 0


def staged(stage: SecondStage, published: Published, view: View, *, text: str, ranking: Ranking) -> Staged:
    """Return the ranking with its first candidates reordered by the stage's model, asked with the question as it is."""
    texts = documents(published, view, ranking.rows[: stage.top])
    asked = list(dict.fromkeys(texts))  # the same text at other paths is read once
    if len(asked) < 2:
        return Staged(ranking)
    try:
        said = stage.reranker.relevance(text, asked)
    except DevMindError as error:
        return Staged(ranking, (f"hits have the order of the first stage, because the reranker failed: {error}",), 1)
    by_text = dict(zip(asked, said.scores, strict=True))
    second = np.array([by_text[one] for one in texts], np.float32)
    return Staged(fused(ranking, second, weight=stage.weight), n_calls=1, n_tokens=said.n_tokens)


def documents(published: Published, view: View, rows: Rows) -> list[str]:
    """Return header and lines of each row, as they were indexed: secrets are masked."""
    contents = [view.files[file].content_id for file in view.file[rows].tolist()]
    ordinals = [int(key) & ORDINALS for key in view.keys[rows]]
    words = words_of(published.catalog, zip(contents, ordinals, strict=True))
    spans = zip(view.start[rows].tolist(), view.end[rows].tolist(), strict=True)
    return [
        "\n".join(filter(None, [told.header, *published.lines_of(content)[start - 1 : end]]))
        for content, told, (start, end) in zip(contents, words, spans, strict=True)
    ]


def fused(ranking: Ranking, second: Floats, *, weight: float) -> Ranking:
    """Return the ranking by the weighted mean of both stages' scores, standardised over the first ``len(second)``.

    The mean is brought back to the first stage's scale, so that candidates which the model did not read keep their
    score, and it stays comparable.
    """
    n = len(second)
    first = ranking.scores[:n]
    mean = weight * standardise(second) + (1 - weight) * standardise(first)
    gain = np.zeros_like(ranking.scores)
    gain[:n] = first.mean() + (float(first.std()) or 1.0) * mean - first
    said = np.zeros_like(ranking.scores)
    said[:n] = second
    scores = ranking.scores + gain
    order = np.argsort(-scores, kind="stable")
    features = {**ranking.features, "reranker": said, RERANKED: gain}
    return replace(
        ranking,
        rows=ranking.rows[order],
        scores=scores[order],
        features={name: values[order] for name, values in features.items()},
    )
