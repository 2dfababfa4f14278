"""Definitions of a file → the file as one text: what its head says it is for, and the first lines of what it defines.

A question about a feature ("where are uploads handled") is about a file or class more often than about a function.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from training.comments import clean_comment, split_description
from training.corpus import SourceFile
from training.definitions import Definition

# An outline of fewer is no more than its one definition.
_MIN_DEFINITIONS = 2
_MAX_LINES = 60

# Blanks are taken whole (`++`): each other way to part them fails as well, after a time squared or worse.
_HEAD_COMMENT = re.compile(
    r"\A(?:#![^\n]*\n|<\?php[^\S\n]*+\n|//go:build[^\n]*\n|declare\([^\n]*\n|'use strict';?\n|\s++)*"
    r"(/\*(?:(?!\*/)[\s\S])*\*/|(?:[ \t]*+(?://|#(?!include|define|if|pragma|\[)|--)[^\n]*\n)+|\{-(?:(?!-\})[\s\S])*-\})"
)


@dataclass(frozen=True, slots=True)
class Outline:
    """A file by its head comment and the first lines of its definitions."""

    name: str
    comment: str
    lines: str


def _head_comments(file: SourceFile) -> list[str]:
    """Comments at the head of a file, first to last; a licence often stands before the one that describes."""
    if file.language == "python":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return [ast.get_docstring(ast.parse(file.text)) or ""]
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return []
    rest, found = file.text, []
    while len(found) < 3 and (match := _HEAD_COMMENT.match(rest)):
        found.append(clean_comment(match[1]))
        rest = rest[match.end() :]
    return found


def outline(file: SourceFile, found: Sequence[Definition]) -> Outline | None:
    """The outline of `file`, or None when its head describes nothing or it defines too little."""
    if len(found) < _MIN_DEFINITIONS:
        return None
    # What stands above the first definition may be about that one, and is its pair then.
    own = {clean_comment(d.comment) for d in found[:3] if d.comment}
    comment = next((c for c in _head_comments(file) if c not in own and split_description(c)[0]), "")
    if not comment:
        return None
    lines = [" ".join((d.signature.strip() or d.body.strip()).split("\n")[0].split())[:120] for d in found[:_MAX_LINES]]
    path = PurePosixPath(file.path)
    stem = path.parent.name if path.stem in ("__init__", "index", "mod", "lib", "main") else path.stem
    return Outline(stem, comment, "\n".join(lines))
