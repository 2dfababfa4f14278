"""Comment text → prose: marks removed, licence blocks recognised."""

from __future__ import annotations

import re

_OPEN = re.compile(r"\s*(?:/{2,}!?|/\*+!?|\*+/|\*+(?!\w)|#+!?(?!\[)|--+(?:\[=*\[)?|;+|<!--|%+|\{-+\|?|\(\*+)?[ \t]?")
_CLOSE = re.compile(r"\s*(?:\*+/|--+>|-\}|\]=*\]|\*\))\s*$")
_LICENCE = re.compile(r"copyright|licen[cs]ed? |SPDX-|all rights reserved|\(c\) ?\d{4}", re.IGNORECASE)
_MACHINE = re.compile(
    r"\s*(?:#!|#.*coding[:=]|//\s*\+build|//go:|/\*\s*(?:eslint|global|jshint|istanbul)|//\s*(?:@ts-|eslint)|"
    r"#\s*(?:pylint|flake8|mypy|ruff|type:|noqa|isort|fmt:)|<\?|<!DOCTYPE)",
    re.IGNORECASE,
)


def strip_marks(comment: str) -> str:
    """Return the words of ``comment``, one line per line, without comment marks and outer blank lines."""
    lines = []
    for line in comment.split("\n"):
        bare = _CLOSE.sub("", line)
        lines.append(_OPEN.sub("", bare, count=1).rstrip())
    return "\n".join(lines).strip()


def is_licence(comment: str) -> bool:
    return _LICENCE.search(comment) is not None


def is_for_machines(comment: str) -> bool:
    """Return whether ``comment`` speaks to a tool (shebang, linter switch, build tag) and not to a reader."""
    return _MACHINE.match(comment) is not None
