"""Query → candidates: the ways of recall (vectors, BM25, definitions of its names, and what it points at)."""

from __future__ import annotations

import time
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass

import numpy as np

from devmind.embed.types import Embedder
from devmind.index.lexical import BY_NAME_WEIGHTS, CHINESE_WEIGHTS, WEIGHTS
from devmind.index.snapshot import Floats
from devmind.index.terms import CJK
from devmind.index.view import Rows
from devmind.retrieve.corpus import Corpus
from devmind.retrieve.names import Named
from devmind.retrieve.pointed import Pointed, pointed
from devmind.retrieve.query import Query
from devmind.retrieve.trace import DENSE, LEXICAL, POINTED, SYMBOL, Leg

LEG_DEPTH = 200  # candidates a leg gives; 300 and 600 rank no better (docs/retrieval.md)
MAX_WIDENINGS = 4


@dataclass(frozen=True, slots=True)
class Recall:
    """The candidates of each leg: rows of a view, best first, and scores where ranking needs the leg's own.

    ``scanned`` is the rough cosine of every row of the view, ``whole`` BM25 of every file of it as a whole.
    """

    vector: Floats
    scanned: Floats
    near: Rows
    found: Rows
    bm25: Floats
    defined: Rows
    worth: Floats
    pointed: Pointed
    whole: Floats


def recall(query: Query, corpus: Corpus, named: Named, *, k: int, timings: MutableMapping[str, float]) -> Recall:
    """Return the candidates for ``k`` hits, with those of the names; ``timings`` is told how long each leg took."""
    mark = time.perf_counter()
    vector = _vector(query, corpus.embedder)
    scanned = corpus.view.scan(vector)
    near = corpus.view.nearest(vector, _depth(k) // 2, corpus.allowed, scanned=scanned)
    timings["dense"] = since_ms(mark)
    mark = time.perf_counter()
    found, bm25 = _by_words(query, corpus, k)
    timings["lexical"] = since_ms(mark)
    mark = time.perf_counter()
    meant = pointed(query, corpus)
    timings["pointed"] = since_ms(mark)
    mark = time.perf_counter()
    whole = _whole_files(query, corpus)
    timings["files"] = since_ms(mark)
    return Recall(vector, scanned, near, found, bm25, named.rows, named.worth, meant, whole)


def whole_legs(query: Query, corpus: Corpus, taken: Recall) -> dict[str, Leg]:
    """Return each leg over the whole view, and what of it the search took.

    Cost: linear in the number of chunks.
    """
    view = corpus.view
    bm25_rows, bm25, _ = _by_bm25(query, corpus, max(1, corpus.lexical.n_chunks))
    rows = np.arange(view.n) if corpus.allowed is None else np.flatnonzero(corpus.allowed)
    cosines = view.cosines(taken.vector, rows)
    nearest = np.lexsort((view.keys[rows], -cosines))
    best = np.lexsort((taken.defined, -taken.worth))
    surest = np.lexsort((taken.pointed.rows, -taken.pointed.worth))
    return {
        LEXICAL: Leg(bm25_rows, bm25, taken.found),
        DENSE: Leg(rows[nearest], cosines[nearest], taken.near),
        SYMBOL: Leg(taken.defined[best], taken.worth[best], taken.defined),
        POINTED: Leg(taken.pointed.rows[surest], taken.pointed.worth[surest], taken.pointed.rows),
    }


def _whole_files(query: Query, corpus: Corpus) -> Floats:
    """Return BM25 of each file as a whole; nothing for a question with Chinese.

    A Chinese word stands for several English names, and a whole file holds some of them by chance: with it the files of
    Chinese commit subjects lose .04 of nDCG@10 (docs/retrieval.md).
    """
    if CJK.search(query.text):
        return np.zeros(len(corpus.view.files), np.float32)
    return corpus.view.files_by_terms(query.weights)


def fields_of(query: Query) -> Mapping[str, float]:
    """Return what the lexical fields count for a question."""
    if CJK.search(query.text):
        return CHINESE_WEIGHTS
    return BY_NAME_WEIGHTS if query.is_long else WEIGHTS


def since_ms(mark: float) -> float:
    """Return the milliseconds since ``mark``, a time of ``time.perf_counter``."""
    return round((time.perf_counter() - mark) * 1000, 3)


def _vector(query: Query, embedder: Embedder) -> Floats:
    """Return the question's vector, at unit length; with other wordings the weighted sum of all."""
    vectors = embedder.embed_queries([query.english or query.text, *(text for text, _ in query.also)])
    vector: Floats = vectors[0]
    if query.also:
        vector = np.array([1.0, *(weight for _, weight in query.also)], np.float32) @ vectors
        vector /= max(float(np.linalg.norm(vector)), 1e-12)
    return vector


def _depth(k: int) -> int:
    return max(LEG_DEPTH, 4 * k)


def _by_words(query: Query, corpus: Corpus, k: int) -> tuple[Rows, Floats]:
    """Return the rows that BM25 finds, and their scores; it looks deeper while too few of them may be shown."""
    depth = _depth(k)
    for _ in range(MAX_WIDENINGS):
        rows, scores, n_hits = _by_bm25(query, corpus, depth)
        if len(rows) >= 4 * k or n_hits < depth:
            break
        depth *= 4
    return rows, scores


def _by_bm25(query: Query, corpus: Corpus, depth: int) -> tuple[Rows, Floats, int]:
    """Return the rows among the first ``depth`` of BM25 that may be shown, their scores, and how many it found."""
    repo_ids = corpus.repo_ids if corpus.is_part else ()
    fields = corpus.fields or fields_of(query)
    hits = corpus.lexical.search(query.weights, k=depth, repo_ids=repo_ids, fields=fields)
    rows, keep = corpus.rows_of(np.array([key for key, _ in hits], np.int64))
    return rows[keep], np.array([score for _, score in hits], np.float32)[keep], len(hits)
