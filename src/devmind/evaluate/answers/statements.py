"""An answer → the statements it makes, one sentence each, in English or Chinese.

Left out are code blocks, quoted lines of code, citations, headings, lines that only announce what follows, and lines
that are a label and code: they claim nothing that an entailment could be about. What is split is text, not thought: a
sentence with two claims is one statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from devmind.answer.verify import find_mentions

MIN_WORDS: Final = 3  # "See below." claims nothing; "It returns None." does
# Chinese punctuation by code: \uff0c comma, \uff1a colon, \uff1b semicolon, \uff01 !, \uff1f ?, \uff08 \uff09 brackets.
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_QUOTED_LINE: Final = re.compile(r"\s*\d+\s*[|│]\s?")  # a line of code with its number
_INDENTED: Final = re.compile(r"(?: {4}|\t)(?!\s*(?:[-*+]|\d+[.)])\s)")
_HEADING: Final = re.compile(r"\s*#{1,6}\s|\s*(?:=+|-{3,}|\*{3,})\s*$")
_ITEM: Final = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)、]|[(\uff08]\d{1,2}[)\uff09])\s+")
_TABLE: Final = re.compile(r"\s*\|.*\|\s*$")
_CODE: Final = re.compile(r"``.+?``|`[^`\n]+`")
_LABEL_AND_CODE: Final = re.compile(r"(?:[^`:\uff1a。]{0,40}[:\uff1a]\s*)?(?:`[^`]*`[\s,\uff0c、.…]*)+")
_ANNOUNCES: Final = re.compile(r"[:\uff1a]\s*$")
_ASKS: Final = ("?", "\uff1f")
_EMPHASIS: Final = re.compile(r"\*\*(?=\S)|(?<=\S)\*\*|^>\s?")
_ABBREVIATED: Final = re.compile(
    r"(?:^|[\s(\"'])(?:e\.g|i\.e|etc|vs|cf|resp|approx|fig|sec|no|al|dr|mr|ms|st)\.$", re.IGNORECASE
)
_END: Final = re.compile(
    r"[.!?]+[\"')\]”’]*(?=\s+[^\sa-z])"  # a capital, a number or code begins the next one
    r"|[。\uff01\uff1f]+[\"')”’』」\uff09]*"
    r"|(?<=[\u3400-\u9fff\ue000])[!?](?=[\u3400-\u9fff\ue000])"  # Chinese with ASCII marks has no blank behind them
)
_TICKED_CITATION: Final = re.compile(r"`([^`\n]+:[^`\n]+[(\uff08]L\d+(?:[-–]L?\d+)?[)\uff09])`")
_EMPTY_BRACKETS: Final = re.compile(  # not those of a call
    r"(?<![\w)\]](?<=[!-~]))[(\[\uff08]\s*(?:see|参见|见)?[\s,;\uff0c\uff1b、]*[)\]\uff09]", re.IGNORECASE
)
_CITES: Final = re.compile(r"(?:\b(?:see|at|in|from|cf\.?)|参见|位于|见|在)\s*(?=[.,;。\uff0c\uff1b]|$)", re.IGNORECASE)
_CJK: Final = re.compile(r"[\u3400-\u9fff]")
_WORD: Final = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")
_GAP: Final = re.compile(r"\s+(?=[.,;:!?](?:\s|$))|[,;\uff0c]\s*(?=[.。])")
_MARGIN: Final = re.compile(r"^[\s,;\uff0c\uff1b—–-]+|[\s,;\uff0c\uff1b—–-]+$")
_MASK: Final = "\ue000"


def statements(answer: str) -> list[str]:
    """Return the statements in order, each on one line, without the citations that stood in them."""
    found: dict[str, None] = {}
    for block in _blocks(answer):
        for sentence in _sentences(block):
            text = _cleaned(sentence)
            if _claims(text):
                found.setdefault(text)
    return list(found)


def _blocks(answer: str) -> Iterator[str]:
    """Yield paragraphs and list items, the line breaks inside them joined."""
    held: list[str] = []
    fenced = False
    for line in _TICKED_CITATION.sub(r"\1", answer).splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            yield from _joined(held)
        elif fenced or _is_code(line) or not line.strip() or _HEADING.match(line) or _only_cites(line):
            yield from _joined(held)
        elif item := _ITEM.match(line):
            yield from _joined(held)
            held.append(line[item.end() :])
        elif _LABEL_AND_CODE.fullmatch(_without(line).strip()):
            yield from _joined(held)
        else:
            held.append(line.strip())
    yield from _joined(held)


def _is_code(line: str) -> bool:
    return bool(_QUOTED_LINE.match(line) or _INDENTED.match(line) or _TABLE.match(line))


def _joined(held: list[str]) -> Iterator[str]:
    """Yield what is held as one line, and hold nothing. Chinese has no blank where a line was broken."""
    if held:
        text = held[0]
        for line in held[1:]:
            glue = "" if _CJK.match(text[-1:]) and _CJK.match(line) else " "
            text = f"{text}{glue}{line}"
        held.clear()
        yield text


def _only_cites(line: str) -> bool:
    """Return whether nothing but a word or two is left when the citations are taken out."""
    mentions = find_mentions(line)
    return bool(mentions) and len(_WORD.findall(_without(line))) < MIN_WORDS


def _without(text: str) -> str:
    """Return the text without its citations."""
    pieces, at = [], 0
    for mention in find_mentions(text):
        pieces.append(text[at : mention.start])
        at = mention.end
    return "".join([*pieces, text[at:]])


def _sentences(block: str) -> Iterator[str]:
    """Yield sentences. A full stop inside inline code or a citation, or after an abbreviation, ends none."""
    codes: list[str] = []

    def mask(match: re.Match[str]) -> str:
        codes.append(match[0])
        return f"{_MASK}{len(codes) - 1}{_MASK}"

    masked = _CODE.sub(mask, _without(block))
    start = 0
    for end in _END.finditer(masked):
        if not _ABBREVIATED.search(masked[start : end.end()].rstrip()):
            yield _unmasked(masked[start : end.end()], codes)
            start = end.end()
    yield _unmasked(masked[start:], codes)


def _unmasked(text: str, codes: list[str]) -> str:
    return re.sub(f"{_MASK}(\\d+){_MASK}", lambda match: codes[int(match[1])], text)


def _cleaned(sentence: str) -> str:
    text = _EMPHASIS.sub("", sentence.strip())
    text = _CITES.sub("", _EMPTY_BRACKETS.sub("", text))
    return _MARGIN.sub("", _GAP.sub("", " ".join(text.split())))


def _claims(text: str) -> bool:
    """Return whether the text can be true or false: it has words beside code, and does not only announce or ask."""
    if _ANNOUNCES.search(text) or text.endswith(_ASKS) or _LABEL_AND_CODE.fullmatch(text):
        return False
    return bool(_WORD.search(_CODE.sub("", text))) and len(_WORD.findall(text)) >= MIN_WORDS
