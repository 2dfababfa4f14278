"""Query → the chunks that it points at: lines of files, frames of traces, quotations, messages that code made.

Each is looked up and not guessed: a file must be in the view, a quotation must stand in the chunk, a message must fit
a string of it. A query without any of these costs nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from devmind.index.catalog import Catalog
from devmind.index.snapshot import Floats
from devmind.index.terms import terms
from devmind.index.view import Rows, View
from devmind.retrieve.corpus import Corpus
from devmind.retrieve.paths import LIBRARIES, Place, meant
from devmind.retrieve.query import Query
from devmind.retrieve.quoted import share_made
from devmind.retrieve.stack import Frame

OUTER = 0.85  # worth of a frame against the one inside it; .5 and .7 rank a little worse
MIN_FRAME = 0.1  # below it a frame tells nothing
RIVAL = 0.1  # n files of a path, or n chunks with a quotation, make each worth 1 / (1 + n times this)
MAX_FILES = 5  # that a path may mean before it is no hint any more
MAX_OF_FILE = 60  # chunks of a file that is named
MAX_READ = 12  # chunks that are read to verify a quotation: each may unpack a file
MAX_TERMS = 8  # of a quotation, the rarest, that a chunk must hold to be read
MAX_MESSAGES = 2
MADE = 0.35  # share of a message that the strings of a chunk must make


@dataclass(frozen=True, slots=True)
class Pointed:
    """``rows`` of the view and how surely each is meant (0..1): 0 for chunks of a file that is only named."""

    rows: Rows
    worth: Floats


NOTHING = Pointed(np.empty(0, np.int64), np.empty(0, np.float32))


def pointed(query: Query, corpus: Corpus) -> Pointed:
    """Return what ``query`` points at, each row once with its highest worth."""
    if not (query.places or query.stack.frames or query.stack.raised or query.literals) or not corpus.view.n:
        return NOTHING
    worth_by_row: dict[int, float] = {}
    for row, worth in _all(query, corpus):
        worth_by_row[row] = max(worth_by_row.get(row, 0.0), worth)
    rows = np.array(sorted(worth_by_row), np.int64)
    if corpus.allowed is not None:
        rows = rows[corpus.allowed[rows]]
    return Pointed(rows, np.array([worth_by_row[row] for row in rows.tolist()], np.float32))


def _all(query: Query, corpus: Corpus) -> Iterator[tuple[int, float]]:
    of_frames = {frame.path.lstrip("/") for frame in query.stack.frames}
    yield from _of_frames(query.stack.frames, corpus)
    for place in query.places:
        if place.path.lstrip("/") not in of_frames:
            yield from _of_place(place, corpus.view)
    for literal in query.literals:
        held = list(_of_literal(literal, corpus))
        yield from held
        if not held and not query.is_long:  # long texts quote data, and tell apart what was raised
            yield from _of_message(literal, corpus)
    messages = [fault.message for fault in query.stack.raised if fault.message]
    for message in messages[:MAX_MESSAGES]:
        yield from _of_message(message, corpus)


def _of_frames(frames: Sequence[Frame], corpus: Corpus) -> Iterator[tuple[int, float]]:
    """Yield the chunks of the frames whose files are here: what is called inside a library is left out by that."""
    worth = 1.0
    for frame in frames:
        rows = [
            row
            for file in meant(frame.path, corpus.view.by_name)[:MAX_FILES]
            for line in _line_of(corpus.catalog, corpus.view, file, frame)
            for row in rows_at(corpus.view, file, line, line)
        ]
        yield from ((row, worth) for row in rows)
        if rows:
            worth *= OUTER
        if worth < MIN_FRAME:
            return


def _line_of(catalog: Catalog, view: View, file: int, frame: Frame) -> tuple[int, ...]:
    """Return the line that a frame means, if any: one of its function, for lines move from version to version.

    What lies among libraries may be this repository, installed, or another one's file of the same name; its functions
    tell.
    """
    own = () if LIBRARIES.search(frame.path) else (frame.line,)
    if not frame.function:
        return own
    found = catalog.rows(
        "SELECT start_line, end_line FROM symbol WHERE content_id = ? AND name = ? AND kind NOT IN ('heading', 'key')",
        (view.files[file].content_id, frame.function),
    )
    if not found:
        return own
    start, end = min(found, key=lambda lines: (max(lines[0] - frame.line, frame.line - lines[1], 0), lines))
    return (frame.line if start <= frame.line <= end else start,)


def rows_at(view: View, file: int, first: int, last: int) -> list[int]:
    """Return the rows of a file that hold one of the lines."""
    rows = np.flatnonzero((view.file == file) & (view.start <= last) & (view.end >= first))
    found: list[int] = rows.tolist()
    return found


def _of_place(place: Place, view: View) -> Iterator[tuple[int, float]]:
    files = meant(place.path, view.by_name)
    if len(files) > MAX_FILES:
        return
    for file in files:
        if place.first:
            yield from ((row, 1 / (1 + RIVAL * len(files))) for row in rows_at(view, file, place.first, place.last))
        yield from ((int(row), 0.0) for row in np.flatnonzero(view.file == file)[:MAX_OF_FILE])


def _of_literal(literal: str, corpus: Corpus) -> Iterator[tuple[int, float]]:
    wanted = sorted(dict.fromkeys(terms(literal)), key=lambda term: (corpus.lexical.df(term), term))[:MAX_TERMS]
    keys = corpus.lexical.holding(wanted, k=MAX_READ, repo_ids=corpus.repo_ids if corpus.is_part else ())
    rows, keep = corpus.rows_of(np.array(keys, np.int64))
    told = _plain(literal)
    held = [row for row in rows[keep].tolist() if told in _plain(_text(corpus, row))]
    yield from ((row, 1 / (1 + RIVAL * len(held))) for row in held)


def _of_message(message: str, corpus: Corpus) -> Iterator[tuple[int, float]]:
    """Yield the chunks with strings that make the message once their placeholders are filled."""
    hits = corpus.lexical.search(
        dict.fromkeys(terms(message), 1.0),
        k=MAX_READ,
        repo_ids=corpus.repo_ids if corpus.is_part else (),
        fields={"body": 1.0},
    )
    rows, keep = corpus.rows_of(np.array([key for key, _ in hits], np.int64))
    for row in rows[keep].tolist():
        share = share_made(_text(corpus, row), message)
        if share >= MADE:
            yield row, share


def _text(corpus: Corpus, row: int) -> str:
    view = corpus.view
    lines = corpus.lines_of(view.files[view.file[row]].content_id)
    return "\n".join(lines[view.start[row] - 1 : view.end[row]])


def _plain(text: str) -> str:
    return " ".join(text.split()).lower()
