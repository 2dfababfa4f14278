"""Comments → their words, and the sentence that says what the commented code is for."""

from __future__ import annotations

import re

_MARKUP = (
    (re.compile(r":[a-z:]+:`~?\.?([^`<]*?)(?:\s*<[^>]*>)?`"), r"\1"),
    (re.compile(r"\{@(?:link|code|linkplain|literal|value)\s*([^}]*)\}"), r"\1"),
    (re.compile(r"\[([^\]]+)\]\([^)]*\)"), r"\1"),
    (re.compile(r"<see cref=\"(?:\w:)?([^\"]+)\"\s*/>"), r"\1"),
    (re.compile(r"</?[a-zA-Z][^<>]{0,80}>"), " "),
    (re.compile(r"[\\@](?:brief|short|summary|description|desc|c|p|a|ref)\b\s*"), ""),
    (re.compile(r"`+|\*\*|\[(?=\w)|(?<=\w)\]"), ""),
)
_COMMENT_EDGE = re.compile(r"^\s*(?:/\*+!?<?|\*+/|\*+(?!\*)|///?[/!]?<?|#+!?|--+)?\s?|\s*\*+/\s*$", re.MULTILINE)
# Where prose ends and a list of parameters, an example or a machine's note begins.
_END_OF_PROSE = re.compile(
    r"^[^\S\n]*+(?:[@\\](?!brief|short|summary|desc|c\b|p\b|a\b|link|code)\w+|:\w.*:|Args?:|Arguments:|Parameters?:?$|Returns?:|Raises:|"
    r"Examples?:|Usage:|>>>|```|#\s|={3,}|-{3,}|<param|<returns|<remarks)",
    re.MULTILINE,
)
_SENTENCE = re.compile(r"(.{12,}?[.!?。；])(?=\s|$|[\u3400-\u9fff])", re.DOTALL)
_NOT_A_DESCRIPTION = re.compile(
    r"copyright|licen[sc]ed? |all rights reserved|spdx-|@generated|auto-?generated|do not edit|eslint-|tslint:|"
    r"istanbul |noqa|"
    r"type: ignore|clang-format|^todo|^fixme|^xxx|inheritdoc|deprecated$|see above|^region|^endregion|https?://\S+$|"
    r"^={2,}|^-{3,}|"
    r"@ts-|pylint:|^\W+$|^n/a|frozen_string_literal|^mark: |created by .+ on \d|coding[:=]|vim?: |__.*__.*__",
    re.IGNORECASE,
)
_CHINESE = re.compile(r"[\u3400-\u9fff]")


def clean_comment(comment: str) -> str:
    """The words of a comment without comment signs and mark-up."""
    text = _COMMENT_EDGE.sub("", comment)
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    return text.strip()


def split_description(comment: str) -> tuple[str, str]:
    """(first sentence, the rest) of a cleaned comment; ("", comment) when it describes nothing."""
    end = _END_OF_PROSE.search(comment)
    prose = comment[: end.start()] if end else comment
    paragraph = re.split(r"\n\s*\n", prose.strip(), maxsplit=1)[0]
    match = _SENTENCE.match(paragraph)
    raw = match[1] if match else paragraph
    sentence = " ".join(raw.split())
    n_words = len(re.findall(r"[^\W\d_]{2,}", sentence)) + len(_CHINESE.findall(sentence)) // 2
    letters = sum(c.isascii() or bool(_CHINESE.match(c)) for c in sentence)
    if (
        not 3 <= n_words <= 60
        or len(sentence) > 400
        or letters < 0.9 * len(sentence)
        or _NOT_A_DESCRIPTION.search(sentence)
    ):
        return "", comment
    return sentence, comment.replace(raw, " ", 1)
