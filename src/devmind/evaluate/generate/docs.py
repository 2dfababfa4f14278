"""Documented definitions → questions made of the comment's first sentence; and the same files without these comments.

Found with its comment in place, such a question measures nothing but that the same words stand on both sides. So each
topic says which lines must be blank (provenance ``hide``), and `write_hidden` writes the files to index instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from devmind.errors import UsageError
from devmind.evaluate.generate.corpus import CLASS_KINDS, FUNCTION_KINDS, Corpus, File, Unit
from devmind.evaluate.generate.sentences import first_sentence, is_chinese, question_of
from devmind.evaluate.generate.topics import Lang, make_topic, rng_of, shuffled, spread, truth_of
from devmind.evaluate.types import Topic
from devmind.parse.comments import strip_marks
from devmind.types import Symbol

HIDE: Final = "hide"  # provenance: ``path:first-last`` of the comment that must be blank when the topic is asked
_MIN_BODY_LINES: Final = 2  # beside the comment: of less, nothing is left to be found
_MIN_WORDS, _MAX_WORDS = 5, 30
_MIN_IDEOGRAPHS: Final = 6


@dataclass(frozen=True, slots=True)
class Documented:
    unit: Unit
    sentence: str
    comment: tuple[int, int]


def docs_topics(corpus: Corpus, *, n: int, seed: int, langs: Sequence[Lang]) -> list[Topic]:
    """Return up to ``n`` topics. The language is the comment's: a sentence is not translated here."""
    ordered = shuffled(_documented(corpus, langs), lambda found: found.unit.key, seed=seed)
    chosen = spread(ordered, 2 * n, lambda found: found.unit.file.path)  # some give their symbol away
    topics = (_topic(corpus, found, seed) for found in chosen)
    return [topic for topic in topics if topic.labels["leak"] != "symbol"][:n]


def _documented(corpus: Corpus, langs: Sequence[Lang]) -> Iterator[Documented]:
    everything = "\0".join(" ".join(strip_marks(file.text).split()) for file in corpus.files)
    for unit in corpus.units(role="source"):
        symbol = unit.symbol
        if symbol.kind not in FUNCTION_KINDS | CLASS_KINDS or not symbol.docstring:
            continue
        sentence = first_sentence(symbol.docstring)
        if not _askable(sentence) or _lang(sentence) not in langs:
            continue
        comment = comment_lines(unit.file, symbol)
        length = symbol.end_line - symbol.start_line + 1
        if comment is None or length - _inside(symbol, comment) < _MIN_BODY_LINES:
            continue
        if everything.count(_start_of(symbol.docstring)) == 1:  # said twice, it would stand elsewhere still
            yield Documented(unit, sentence, comment)


def _start_of(docstring: str) -> str:
    """Return the first line as it stands in the file: what a copy of the comment would share."""
    return " ".join(docstring.split("\n", 1)[0].split())


def _lang(sentence: str) -> Lang:
    return "zh" if is_chinese(sentence) else "en"


def _askable(sentence: str) -> bool:
    if is_chinese(sentence):
        return len(re.findall(r"[\u4e00-\u9fff]", sentence)) >= _MIN_IDEOGRAPHS
    return _MIN_WORDS <= len(sentence.split()) <= _MAX_WORDS


def _inside(symbol: Symbol, comment: tuple[int, int]) -> int:
    return comment[1] - comment[0] + 1 if comment[0] > symbol.start_line else 0


def _topic(corpus: Corpus, found: Documented, seed: int) -> Topic:
    unit = found.unit
    lang = _lang(found.sentence)
    query, template = question_of(found.sentence, unit.symbol.kind, lang, rng_of(seed, unit.key))
    first, last = found.comment
    return make_topic(
        corpus,
        "docs",
        unit.key,
        query=query,
        category="API location",
        lang=lang,
        seed=seed,
        truths=[truth_of(unit)],
        language=unit.file.language,
        labels={"kind": unit.symbol.kind},
        provenance={
            "symbol": unit.symbol.qualified_name,
            "sentence": found.sentence,
            "template": template,
            HIDE: f"{unit.file.path}:{first}-{last}",
        },
    )


def comment_lines(file: File, symbol: Symbol) -> tuple[int, int] | None:
    """Return first and last line of the symbol's comment, before it or in its body; None if it is not found whole."""
    if symbol.doc_line < symbol.start_line:
        return symbol.doc_line, symbol.start_line - 1
    wanted = [line.strip() for line in symbol.docstring.split("\n")]
    last_start = symbol.end_line - len(wanted) + 1
    for first in range(symbol.start_line, last_start + 1):
        lines = file.lines[first - 1 : first - 1 + len(wanted)]
        if all(want in line for want, line in zip(wanted, lines, strict=True)):
            return first, first + len(wanted) - 1
    return None


def blanked(file: File, symbols: Sequence[Symbol]) -> str:
    """Return the file's text without the comments of ``symbols``; every other character keeps its line.

    A comment in a body loses its words and keeps its quotes, so that the file still parses.
    """
    lines = list(file.lines)
    for symbol in symbols:
        comment = comment_lines(file, symbol)
        if comment is None:
            continue
        if symbol.doc_line < symbol.start_line:
            lines[comment[0] - 1 : comment[1]] = [""] * (comment[1] - comment[0] + 1)
            continue
        for at, want in enumerate(symbol.docstring.split("\n"), start=comment[0] - 1):
            lines[at] = lines[at].replace(want.strip(), "", 1).rstrip()
    return "\n".join(lines) + ("\n" if file.text.endswith("\n") else "")


def write_hidden(topics: Sequence[Topic], corpus: Corpus, out: Path) -> int:
    """Write the repository's indexed files below ``out``, without the comments that ``topics`` are made of.

    Returns:
        How many comments were blanked.

    Raises:
        UsageError: ``out`` holds something, cannot be written, or a topic names a comment that is not there.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} exists and is no empty folder: name another, so that nothing is written over")
    hidden = _hidden_symbols(topics, corpus)
    try:
        for file in corpus.files:
            target = out / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            text = blanked(file, hidden.get(file.path, ()))
            target.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
    except OSError as error:
        raise UsageError(f"cannot write {error.filename or out}: {error.strerror}") from error
    return sum(map(len, hidden.values()))


def _hidden_symbols(topics: Sequence[Topic], corpus: Corpus) -> Mapping[str, list[Symbol]]:
    files = {file.path: file for file in corpus.files}
    hidden: dict[str, list[Symbol]] = {}
    for topic in topics:
        place = topic.provenance.get(HIDE, "")
        if not place:
            continue
        path, _, lines = place.rpartition(":")
        first, last = map(int, lines.split("-"))
        file = files.get(path)
        symbol = next((s for s in file.symbols if comment_lines(file, s) == (first, last)), None) if file else None
        if symbol is None:
            raise UsageError(
                f"topic {topic.topic_id!r}: {place} holds no comment in '{corpus.name}' as it is indexed now; "
                "make the questions again",
                code="stale_topic",
            )
        hidden.setdefault(path, []).append(symbol)
    return hidden
