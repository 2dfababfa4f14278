"""reStructuredText: section titles, ranked in the order in which their adornments appear."""

from __future__ import annotations

from devmind.parse.outline import Heading, outline
from devmind.types import ParsedDocument, split_lines

_ADORNMENTS = frozenset("=-`:'\"~^_*+#<>.!$%&(),/;?@[\\]{|}")


def _adornment(line: str) -> str:
    """Return the character that ``line`` repeats at least three times, or ""."""
    bare = line.rstrip()
    return bare[0] if len(bare) >= 3 and bare[0] in _ADORNMENTS and bare == bare[0] * len(bare) else ""


def read(text: str) -> ParsedDocument:
    """Return the outline of an RST ``text``."""
    lines = split_lines(text)
    levels: dict[tuple[str, bool], int] = {}
    headings: list[Heading] = []
    number = 2
    while number <= len(lines):
        mark = _adornment(lines[number - 1])
        title = lines[number - 2]
        fits = (
            mark and title.strip() and not _adornment(title) and len(lines[number - 1].rstrip()) >= len(title.strip())
        )
        over = bool(fits and number >= 3 and lines[number - 3].rstrip() == lines[number - 1].rstrip())
        before = lines[number - 3].strip() if number >= 3 else ""
        if fits and (over or (not before and not title[0].isspace())):
            level = levels.setdefault((mark, over), len(levels) + 1)
            headings.append((number - (2 if over else 1), number, level, title.strip()))
            number += 1
        number += 1
    return outline(lines, headings, code_lines=_literal_lines(lines))


def _literal_lines(lines: list[str]) -> frozenset[int]:
    """Return the lines of indented blocks after ``::`` or a ``code-block`` directive."""
    found: set[int] = set()
    margin = -1
    for number, line in enumerate(lines, start=1):
        bare = line.strip()
        if not bare:
            continue
        indent = len(line) - len(line.lstrip())
        if margin >= 0 and indent > margin:
            found.add(number)
            continue
        opens = bare.endswith("::") and not bare.startswith("..")
        margin = indent if opens or bare.startswith((".. code", ".. sourcecode", ".. parsed-literal")) else -1
    return frozenset(found)
