"""A question and its other wordings × the index → one query, with the definitions of its names.

`query.understand` knows the text and how frequent terms are; here the index adds its own words: agent nouns of verbs,
abbreviations, and the names that it holds in place of misspelt ones. Names are looked up here and not with the legs,
because what they turn out to mean joins the query that the legs answer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, replace
from functools import cache, partial

from devmind.index.lexical import idf
from devmind.retrieve.abbreviations import other_forms
from devmind.retrieve.agent_nouns import agent_nouns
from devmind.retrieve.corpus import Corpus
from devmind.retrieve.legs import since_ms
from devmind.retrieve.names import Named, corrected, defined_by
from devmind.retrieve.query import Query
from devmind.retrieve.rewrites import Rewrites, widened
from devmind.retrieve.steps import Understand


@dataclass(frozen=True, slots=True)
class Understood:
    """A query, what the names in it define, and the idf of its terms."""

    query: Query
    named: Named
    idf: Mapping[str, float]


def understood(
    text: str, rewrites: Rewrites, corpus: Corpus, *, read: Understand, timings: MutableMapping[str, float]
) -> Understood:
    """Return what is searched for a question.

    Args:
        read: makes a query of one wording.
        timings: is told how long it took, and how long the look-up of names.
    """
    mark = time.perf_counter()
    lexical = corpus.lexical
    n_chunks, df = lexical.n_chunks, cache(lexical.df)  # of the same few terms, asked for many times
    one = partial(read, df=df, n_chunks=n_chunks)
    query = widened(one(text), [one(other) for other in rewrites.texts], weight=rewrites.weight)
    query = replace(query, weights=query.weights | agent_nouns(query.weights, df) | other_forms(query.weights, lexical))
    timings["understand"] = since_ms(mark)
    mark = time.perf_counter()
    named = defined_by(query, corpus)
    query = corrected(query, named.meant)
    timings["symbol"] = since_ms(mark)
    return Understood(query, named, {term: idf(df(term), n_chunks) for term in query.weights})
