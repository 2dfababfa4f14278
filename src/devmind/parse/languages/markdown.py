"""Markdown: headings (``#`` and underlined), code fences and front matter left aside."""

from __future__ import annotations

import re

from devmind.parse.outline import Heading, outline
from devmind.types import ParsedDocument, split_lines

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_NO_TITLE = re.compile(r"\s{4}|\s*(?:[-*+>|#]|\d+[.)])")
_TAG = re.compile(r"(`+[^`]*`+)|<(?:/?[a-z][a-z0-9-]*(?:\s[^<>]*)?/?|!--.*?--)>")
_ALT = re.compile(r"""\salt\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_LINKED = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^()\s]*(?:\s[^()]*)?\)")
MAX_LINE = 2000  # a longer line is data


def read(text: str) -> ParsedDocument:
    """Return the outline of a Markdown ``text``."""
    lines = split_lines(text)
    code: set[int] = set()
    headings: list[Heading] = []
    fence = ""
    start = _front_matter_end(lines)
    code.update(range(1, start + 1))
    for number, line in enumerate(lines[start:], start=start + 1):
        line = line.rstrip("\r")
        mark = _FENCE.match(line)
        if fence:
            code.add(number)
            if mark and mark.group(1).startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            fence = mark.group(1)
            code.add(number)
        elif len(line) > MAX_LINE:
            continue
        elif (atx := _ATX.match(line)) and atx.group(2):
            if title := plain_title(atx.group(2)):
                headings.append((number, number, len(atx.group(1)), title))
        elif _UNDERLINE.match(line) and number - 1 > start and number - 1 not in code:
            title = lines[number - 2].rstrip("\r")
            before = lines[number - 3].strip() if number >= 3 else ""
            if before or len(title) > MAX_LINE or _NO_TITLE.match(title):
                continue
            if seen := plain_title(title):
                headings.append((number - 1, number, 1 if "=" in line else 2, seen))
    return outline(lines, headings, code_lines=frozenset(code))


def plain_title(written: str) -> str:
    """Return what a reader sees of a heading: no tags and targets of links; of an image its alternative text."""
    if "](" in written:
        written = _LINKED.sub(r"\1", _LINKED.sub(r"\1", written))  # twice: an image may be the text of a link
    if "<" in written:
        written = _TAG.sub(_seen, written)
    return " ".join(written.split())


def _seen(tag: re.Match[str]) -> str:
    if tag.group(1):
        return tag.group(1)  # code speaks of tags, it has none
    alt = _ALT.search(tag.group()) if tag.group().startswith("<img") else None
    return next(filter(None, alt.groups()), "") if alt else ""


def _front_matter_end(lines: list[str]) -> int:
    """Return the number of lines that a leading ``---`` block takes."""
    if lines and lines[0].rstrip() == "---":
        for index in range(1, min(len(lines), 200)):
            if lines[index].rstrip() in ("---", "..."):
                return index + 1
    return 0
