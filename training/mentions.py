"""Changelogs, readmes and guides → sentences about one definition of their package.

Must not guess: a sentence counts only when the one name it gives is defined once in the package.

What a changelog says of a function ("`parse_date` no longer fails on two-digit years") is how issues and questions
speak of it, and unlike a comment it does not stand beside the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from training.comments import clean_comment
from training.definitions import Definition

MAX_PER_DEFINITION = 3

_NAME = re.compile(
    r"``?([A-Za-z_][\w.]*)(?:\(\))?``?|:\w+:`~?\.?([\w.]+)`|\b([A-Za-z_]\w*)\(\)|\b([a-z]+(?:_[a-z]+)+|[a-z]+[A-Z]\w+)\b"
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d+\.)\s+", re.MULTILINE)
_CODE_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])|(?<=[。；！？])")
_NOISE = re.compile(r"\(?(?:#\d+|https?://\S+|@[\w-]+|[0-9a-f]{7,40}\b|\[[^\]]*\]\([^)]*\))\)?")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a document in Markdown or reStructuredText; code, tables and headings left out."""
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*+•]|\d+\.)\s)", _CODE_FENCE.sub("\n\n", text)):
        if "\n    " in paragraph and not _BULLET.match(paragraph):
            continue
        if paragraph.lstrip().startswith(("|", "#", "..", "<", "=", "+-", ">>>", "$")):
            continue
        for sentence in _SENTENCE_END.split(" ".join(_BULLET.sub("", paragraph).split())):
            if 25 <= len(sentence) <= 300:
                yield sentence


def mentions(
    documents: Sequence[str], by_name: Mapping[str, Sequence[Definition]]
) -> Iterator[tuple[str, str, Definition]]:
    """(sentence, the same without the name, the definition it is about), each sentence once."""
    seen: set[str] = set()
    n_by_name: dict[str, int] = {}
    for document in documents:
        for sentence in sentences(document):
            names = {next(g for g in m.groups() if g): m[0] for m in _NAME.finditer(sentence)}
            known = {n: written for n, written in names.items() if len(by_name.get(n.rpartition(".")[2], ())) == 1}
            if len(known) != 1 or sentence in seen:
                continue
            seen.add(sentence)
            ((name, written),) = known.items()
            own = name.rpartition(".")[2]
            n_by_name[own] = n_by_name.get(own, 0) + 1
            text = clean_comment(_NOISE.sub(" ", sentence))
            hidden = clean_comment(_NOISE.sub(" ", sentence.replace(written, " ")))
            if n_by_name[own] <= MAX_PER_DEFINITION and _says_something(hidden):
                yield " ".join(text.split()), " ".join(hidden.split()), by_name[own][0]


def _says_something(text: str) -> bool:
    return len(re.findall(r"[^\W\d_]{3,}", text)) + len(re.findall(r"[\u3400-\u9fff]", text)) // 2 >= 5
