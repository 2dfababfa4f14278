"""A commit message → the question that it answers, or the reason why it is none. Reads words only, no code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_TAGS = re.compile(
    r"^(?:\[[^\]]{1,30}\]\s*|(?:feat|fix|perf|refactor|chore|build|ci|docs|style|test)(?:\([^)]*\))?!?:\s*"
    r"|(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?)[:\s]*(?:GH-?|issue )?#\d+(?:\s*(?:,|and)\s*#\d+)*"
    r"\s*[-–—:.]*\s*)+",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\s*\((?:GH-?|PR )?#\d+\)|\s*[-–—,]?\s*\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?|see)\s+(?:GH-?)?#\d+\b"
    r"|\s*\b(?:issue|pull request|pr)\s+#\d+\b",
    re.IGNORECASE,
)
_TRAILER = re.compile(r"^(?:[A-Z][\w-]+-by|Change-Id|Bug|Issue|Refs|Cc|Closes|Fixes|Co-authored-by):? ", re.IGNORECASE)
# The first that fits a subject says why nobody would ask it. Dropping too much costs nothing: there is enough history.
_TRIVIAL: Final = tuple(
    (reason, re.compile(pattern, re.IGNORECASE))
    for reason, pattern in (
        ("revert", r"^(?:revert|reapply|back ?out|merge|cherry.pick)"),
        ("version", r"\b(?:bump|release|version|changelog|pre-?commit|dependabot|lock ?file|pin(?:ned)?|upgrade|"
                    r"requirements?|dependenc(?:y|ies)|start \d|copyright|licen[cs]e)\b|^v?\d+\.\d+"),
        ("typo", r"\b(?:typos?|misspell\w*|spelling|grammar|wording|rephrase)\b"),
        ("formatting", r"\b(?:black|isort|flake8|ruff|lint\w*|pep ?8|whitespace|reformat\w*|formatting|style|"
                       r"pyupgrade|f-?strings?|prettier|gofmt|rustfmt|clang-format|indent\w*|quotes)\b"),
        ("docs", r"\b(?:docs?|documentation|docstrings?|readme|comments?|examples?|tutorial|changes?\.(?:rst|md))\b"),
        ("typing", r"\b(?:typing|type (?:hints?|annotations?|checks?)|annotations?|anystr|typevar|mypy|pyright|"
                   r"overloads?)\b"),
        ("tests", r"\b(?:tests?|testing|coverage|tox|ci|github actions?|travis|workflows?)\b"),
        ("tidying", r"\b(?:clean ?-?ups?|tidy|refactor\w*|renam\w+|^mov(?:e[sd]?|ing)|reorgani[sz]e|simplif\w+|unused|"
                    r"cosmetic|address (?:review|comments)|wip|misc|nits?|alternative|"
                    r"^convert|^use \S+ (?:instead|rather)|deprecat\w+ (?:code|shim)s?|drop support|python ?[23])\b"),
    )
)  # fmt: skip
_FIX = re.compile(
    r"\b(?:fix(?:e[sd])?|bugs?|crash\w*|regression|broken|wrong(?:ly)?|incorrect\w*|fail(?:s|ed|ures?)?|"
    r"leak\w*|deadlock|race|prevent\w*|avoid\w*)\b|修复|错误|崩溃|异常|失败",
    re.IGNORECASE,
)
_MIN_WORDS: Final = 5
_MIN_IDEOGRAPHS: Final = 8
_SHORT_SUBJECT_WORDS: Final = 9  # a subject below this takes the first paragraph of the message along
_MAX_BODY_CHARS: Final = 400
_WORD = re.compile(r"[a-z']+(?=[ ,]|$)")
_IDEOGRAPH = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a message asks. ``text``: ``subject``, or ``issue`` if the description of the trouble came along."""

    query: str
    text: str
    is_fix: bool


def asked(message: str) -> Asked | str:
    """Return the question, or a stable reason for dropping the commit."""
    first, _, rest = message.partition("\n")
    for reason, pattern in _TRIVIAL:
        if pattern.search(first):
            return reason
    subject = _cleaned(first)
    body = _description(rest)
    if not _says_enough(subject):
        return "says_too_little"
    together = subject
    if body and len(subject.split()) < _SHORT_SUBJECT_WORDS:
        together = f"{subject.rstrip('.')}. {body}"
    return Asked(together, "issue" if together != subject else "subject", _FIX.search(together) is not None)


def _cleaned(text: str) -> str:
    bare = _NUMBER.sub("", _TAGS.sub("", text.strip())).strip(" .;,-–—")
    bare = re.sub(r"\s*\(\s*\)$", "", bare)
    return bare[:1].upper() + bare[1:] if _WORD.match(bare) else bare  # names keep their case


def _says_enough(subject: str) -> bool:
    n_ideographs = len(_IDEOGRAPH.findall(subject))
    return n_ideographs >= _MIN_IDEOGRAPHS or len(subject.split()) >= _MIN_WORDS


def _description(rest: str) -> str:
    """Return the first paragraph that is prose, in one line; "" if there is none of a readable length."""
    for paragraph in re.split(r"\n\s*\n", rest.strip()):
        lines = [line.strip() for line in paragraph.split("\n") if line.strip()]
        prose = [line for line in lines if not _TRAILER.match(line)]
        if not prose or len(prose) < len(lines) or prose[0].startswith(("*", "-", "+", "#", ">", "|", "`", "diff ")):
            continue
        text = _NUMBER.sub("", " ".join(prose)).strip()
        whole = text.endswith((".", "!", "?", "。"))  # else it may be a list of what was done, squashed into one commit
        return text if whole and len(text) <= _MAX_BODY_CHARS and _says_enough(text) else ""
    return ""
