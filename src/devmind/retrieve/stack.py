"""Text → the frames of the stack traces in it, and what was raised: a pasted log names the code it went through.

Each notation is known by one pattern that is put to one line at a time. A frame here is a claim of the text; whether
the file exists is for `pointed` to say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MAX_LINE_CHARS: Final = 500  # of a line that may be a frame: longer ones are data
MAX_FRAMES: Final = 60  # of a text; a recursion repeats the same ones
MAX_RAISED: Final = 4
# A file name with an extension, at the end of a path of any system. Bounded, as all here: texts come from anywhere.
# What follows a path is none of its characters, so all of them are taken at once and never given back: a line of dashes
# took the cube of its length.
_ENDS: Final = "|".join(rf"(?<=[\w$-]\.{word})" for word in (r"\w" * n for n in range(1, 9)))
_FILE: Final = rf"(?>[^\s\"'`()<>:,]{{1,400}})(?:{_ENDS})"
_NAME: Final = r"[\w$<>.:*~\[\]/#@-]{1,300}"
_AT: Final = r":(?P<line>\d{1,7})"
_URL: Final = r"(?:[a-z-]{2,20}://[^/\s]{0,200})?"


@dataclass(frozen=True, slots=True)
class Frame:
    """``path`` as the text has it, with slashes; ``function`` is the bare name, empty for code outside of any."""

    path: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class Raised:
    """What a text says went wrong. ``kind`` is the bare name of the exception, empty for a panic."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Stack:
    """``frames`` innermost first, those of the last trace of the text before those of others; ``raised`` last first.

    In a chain of exceptions the last is the one that came out, or, where causes are told after it, the cause.
    """

    frames: tuple[Frame, ...]
    raised: tuple[Raised, ...]


NO_STACK: Final = Stack((), ())


@dataclass(frozen=True, slots=True)
class _Notation:
    """How one language writes a frame. Groups of the pattern: path, line, and function where it is told.

    Attributes:
        innermost_last: how the language orders frames.
        function_before: whether the function stands on the line before.
    """

    pattern: str
    innermost_last: bool = False
    function_before: bool = False


_NOTATIONS: Final = (
    # Python: File "shop/cart.py", line 12, in total
    _Notation(
        (r'^\W*File "(?P<path>[^"\n]{1,400})", line (?P<line>\d{1,7})(?:, in (?P<function>[^\s()]{1,200}))?'),
        innermost_last=True,
    ),
    # Lua: cart.lua:12: in function 'total'
    _Notation(rf"^\s*(?P<path>{_FILE}){_AT}: in (?:function|method|local|upvalue) '(?P<function>[\w.:]{{1,200}})'"),
    # pytest: shop/cart.py:12: in total
    _Notation(
        rf"^\W*+(?P<path>{_FILE}){_AT}: in (?P<function>[\w<>.]{{1,200}})",
        innermost_last=True,
    ),
    # C#: at Shop.Cart.Total(Int32 n) in C:\src\Cart.cs:line 12; both words are in the language of the system
    _Notation(
        r"^\s*\S{1,4} (?P<function>[^(\n]{1,300})\([^)\n]{0,300}\) \S{1,4} "
        rf"(?P<path>(?:\w:)?{_FILE}):\S{{1,6}} (?P<line>\d{{1,7}})"
    ),
    # Java, Kotlin, Scala: at com.acme.shop.Cart.total(Cart.java:12)
    _Notation(rf"^\W*at (?P<function>{_NAME})\((?P<path>[\w$-]{{1,200}}\.\w{{1,8}}){_AT}\)"),
    # Go and Rust tell the function on the line before: main.(*Cart).Total(0xc0) / 4: shop::cart::total
    _Notation(
        (
            rf"^\s+(?:at )?(?P<path>(?:\w:)?[^\s\"'`()<>:,]{{1,400}}\.(?:go|rs)){_AT}"
            r"(?::\d{1,7}| \+0x[0-9a-f]{1,16})?$"
        ),
        function_before=True,
    ),
    # JavaScript: at Cart.total (/app/shop/cart.js:12:5), at /app/shop/cart.js:12:5
    _Notation(
        rf"^\W*at (?:async )?(?:(?:new )?(?P<function>{_NAME})(?: \[as [\w$]{{1,100}}\])? \()?"
        rf"{_URL}(?P<path>(?:\w:)?{_FILE}){_AT}:\d{{1,7}}\)?$"
    ),
    # Firefox, Safari: total@http://x/cart.js:12:5
    _Notation(rf"^\s*(?P<function>[\w$.<>/]{{0,200}})@{_URL}(?P<path>{_FILE}){_AT}:\d{{1,7}}$"),
    # PHP: #0 /srv/shop/Main.php(12): Shop\Cart->total(), which names what is called there
    _Notation(rf"^\W*#\d{{1,4}} (?P<path>{_FILE})\((?P<line>\d{{1,7}})\): (?P<function>)"),
    # gdb, sanitizers: #1 0x4f in total (n=1) at shop/cart.c:12, #1 0x4f in total shop/cart.c:12:5
    _Notation(
        r"^\s*#\d{1,4}\s{1,4}(?:0x[0-9a-f]{1,16} in )?(?P<function>[\w:~<>$]{1,300})(?:\W[^\n]{0,300})? (?:at )?"
        rf"(?P<path>{_FILE}){_AT}(?::\d{{1,7}})?$"
    ),
    # Ruby: shop/cart.rb:12:in 'Cart#total'
    _Notation(rf"^\W*+(?:from )?(?P<path>{_FILE}){_AT}:in [`'](?P<function>[^'\n]{{1,200}})'"),
    # Elixir: (shop 1.0.0) lib/shop/cart.ex:12: Shop.Cart.total/1
    _Notation(
        rf"^\s*(?:\([\w. -]{{1,80}}\) )?(?P<path>{_FILE}){_AT}: "
        r"(?P<function>[A-Z][\w.]{0,200}\.[\w?!]{1,100})/\d{1,3}"
    ),
)
_CALLED: Final = re.compile(
    r"^(?:\d{1,4}: )?(?:0x[0-9a-f]{1,16} - )?(?P<function>[\w./:*()<>{}$-]{1,300}?)(?:\([^()]{0,300}\))?$"
)
_RAISED: Final = re.compile(
    r"^(?:E\s{1,8})?(?:Caused by: |Uncaught |Unhandled exception[.:] |Exception in thread \"[^\"\n]{0,100}\" |"
    r"(?:PHP )?Fatal error: {1,2}Uncaught |\*\* \(|\w{1,40} - )?"
    r"(?P<kind>(?:[A-Za-z_]\w{0,100}[.\\:]{1,2}){0,12}"
    r"(?:[A-Z]\w{0,100})?(?:Error|Exception|Warning|Failure|Fault|Exit|Interrupt))"
    r"(?:(?:: |\) )(?P<message>.{0,400})|\s*$)"
    r"|^(?:panic: |thread '[^'\n]{0,100}' panicked at |(?:PHP )?fatal error: )(?P<told>.{1,400})"
)
# What a text, and a line, must hold to be read at all: most questions hold neither.
_MAY_HOLD: Final = re.compile(
    r"\.\w{1,8}\W{1,4}(?:line )?\d|(?:Error|Exception|Warning|Failure|Fault|Exit|Interrupt)\b"
    r"|panic|fatal error|^\*\* \(",
    re.IGNORECASE | re.MULTILINE,
)
_MAY_BE_FRAME: Final = re.compile(r"\.\w{1,8}\W{1,4}(?:\S{1,6} )?\d")
_NAMELESS: Final = frozenset({"module", "anonymous", "main", "null", "unknown", "top (required)", "init", "clinit"})


