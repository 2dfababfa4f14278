"""Source files → comments inside functions with the lines they announce. Must not need to know the language.

`# Retry until the server answers` above five lines of code says what those lines do in words that the code may lack,
and every language has such comments, also where nobody documents functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from training.comments import clean_comment, split_description
from training.corpus import SourceFile

# A comment on one line of code repeats it; beyond a screen it is no longer about all of it.
_MIN_LINES = 2
_MAX_LINES = 25
# No file of commented tables rules its package.
MAX_BLOCKS_PER_FILE = 12

_SIGN_BY_LANGUAGE = {
    "python": "#", "ruby": "#", "bash": "#", "elixir": "#", "php": "//|#", "lua": "--", "haskell": "--",
}  # fmt: skip
_DEFINES = re.compile(
    r"^\s*(?:@|#\[|(?:(?:export|default|pub(?:\(\w+\))?|public|private|protected|internal|static|final|abstract|async|override|"
    r"open|inline|unsafe|virtual|local|suspend)\s+)*(?:def|defp|class|interface|trait|struct|enum|fn|func|fun|function|"
    r"module|type|impl|object|protocol)\b)"
)
# Commented-out code: statements end or nest with these, prose seldom does.
_CODE = re.compile(r"[;{}=]\s*$|\w\(|=>|->|==|:=")


@dataclass(frozen=True, slots=True)
class Block:
    """`comment` stands directly above `code`."""

    comment: str
    code: str


def _end_of_block(lines: list[str], start: int, comment: re.Pattern[str]) -> int:
    """One past the last line of the code that starts at `start`: up to a gap, a comment beside it or a dedent."""
    indent = len(lines[start]) - len(lines[start].lstrip())
    end = start
    while end < min(len(lines), start + _MAX_LINES):
        line = lines[end]
        own = len(line) - len(line.lstrip())
        if not line.strip() or own < indent or (own == indent and comment.match(line)):
            break
        end += 1
    return end


def blocks(file: SourceFile) -> Iterator[Block]:
    """The commented blocks of one file in order."""
    comment = re.compile(rf"^\s+(?:{_SIGN_BY_LANGUAGE.get(file.language, '//')})(?![!/#:-])\s?")
    lines = file.text.split("\n")
    row, n = 0, 0
    while row < len(lines) and n < MAX_BLOCKS_PER_FILE:
        start = row
        while row < len(lines) and comment.match(lines[row]):
            row += 1
        if row == start:
            row += 1
            continue
        if row >= len(lines) or row - start > 8 or not lines[row].strip() or _DEFINES.match(lines[row]):
            continue
        end = _end_of_block(lines, row, comment)
        sentence, _ = split_description(clean_comment("\n".join(lines[start:row])))
        if end - row >= _MIN_LINES and len(sentence.split()) >= 4 and not _CODE.search(sentence):
            n += 1
            yield Block(sentence, "\n".join(lines[row:end]))
        row = end
