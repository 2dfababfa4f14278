"""What a language lets a name mean, as far as the resolution of references depends on it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoping:
    """Rules of a language.

    Attributes:
        family: languages that can use each other's definitions share one.
        implicit_this: a bare call may mean a method of the enclosing class or of those it inherits from.
        strict: a bare name is defined in its file (or folder, if ``by_folder``), imported or built in.
        strict_types: a bare name with a capital, or a receiver, is so at least: a class and no variable.
        by_folder: files of a folder see each other's definitions.
        ignores_case: names that differ in case alone are the same.
        types_after: the type of a variable stands after it (``x: T``), not before it (``T x``).
    """

    family: str
    implicit_this: bool = False
    strict: bool = False
    strict_types: bool = False
    by_folder: bool = False
    ignores_case: bool = False
    types_after: bool = False


_ECMA = Scoping(family="ecma", strict=True, strict_types=True, types_after=True)
_SCOPING = {
    "python": Scoping(family="python", strict=True, strict_types=True, types_after=True),
    "javascript": _ECMA,
    "jsx": _ECMA,
    "typescript": _ECMA,
    "tsx": _ECMA,
    "vue": _ECMA,
    "go": Scoping(family="go", strict=True, strict_types=True, by_folder=True, types_after=True),
    "rust": Scoping(family="rust", strict=True, strict_types=True, types_after=True),
    "java": Scoping(family="jvm", implicit_this=True, strict=True, strict_types=True, by_folder=True),
    "kotlin": Scoping(family="jvm", implicit_this=True, strict_types=True, by_folder=True, types_after=True),
    "scala": Scoping(family="jvm", implicit_this=True, strict_types=True, by_folder=True, types_after=True),
    "csharp": Scoping(family="csharp", implicit_this=True, by_folder=True),
    "c": Scoping(family="c", by_folder=True),
    "cpp": Scoping(family="c", implicit_this=True, by_folder=True),
    "swift": Scoping(family="swift", implicit_this=True, strict_types=True, by_folder=True, types_after=True),
    "ruby": Scoping(family="ruby", implicit_this=True),
    "php": Scoping(family="php", strict_types=True, by_folder=True, ignores_case=True),
    "sql": Scoping(family="sql", ignores_case=True),
}


def scoping_of(language: str) -> Scoping:
    """Return the rules of ``language``; one that is not known lets a name mean what is unique in the repository."""
    return _SCOPING.get(language) or Scoping(family=language)