def read_stack(text: str) -> Stack:
    if not _MAY_HOLD.search(text):
        return NO_STACK
    runs: list[list[Frame]] = [[]]
    raised: list[Raised] = []
    before = ""
    for line in text.split("\n"):
        fault, found = raised_in(line), _frame(line, before)
        before = line
        if fault is not None:
            raised.append(fault)
            runs.append([])
        elif found is not None and found[1]:
            runs[-1].insert(0, found[0])
        elif found is not None:
            runs[-1].append(found[0])
    frames = (frame for run in reversed(runs) for frame in run)
    return Stack(tuple(dict.fromkeys(frames))[:MAX_FRAMES], tuple(dict.fromkeys(reversed(raised)))[:MAX_RAISED])


def is_frame(line: str) -> bool:
    """Return whether a line tells a place in a file as traces do."""
    return _frame(line, "") is not None


def raised_in(line: str) -> Raised | None:
    """Return the exception that a line names at its beginning, as the first or last line of a trace does."""
    found = _RAISED.match(line.strip()[:MAX_LINE_CHARS])
    if found is None:
        return None
    kind = re.split(r"[.:\\]+", found["kind"] or "")[-1]
    return Raised(kind, (found["message"] or found["told"] or "").strip())


def _frame(line: str, before: str) -> tuple[Frame, bool] | None:
    """Return the frame of a line, and whether its notation tells the innermost last."""
    if len(line) > MAX_LINE_CHARS or not _MAY_BE_FRAME.search(line):
        return None
    bare = line.rstrip()
    for notation in _NOTATIONS:
        found = re.search(notation.pattern, bare)  # which compiles each when the first frame is read
        if found is not None:
            told = _called_in(before) if notation.function_before else found["function"] or ""
            frame = Frame(_path(found["path"], told), int(found["line"]), _bare(told))
            return frame, notation.innermost_last
    return None


def _called_in(line: str) -> str:
    found = _CALLED.match(line.strip()[:MAX_LINE_CHARS])
    return found["function"] if found else ""


def _path(path: str, function: str) -> str:
    """Return the path with slashes; a Java frame's has its package before it."""
    path = path.replace("\\", "/")
    if "/" in path or not path.endswith((".java", ".kt", ".scala", ".groovy")):
        return path
    package = [part for part in function.split(".")[:-2] if part]
    return "/".join([*package, path])


def _bare(function: str) -> str:
    """Return the last part of a function's name as a trace has it; empty for a module's own code and for closures."""
    if "{{closure}}" in function or "{closure" in function or "<lambda>" in function:
        return ""
    name = re.sub(r"::h[0-9a-f]{16}$", "", function).rstrip("()")
    name = re.split(r"[.:#/\\]|->|\s", name)[-1].strip("*<>`'")
    return "" if name in _NAMELESS else name
