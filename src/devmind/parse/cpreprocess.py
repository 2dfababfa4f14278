"""C and C++ text → text of the same lines in which macros and conditionals no longer break the syntax.

The grammar sees unpreprocessed source: an export macro before a class name or a brace opened in one branch of ``#if``
and again in the other turns whole files into errors. Such places are blanked; no line moves.
"""

from __future__ import annotations

import re

_MACRO = r"(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*|[A-Z][A-Z0-9]{3,})(?![a-z])"
_CALLED = r"(?:\([^()\n]{0,200}(?:\([^()\n]{0,200}\)[^()\n]{0,200}){0,3}\))?"
_AFTER_KEYWORD = re.compile(
    rf"(\b(?:class|struct|union|enum(?:[ \t]+class)?)[ \t]+)((?:{_MACRO}{_CALLED}[ \t]+){{1,3}})"
    r"(?=[A-Za-z_][\w:]*(?:<[^<>;{]{0,200}>)?\s*(?:final\s*)?[:{])"
)
_BEFORE_DECLARATION = re.compile(
    r"^([ \t]*(?:template[ \t]*<[^;{}\n]*>[ \t]*)?"
    r"(?:(?:static|inline|extern|constexpr|virtual|friend)[ \t]+){0,3})"
    rf"((?:{_MACRO}{_CALLED}[ \t]+){{1,3}})"
    r"(?=(?:class|struct|enum|union|using|namespace|template|explicit|operator|extern|auto|constexpr|inline|static|"
    r"const|void|int|char|bool|unsigned|virtual|friend)\b"
    r"|[A-Za-z_][\w:]*(?:<[^;{}\n]{0,200}>)?[ \t]*[ \t*&][*&]*[A-Za-z_~][\w:]*[ \t]*\()",
    re.MULTILINE,
)
_AFTER_PARAMETERS = re.compile(
    rf"(\)[ \t]*(?:(?:const|override|final|noexcept)[ \t]*){{0,3}})({_MACRO}{_CALLED})(?=\s*[{{;])"
)
_ALONE = re.compile(rf"[ \t]*{_MACRO}{_CALLED}[ \t]*$")
# A comment without an end goes to the end of the file, a string without one to that of its line: what failed would
# be tried again at every later beginning, which takes the square of their number.
_NOISE = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)'", re.DOTALL)
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b[ \t]*(.*)")


def _blanks(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _blank_second(found: re.Match[str]) -> str:
    return found.group(1) + _blanks(found.group(2))


def _split_braces(lines: list[str]) -> set[int]:
    """Return the lines to blank so that every conditional has balanced braces: directives and all but one branch."""
    bare = _NOISE.sub(lambda found: _blanks(found.group()), "\n".join(lines)).split("\n")
    drop: set[int] = set()
    stack: list[tuple[list[int], list[int], str]] = []  # lines of the directives, braces per branch, condition
    continued = False
    for number, line in enumerate(bare):
        found = _DIRECTIVE.match(line) if "#" in line and not continued else None
        if found:
            word = found.group(1)
            if word in ("if", "ifdef", "ifndef"):
                stack.append(([number], [0], found.group(2).strip()))
            elif stack and word in ("elif", "else"):
                stack[-1][0].append(number)
                stack[-1][1].append(0)
            elif stack:
                at, nets, condition = stack.pop()
                keep = 1 if condition == "0" and len(at) > 1 else 0
                if any(nets):
                    bounds = [*at, number]
                    drop.update(bounds)
                    for branch in range(len(at)):
                        if branch != keep:
                            drop.update(range(bounds[branch], bounds[branch + 1]))
                    if stack:
                        stack[-1][1][-1] += nets[keep]
        elif stack and not continued and not line.lstrip().startswith("#"):
            stack[-1][1][-1] += line.count("{") - line.count("}")
        continued = line.endswith("\\") and (continued or line.lstrip().startswith("#"))
    return drop


def _lone_macros(lines: list[str]) -> set[int]:
    """Return the lines that hold a macro alone where a declaration would stand (``Q_OBJECT``, ``BEGIN_NAMESPACE``)."""
    drop: set[int] = set()
    previous, candidate, continued = "", -1, False
    for number, line in enumerate(lines):
        bare = line.strip()
        if not bare:
            continue
        if candidate >= 0:
            if bare[0] not in "{},:;=)?.+-|&<>" or (bare.startswith("}") and previous.endswith(";")):
                drop.add(candidate)
            candidate = -1
        starts = not previous or previous[-1] in ";{}:>/" or previous.startswith(("#", "//"))
        is_enum = previous.endswith("{") and "enum" in previous
        if starts and not continued and not is_enum and bare[0].isupper() and _ALONE.match(line):
            candidate = number
            continue
        continued = line.endswith("\\")
        previous = bare
    if candidate >= 0:
        drop.add(candidate)
    return drop


def settle(text: str) -> str:
    """Return ``text`` with the places blanked that keep the grammar from seeing the definitions. Cost: linear."""
    lines = text.split("\n")
    drop = _split_braces(lines) | _lone_macros(lines)
    if drop:
        lines = ["" if number in drop else line for number, line in enumerate(lines)]
    settled = _AFTER_KEYWORD.sub(_blank_second, "\n".join(lines))
    settled = _BEFORE_DECLARATION.sub(_blank_second, settled)
    return _AFTER_PARAMETERS.sub(_blank_second, settled)
