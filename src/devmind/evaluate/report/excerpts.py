"""A hit → the few lines of its code that are worth showing: those of a truth if it has any, else its first ones."""

from __future__ import annotations

from collections.abc import Callable

from devmind.errors import UsageError
from devmind.evaluate.alignment import normal_path
from devmind.evaluate.datasets.sources import Sources
from devmind.evaluate.report.record import Excerpt
from devmind.evaluate.types import Retrieved, Topic
from devmind.types import split_lines

_BEFORE = 2  # lines shown before the first one that answers
_LINE_CHARS = 160  # a longer line is cut: minified code is one line


def excerpts(code: Sources | None, *, n_lines: int) -> Excerpt:
    """Return the function that cuts excerpts of at most ``n_lines`` lines.

    Args:
        code: where the lines of a hit that carries no text are read.
    """

    def excerpt(topic: Topic, hit: Retrieved) -> tuple[int, str] | None:
        lines, first = _lines(topic, hit, code)
        if not lines or n_lines < 1:
            return None
        start = _start(topic, hit, first, len(lines), n_lines)
        shown = [_cut(line) for line in lines[start : start + n_lines]]
        while shown and not shown[-1].strip():
            shown.pop()
        return (first + start, "\n".join(shown)) if shown else None

    return excerpt


def _lines(topic: Topic, hit: Retrieved, code: Sources | None) -> tuple[list[str], int]:
    """Return all lines of a hit and the number of the first; 0 where its place is not known."""
    span = hit.span
    if span is None or span.whole_file:
        return split_lines(hit.text), 0 if span is None else 1
    if hit.text and len(split_lines(hit.text)) == span.end_line - span.start_line + 1:
        return split_lines(hit.text), span.start_line
    text = _read(lambda: code(topic.repo, topic.commit, normal_path(span.file)) if code else None)
    if text is not None:
        return split_lines(text)[span.start_line - 1 : span.end_line], span.start_line
    return split_lines(hit.text), span.start_line


def _read(read: Callable[[], str | None]) -> str | None:
    try:
        return read()
    except UsageError:  # no source for this repository: the hit is shown without its code
        return None


def _start(topic: Topic, hit: Retrieved, first: int, n: int, n_shown: int) -> int:
    """Return where the excerpt begins: at the hit's start, unless what answers would then lie outside it."""
    if hit.span is None:
        return 0
    path = normal_path(hit.span.file)
    answering = [
        max(truth.span.start_line, first) - first
        for truth in topic.truths
        if normal_path(truth.span.file) == path
        and not truth.span.whole_file
        and truth.span.start_line < first + n
        and truth.span.end_line >= first
    ]
    begin = min(answering, default=0)
    return 0 if begin + _BEFORE < n_shown else min(begin - _BEFORE, max(0, n - n_shown))


def _cut(line: str) -> str:
    line = line.rstrip().expandtabs(4)
    return line if len(line) <= _LINE_CHARS else line[: _LINE_CHARS - 1] + "…"
