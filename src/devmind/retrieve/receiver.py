"""The lines before a use → what its receiver was declared or assigned as: a type as written, or the expression.

Only what stands in plain sight is read (annotations, typed parameters, assignments); nothing is inferred from flow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from devmind.retrieve.scoping import Scoping

MAX_LINES = 400  # looked back from a use; longer functions declare near the use as a rule
_NO_TYPE = frozenset(
    """
    return new else throw throws case in of is as not and or if await yield delete typeof package import goto var let
    const val auto final def function fn func mut static public private protected using
    """.split()  # noqa: SIM905
)
_WRAPPERS = re.compile(
    r"^(?:typing\.)?(?:Optional|Annotated|Final|ClassVar|Type|type|Awaitable|Promise|Readonly|Partial|Arc|Rc|Box|Pin|"
    r"RefCell|Mutex|RwLock|std::sync::Arc|std::rc::Rc|unique_ptr|shared_ptr|std::unique_ptr|std::shared_ptr|Lazy)"
    r"\s*[\[<](.*)[\]>]$"
)
_NOISE = re.compile(r"^(?:[&*]|'\w+|mut\b|dyn\b|impl\b|const\b|final\b|volatile\b|readonly\b|struct\b|\.\.\.|\s)+")
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|\\)[A-Za-z_$][\w$]*)*")
_CALL = re.compile(r"^(?:await\s+|new\s+|&|\*)*([A-Za-z_$@][\w$.:@?!>-]*?)\s*(?:<[^()]*>)?\s*([({])")
_CAST = re.compile(r"^\(+\s*([A-Z][\w.]*)(?:<.*>)?(?:\[\])?\s*\)\s*[\w(\"]|\.\(\*?([\w.]+)\)|\bas\s+([A-Z][\w.]*)\)?$")
_LITERAL = re.compile(r"""^(?:[rbfuRBFU]{0,2}["'`]|\d|\[|\{|(?:true|false|None|null|nil)\b)""")


_OPENS = ("{", ":", "=>", "(", "|", "->")
_OF_FUNCTIONS = ("python", "ruby", "php")  # families whose variables live in a function, not in a block
_OPENING_WORD = re.compile(r"\s*[})]*\s*(?:async )?(?:if|for|while|with|switch|else|elif|catch|except|match)\b")


@dataclass(frozen=True, slots=True)
class Told:
    """What the text says of a variable: ``type_name`` as written, or the ``expression`` that it was given."""

    type_name: str = ""
    expression: str = ""
    line: int = 0


def bare_type(written: str) -> str:
    """Return the name in a type as written, ``Optional[a.B]`` or ``&mut B<T>``; empty for one without a name."""
    text = written.strip().strip("\"'")
    for _ in range(4):
        text = _NOISE.sub("", text).strip()
        alternatives = [part.strip() for part in re.split(r"\s*\|\s*", text)]
        named = [part for part in alternatives if part not in ("None", "null", "undefined", "")]
        if len(alternatives) > 1 and len(named) == 1:
            text = named[0]
        wrapped = _WRAPPERS.match(text)
        if not wrapped:
            break
        text = wrapped.group(1).split(",")[0].strip().strip("\"'")
    found = _NAME.match(text)
    if not found or text[found.end() :].lstrip().startswith("[]"):
        return ""  # an array, a tuple, a function
    return found.group()


def called(expression: str) -> tuple[str, str]:
    """Return what an expression calls or constructs and by which bracket: ``new a.B(1)`` → (``a.B``, ``(``)."""
    found = _CALL.match(expression.strip())
    return (found.group(1), found.group(2)) if found else ("", "")


def cast(expression: str) -> str:
    """Return the type that an expression is cast or asserted to; empty for none."""
    found = _CAST.search(expression.strip())
    return next(filter(None, found.groups()), "") if found else ""


def is_literal(expression: str) -> bool:
    return _LITERAL.match(expression.strip()) is not None


@lru_cache(maxsize=4096)
def _patterns(name: str, family: str, types_after: bool) -> tuple[re.Pattern[str], ...]:
    v = re.escape(name)
    patterns = []
    if family == "go":
        patterns.append(
            rf"(?:[(,]|\bvar)\s*(?:\w+\s*,\s*)*{v}(?:\s*,\s*\w+)*\s+(?P<type>\*?[A-Za-z_][\w.]*)\s*[,)={{]?"
        )
    elif types_after:
        patterns.append(rf"(?:^|[(,|{{*]|\b(?:let|const|var|val|mut|readonly|private|public|protected))\s*{v}\s*[?!]?\s*:"
                        r"(?![:=])\s*(?P<type>[^=;{]+?)\s*(?:[=;{]|,\s*[\w*]+\s*[:=]|,?\s*\)|,?\s*$|\|)")  # fmt: skip
    else:
        patterns.append(
            rf"(?:^|[(,;{{\s])(?P<type>[A-Za-z_][\w.:]*(?:<[^=;()]*>)?(?:\[\])?)[\s*&]+\$?{v}\s*(?:[=;,):{{]|$)"
        )
    patterns.append(rf"(?:^|[\s(;{{]){v}(?:\s*,\s*\w+)*\s*:?=(?![=>~])\s*(?P<given>\S.*)$")
    if family == "python":
        patterns.append(rf"\b(?:async\s+)?with\s+(?:.*,\s*)?(?P<given>[\w.]+\(.*)\s+as\s+{v}\b")
        patterns.append(rf"\bexcept\s+\(?(?P<type>[\w.]+)\)?\s+as\s+{v}\b")
    patterns.append(rf"\bfor(?:each)?\b[^:=]*?\b{v}\b[^:=]*?\s(?:in|of)\b(?P<unknown>)")
    patterns.append(rf"\blambda\b[^:]*\b{v}\b[^:]*:(?P<unknown>)")
    if family == "ecma":
        patterns.append(rf"(?:[(,]\s*{v}\s*(?:,[^()]*)?\)|(?:^|[\s(,]){v})\s*=>(?P<unknown>)")
    if family == "rust":
        patterns.append(rf"\|(?:[^|]*\W)?{v}(?:\s*,[^|]*)?\|(?P<unknown>)")
    return tuple(re.compile(pattern) for pattern in patterns)


def declared(
    name: str, lines: Sequence[str], *, first: int, last: int, scoping: Scoping, of_field: bool = False
) -> Told | None:
    """Return what the nearest of the lines ``first..last``, looking back, says of the variable ``name``.

    None when none of them declares or assigns it; an empty ``Told`` when one does without naming a type.

    Args:
        of_field: ``name`` is a field (``self.x``): any block may assign it, and what is only emptied is passed over.
    """
    patterns = _patterns(name, scoping.family, scoping.types_after)
    for number in range(min(last, len(lines)), max(first, last - MAX_LINES, 1) - 1, -1):
        line = lines[number - 1]
        if name not in line or len(line) > 1000:
            continue
        for pattern in patterns:
            for found in pattern.finditer(line):
                groups = found.groupdict()
                if not of_field and not _still_open(
                    lines, number, last, of_block="given" not in groups, scoping=scoping
                ):
                    continue
                if "unknown" in groups:
                    return Told(line=number)
                if written := groups.get("type"):
                    word = bare_type(written)
                    if word.split(".")[0] in _NO_TYPE:
                        continue
                    return Told(type_name=word, line=number)
                if (given := groups.get("given")) and not (of_field and is_literal(given)):
                    return Told(expression=given.strip(), line=number)
    return None


def _still_open(lines: Sequence[str], declared_at: int, used_at: int, *, of_block: bool, scoping: Scoping) -> bool:
    """Return whether, by the indentation between them, a line lies in the block where another declares a variable.

    Args:
        of_block: what is declared belongs to the block that its line opens, if it does: a parameter, a loop's variable.
    """
    head = lines[declared_at - 1]
    depth = _indent(head)
    opens = head.rstrip().endswith(_OPENS)
    inner = (of_block and opens) or (opens and _OPENING_WORD.match(head) is not None)
    if inner and declared_at == used_at:
        return False
    if not inner and scoping.family in _OF_FUNCTIONS:
        return True
    return all(
        _indent(line) > depth if inner else _indent(line) >= depth
        for line in lines[declared_at:used_at]
        if line.strip()
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def parameters(signature: str) -> str:
    """Return what stands between the brackets of a function's signature."""
    start = signature.find("(")
    end = signature.rfind(")")
    return signature[start + 1 : end if end > start else len(signature)] if start >= 0 else ""


def is_parameter(name: str, signature: str) -> bool:
    """Return whether a function of this signature has a parameter ``name``."""
    v = re.escape(name)
    return bool(re.search(rf"(?:^|[,({{]\s*|[*&.]|[\w>\]]\s+){v}\s*(?:[,:=?)]|$)", parameters(signature)))


_RESULTS = (
    re.compile(r"->\s*([^{:]+?)\s*(?:where\b.*|:)?$"),  # Python, Rust, Swift, PHP's arrow functions
    re.compile(r"\)\s*:\s*([^{=]+?)\s*(?:=>?.*)?$"),  # TypeScript, Kotlin, Scala, PHP
)


def returned(signature: str, name: str, family: str) -> str:
    """Return the type that a function's signature says it returns, as written; empty when it does not."""
    if family == "go":
        found = re.search(rf"\b{re.escape(name)}\s*(?:\[[^\]]*\])?\(", signature)
        rest = _after_brackets(signature, found.end() - 1).strip() if found else ""
        return rest.lstrip("(").split(",")[0].strip(" )").rpartition(" ")[2]
    if family in ("jvm", "csharp", "c") and not signature.rstrip().endswith(")") and "):" in signature.replace(" ", ""):
        family = "kotlin"
    if family in ("jvm", "csharp", "c"):
        found = re.search(rf"([\w.:]+(?:<.*>)?[\s*&]+){re.escape(name)}\s*\(", signature)
        return found.group(1).strip() if found else ""
    for pattern in _RESULTS:
        if found := pattern.search(signature):
            return found.group(1)
    return ""


def _after_brackets(text: str, at: int) -> str:
    """Return what follows the bracket that closes the one at ``at``."""
    depth = 0
    for position in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return text[position + 1 :]
    return ""


def field_type(name: str, signature: str, scoping: Scoping) -> Told | None:
    """Return what the declaration of a field, property or variable says of its type."""
    return declared(name, [signature], first=1, last=1, scoping=scoping) or (
        declared(name, ["var " + signature], first=1, last=1, scoping=scoping) if scoping.family == "go" else None
    )
