"""Queries that ask nearly the same, in any script: the overlap of their shingles."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

# Similarity alone cannot tell a repeated question from a template with another object in it: on two development suites
# (1,175 queries) 24 of the 25 pairs from 0.7 up were templates, and a true repetition stood at 0.61. So a pair needs
# either this much likeness, or the lower one and an answer in common.
SAME = 0.9
SAME_WITH_COMMON_TRUTH = 0.6
_N_LETTERS = 3  # of a shingle in an alphabet; a Chinese character says more, so there a shingle is two
_N_IDEOGRAPHS = 2
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_WORDS = re.compile(r"[^\W_]+")


def shingles(text: str) -> frozenset[str]:
    """Return the shingles: three letters of each word with its ends, two characters of each run of ideographs."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    found: set[str] = set()
    for run in _IDEOGRAPH.findall(folded):
        found |= _grams(run, _N_IDEOGRAPHS)
    for word in _WORDS.findall(_IDEOGRAPH.sub(" ", folded)):
        found |= _grams(f" {word} ", _N_LETTERS)
    return frozenset(found)


def _grams(text: str, n: int) -> set[str]:
    return {text[at : at + n] for at in range(max(1, len(text) - n + 1))}


def near_pairs(texts: Sequence[str], *, threshold: float) -> Iterator[tuple[int, int, float]]:
    """Yield (earlier, later, Jaccard similarity) for each pair at or above ``threshold``, in order of the later one.

    Cost: only texts that share one of their rarest shingles are compared; two sets that are similar enough must share
    one of the first ``n - ceil(threshold · n) + 1`` in any common order.

    Source: prefix filtering, Chaudhuri et al., ICDE 2006.
    """
    sets = [shingles(text) for text in texts]
    counts = Counter(shingle for one in sets for shingle in one)
    earlier_by_shingle: dict[str, list[int]] = defaultdict(list)
    for later, one in enumerate(sets):
        ordered = sorted(one, key=lambda shingle: (counts[shingle], shingle))
        prefix = ordered[: len(one) - math.ceil(threshold * len(one)) + 1]
        for earlier in sorted({earlier for shingle in prefix for earlier in earlier_by_shingle[shingle]}):
            if not threshold <= len(sets[earlier]) / len(one) <= 1 / threshold:
                continue  # so unequal in size that they cannot be that alike
            similarity = len(one & sets[earlier]) / len(one | sets[earlier])
            if similarity >= threshold:
                yield earlier, later, similarity
        for shingle in prefix:
            earlier_by_shingle[shingle].append(later)
