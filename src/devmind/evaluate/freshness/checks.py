"""Hits × the files of a commit → what the hits show that is not, or no longer, there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from devmind.evaluate.alignment import normal_path
from devmind.evaluate.types import Retrieved
from devmind.types import split_lines

TextOf = Callable[[str], str | None]  # path → the file's text at the commit, None if there is no such file


@dataclass(frozen=True, slots=True)
class Findings:
    """What some hits show, held against one commit.

    ``n_stale``: hits whose text is not what stands at their lines. ``n_gone``: hits that show a line which the file no
    longer holds. ``n_without_text`` could not be compared.
    """

    n_hits: int = 0
    n_stale: int = 0
    n_gone: int = 0
    n_without_text: int = 0

    def __add__(self, other: Findings) -> Findings:
        return Findings(
            self.n_hits + other.n_hits,
            self.n_stale + other.n_stale,
            self.n_gone + other.n_gone,
            self.n_without_text + other.n_without_text,
        )


def examine(hits: Iterable[Retrieved], text_of: TextOf, *, file: str, gone: Collection[str]) -> Findings:
    """Hold hits against a commit.

    Args:
        text_of: the files of the commit, as an index would hold them.
        file: the file that changed.
        gone: lines, without their indentation, that are no longer in it.
    """
    found = Findings()
    for hit in hits:
        found += Findings(
            n_hits=1,
            n_stale=int(bool(hit.text) and not stands(hit, text_of)),
            n_gone=int(shows(hit, file, gone)),
            n_without_text=int(not hit.text),
        )
    return found


def stands(hit: Retrieved, text_of: TextOf) -> bool:
    """Return whether the hit's text is that of its lines; text without lines must stand somewhere in its file."""
    text = text_of(hit.span.file if hit.span else hit.file)
    if text is None:
        return False
    shown = hit.text.strip("\r\n")
    if hit.span is None:
        return shown in text
    if hit.span.whole_file:
        return shown == text.strip("\r\n")
    lines = split_lines(text)[hit.span.start_line - 1 : hit.span.end_line]
    return shown == "\n".join(lines).strip("\r\n")


def shows(hit: Retrieved, file: str, lines: Collection[str]) -> bool:
    """Return whether a hit in ``file`` shows one of ``lines``, whatever its indentation."""
    if normal_path(hit.file or (hit.span.file if hit.span else "")) != normal_path(file):
        return False
    return any(line.strip() in lines for line in split_lines(hit.text))


def vanished(lines: Sequence[str], text: str | None) -> frozenset[str]:
    """Return those of ``lines`` that stand nowhere in ``text``: a line may be removed here and stay there."""
    kept = {line.strip() for line in split_lines(text or "")}
    return frozenset(line for line in lines if line not in kept)
