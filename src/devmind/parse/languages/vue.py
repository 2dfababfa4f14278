"""Vue single-file components: the scripts as JavaScript or TypeScript, the template's components and handlers."""

from __future__ import annotations

import re
from bisect import bisect_right

from devmind.parse.blocks import join, structure_within
from devmind.parse.languages.javascript import SPEC as JAVASCRIPT
from devmind.parse.languages.typescript import SPECS as TYPESCRIPT
from devmind.types import ParsedDocument, Reference

_OPEN = re.compile(r"^<(script|template|style)\b([^>]{0,500})>", re.MULTILINE)
_LANG = re.compile(r"""\blang\s*=\s*["']?(\w+)""")
_COMPONENT = re.compile(r"<([A-Z][\w.]*|[a-z]\w*(?:-\w+)+)(?=[\s/>])")
_HANDLER = re.compile(r"""(?:@|v-on:)[\w.:-]+\s*=\s*["']\s*([A-Za-z_$][\w$]*)(?=\s*["'(])""")
_LEAD = re.compile(r"\s*<!--(.*?)-->", re.DOTALL)


def read(text: str) -> ParsedDocument:
    """Return the structure of a Vue component, with cuts at its blocks."""
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    scripts: list[tuple[int, int]] = []
    references: list[Reference] = []
    cuts: list[tuple[int, int]] = []
    spec, at = JAVASCRIPT, 0
    while found := _OPEN.search(text, at):
        tag, attributes = found.group(1), found.group(2)
        close = text.find(f"\n</{tag}>", found.end())  # a nested </template> is indented
        if close < 0:
            close = text.find(f"</{tag}>", found.end())
        end = close if close >= 0 else len(text)
        cuts.append((bisect_right(starts, found.start()), 0))
        if tag == "script":
            scripts.append((found.end(), end))
            lang = _LANG.search(attributes)
            if lang and lang.group(1) in ("ts", "tsx"):
                spec = TYPESCRIPT["tsx" if lang.group(1) == "tsx" else "typescript"]
        elif tag == "template":
            references += _template_references(text, found.end(), end, starts)
        at = max(end, found.end())
    lead = _LEAD.match(text)
    outside = ParsedDocument(references=tuple(references), cuts=tuple(cuts), lead=lead.group(1).strip() if lead else "")
    return join(outside, structure_within(text, scripts, spec))


def _template_references(text: str, start: int, end: int, starts: list[int]) -> list[Reference]:
    found = []
    for match in _COMPONENT.finditer(text, start, end):
        written = match.group(1)
        name = "".join(part.capitalize() for part in written.split("-")) if "-" in written else written
        found.append(Reference(name, "references", bisect_right(starts, match.start())))
    for match in _HANDLER.finditer(text, start, end):
        found.append(Reference(match.group(1), "calls", bisect_right(starts, match.start())))
    return sorted(found, key=lambda reference: reference.line)
