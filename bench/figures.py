"""Runs → figures with 95 % intervals, as rows of a Markdown table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bench.runs import Row, hits_of
from bench.topics import BUGS, CHAINS, COMMITS, QUESTIONS, SEMBLE, TRANSLATED, Asked, scores
from devmind.evaluate.statistics import estimate, mean
from devmind.evaluate.types import Estimate

Values = Sequence[tuple[Asked, float | None]]
FILE, SPAN, FILE_NDCG, WHOLE = "file_recall@10", "overlap_recall@10", "file_ndcg@10", "file_all@10"
NDCG: Final = "ndcg10"


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of the table.

    Attributes:
        short: head of its column in a table of ablations.
        mark: what it should reach; 0 for none.
        peers: what others reach, in words; "" where none is known.
        unnamed: only of queries that do not name their file.
    """

    name: str
    short: str
    suite: str
    measure: str
    mark: float = 0.0
    peers: str = ""
    unnamed: bool = False

    def of(self, topic: Asked) -> bool:
        return topic.suite == self.suite and not (self.unnamed and topic.named)


# What the suites' README says of peers; "BM25" is plain BM25 over chunks of 50 lines.
SEMBLE_ALL = Figure("semble suite, nDCG@10", "semble", SEMBLE, NDCG, 0.92, "semble .854, CodeRankEmbed hybrid .864")
SEMBLE_UNNAMED = Figure("… that do not name their file", "unnamed", SEMBLE, NDCG, 0.87, "semble .757", unnamed=True)
FIGURES: Final = (
    SEMBLE_ALL,
    SEMBLE_UNNAMED,
    Figure("questions, file R@10", "questions file", QUESTIONS, FILE, 0.92, "BM25 .775"),
    Figure("questions, span R@10", "questions span", QUESTIONS, SPAN, 0.65, "BM25 .387"),
    Figure("bug reports, file R@10", "bugs file", BUGS, FILE, 0.85, "BM25 .720"),
    Figure("bug reports, span R@10", "bugs span", BUGS, SPAN, 0.60, "BM25 .410"),
    Figure("Chinese translations, file R@10", "translations file", TRANSLATED, FILE, 0.85, "BM25 .326"),
    Figure("Chinese commit subjects, file R@10", "commits file", COMMITS, FILE, 0.60, "BM25 .288"),
    Figure("Chinese commit subjects, span R@10", "commits span", COMMITS, SPAN, 0.30, "BM25 .094"),
    Figure("call chains, file R@10", "chains file", CHAINS, FILE, 0.0, "BM25 .423"),
    Figure("call chains, span R@10", "chains span", CHAINS, SPAN, 0.0, "BM25 .203"),
    Figure("call chains found whole", "chains whole", CHAINS, WHOLE, 0.0, "BM25 .075"),
)


def values(figure: Figure, asked: Sequence[Asked], rows: Mapping[str, Row]) -> Values:
    """Return the measure of each topic of the figure, None where its suite has none of it."""
    return [(topic, scores(topic, hits_of(rows, topic)).get(figure.measure)) for topic in asked if figure.of(topic)]


def estimated(found: Values) -> Estimate:
    """Return the mean and its interval.

    Of the semble suite it is the mean over repositories, as their table has it; else the mean over topics. Whole
    projects are drawn, versions of one together.
    """
    if found and found[0][0].suite == SEMBLE:
        own = {repo: mean(part) for repo, part in _parts(found, lambda topic: topic.repo).items()}
        return estimate(list(own.values()), list(own))
    return estimate([value for _, value in found], [topic.project for topic, _ in found])


def difference(found: Values, base: Values) -> Estimate:
    """Return the paired difference of two runs and its interval."""
    return estimated(
        [
            (topic, None if value is None or before is None else value - before)
            for (topic, value), (_, before) in zip(found, base, strict=True)
        ]
    )


def _parts(found: Values, key: Callable[[Asked], str]) -> dict[str, list[float | None]]:
    parts: dict[str, list[float | None]] = defaultdict(list)
    for topic, value in found:
        parts[key(topic)].append(value)
    return parts


def number(value: float | None, digits: int = 3) -> str:
    """Return .873 for 0.873."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def told(value: Estimate) -> str:
    """Return a mean with its interval."""
    if value.low is None or value.high is None:
        return number(value.mean)
    return f"{number(value.mean)} ({number(value.low)}–{number(value.high)})"


def against(value: Estimate, mark: float) -> str:
    """Return a mean with its interval, bold where it reaches the mark."""
    reached = mark and value.mean is not None and value.mean >= mark
    return f"**{number(value.mean)}**{told(value).removeprefix(number(value.mean))}" if reached else told(value)


def head(*cells: str) -> None:
    row(*cells)
    row(*("---" for _ in cells))


def row(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)
