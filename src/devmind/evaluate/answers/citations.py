"""What an answer cites → how much of it is right, how much of the truth it cites, how much of it exists.

``citation Precision``  cited spans that find a truth, or entail a statement of the answer / cited spans
``citation Recall``     truths that some cited span finds / truths
``citation Resolved``   cited spans that exist / cited spans; None where that cannot be told of one of them

An answer that cites nothing has no precision, and finds no truth. "Finds" is by a rule of
`devmind.evaluate.alignment`; where a rule is defined for none of the truths, nothing is said of finding them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from devmind.evaluate.alignment import cover, match_rule, normal_path
from devmind.evaluate.datasets.formats import Texts, lines_of
from devmind.evaluate.datasets.sources import UnavailableCode
from devmind.evaluate.types import Response, Retrieved, Span, Topic
from devmind.types import split_lines

PRECISION: Final = "citation Precision"
RECALL: Final = "citation Recall"
RESOLVED: Final = "citation Resolved"


@dataclass(frozen=True, slots=True)
class Cited:
    """One cited span. ``exists`` and ``text`` are None where neither the hits nor the code at hand tell."""

    span: Span
    exists: bool | None = None
    text: str | None = None


def read_cited(topic: Topic, response: Response, texts: Texts | None) -> tuple[Cited, ...]:
    """Return each cited span once, with its lines: from the code, else from a hit that holds them."""
    return tuple(_read(span, topic, response, texts) for span in dict.fromkeys(response.cited))


def citation_measures(
    topic: Topic, cited: Sequence[Cited], *, supporting: Collection[int] | None = None, match: str = "overlap"
) -> dict[str, float | None]:
    """Return the measures by name.

    Args:
        supporting: The numbers of the spans in ``cited`` that entail a statement; None if that was not measured.
        match: A rule of `devmind.evaluate.alignment`.
    """
    found = cover([item.span for item in cited], topic.truths, match_rule(match))
    n_right = sum(finds or number in (supporting or ()) for number, finds in enumerate(found.matched))
    told = bool(cited) and (bool(found.truths) or supporting is not None)
    known = [item.exists for item in cited if item.exists is not None]
    whole = bool(cited) and len(known) == len(cited)
    return {
        PRECISION: n_right / len(cited) if told else None,
        RECALL: sum(map(len, found.new)) / len(found.truths) if found.truths else None,
        RESOLVED: sum(known) / len(known) if whole else None,
    }


def _read(span: Span, topic: Topic, response: Response, texts: Texts | None) -> Cited:
    if texts is not None:
        try:
            text = texts(topic.repo, topic.commit, span.file)
        except UnavailableCode:
            pass
        else:
            exists = text is not None and (span.whole_file or _inside(span, text))
            return Cited(span, exists, lines_of(text, span) if exists and text is not None else None)
    for hit in response.hits:
        lines = _lines_in(hit, span)
        if lines is not None:
            return Cited(span, True, lines)
    return Cited(span)


def _inside(span: Span, text: str) -> bool:
    return 1 <= span.start_line <= span.end_line <= len(split_lines(text))


def _lines_in(hit: Retrieved, span: Span) -> str | None:
    """Return the lines of ``span`` if the hit shows them."""
    held = hit.span
    if held is None or not hit.text or normal_path(held.file) != normal_path(span.file):
        return None
    if held == span:
        return hit.text
    if held.whole_file or span.whole_file or not held.start_line <= span.start_line <= span.end_line <= held.end_line:
        return None
    lines = split_lines(hit.text)
    return "\n".join(lines[span.start_line - held.start_line : span.end_line - held.start_line + 1])
