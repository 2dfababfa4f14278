"""A comment → its first sentence → a question that a person who has not seen the code could ask."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from random import Random
from typing import Final

from devmind.evaluate.generate.topics import Lang
from devmind.evaluate.generate.wording import kind_name, worded

_IDEOGRAPH = re.compile(r"[\u4e00-\u9fff]")
# The end of a sentence: not the stop of an abbreviation, and not one inside a name or number.
_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)(?<!\bcf)[.!?](?=\s|$)|[。！？]|\n\s*\n|\n(?=\s*[-*@:]|\s*\w+:)"
)
_ROLE = re.compile(r":[\w:+.-]+:`~?([^`<]*?)(?:\s*<[^>]*>)?`")  # reStructuredText: :meth:`name`
_LINK = re.compile(r"\{@\w+\s+([^}]*)\}|\[([^\]]*)\]\([^)]*\)|<[^<>]+>")
# Sentences about the comment or its history, which no one would ask for.
_NOT_ASKED = re.compile(
    r"^(?:todo|fixme|xxx|hack|note|see|deprecated|internal|private|same as|like |overrides?|inherit|copyright|"
    r"do(?:es)? not |don't |never |"
    r"this is (?:a )?(?:internal|private)|example|usage|\W)",
    re.IGNORECASE,
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|would|can|could|should|must|may|might|does|do|did|be|when|if)\b"
)
_PARTICIPLES: Final = frozenset({"called", "created", "executed", "invoked", "raised", "returned", "triggered", "used"})
_ABOUT_ITSELF = re.compile(r"This (?:class|function|method|exception|decorator|mixin|helper) (?=[a-z]+s )")
_SECOND_VERB = re.compile(r"and (\w+)")
_BY_VERB: Final[Mapping[Lang, tuple[str, ...]]] = {
    "en": (
        "Which {kind} {does}?",
        "Where does the code {do}?",
        "Where is the code that {does}?",
        "I am looking for what {does}.",
        "Which part of this repository {does}?",
    ),
    "zh": (),
}
_BY_THING: Final[Mapping[Lang, tuple[str, ...]]] = {
    "en": ("Where is {thing} implemented?", "Which {kind} is {thing}?", "I need {thing}: what do I use here?"),
    "zh": (),
}
_QUOTED: Final[Mapping[Lang, tuple[str, ...]]] = {
    "en": ("Of which {kind} is this true: {sentence}?", "Which {kind} fits this description: {sentence}?"),
    "zh": (
        "哪个{kind}的作用是：{sentence}？",
        "“{sentence}”这段逻辑在哪里实现？",
        "我想找这样的代码：{sentence}。它在哪里？",
    ),
}


@cache
def _verbs() -> frozenset[str]:
    """Return the verbs that comments begin with, in the imperative; with an s they are the other common form."""
    text = files("devmind.evaluate.generate").joinpath("data", "verbs.txt").read_text("utf-8")
    return frozenset(text.split())


def is_chinese(text: str) -> bool:
    return _IDEOGRAPH.search(text) is not None


def first_sentence(docstring: str) -> str:
    """Return the first sentence without markup, in one line; "" if it says nothing that one would ask for."""
    text = docstring.strip()
    end = _END.search(text)
    sentence = text[: end.start()] if end else text
    sentence = _ROLE.sub(lambda found: found[1].rpartition(".")[2] or found[1], sentence)
    sentence = _LINK.sub(lambda found: found[1] or found[2] or "", sentence)
    sentence = " ".join(sentence.replace("`", "").replace("*", "").split()).strip(" -–—:")
    return "" if _NOT_ASKED.match(sentence) else sentence


def question_of(sentence: str, kind: str, lang: Lang, rng: Random) -> tuple[str, str]:
    """Return the question that a first sentence answers, and which template made it."""
    name = kind_name(kind, lang)
    if lang == "zh":
        query, template = worded(_QUOTED, lang, rng, kind=name, sentence=sentence)
        return query, f"quoted:{template}"
    first, _, rest = sentence.partition(" ")
    verb = _imperative(first)
    if verb and rest:
        do, does = f"{verb} {rest}", f"{_third_person(verb)} {rest}"
        second = _SECOND_VERB.match(rest)
        if second and (other := _imperative(second[1])):  # "Load and return …"
            tail = rest[second.end() :]
            do, does = f"{verb} and {other}{tail}", f"{_third_person(verb)} and {_third_person(other)}{tail}"
        query, template = worded(_BY_VERB, lang, rng, kind=name, do=do, does=does)
        return query, f"verb:{template}"
    about_itself = _ABOUT_ITSELF.match(sentence)
    if about_itself or first.lower() in _PARTICIPLES:
        said = sentence[about_itself.end() :] if about_itself else f"is {_lowered(sentence)}"
        return f"Which {name} {said}?", "itself:en1"
    if first in ("A", "An", "The") and not _FINITE.search(sentence):
        query, template = worded(_BY_THING, lang, rng, kind=name, thing=_lowered(sentence))
        return query, f"thing:{template}"
    query, template = worded(_QUOTED, lang, rng, kind=name, sentence=_lowered(sentence))
    return query, f"quoted:{template}"


def _imperative(word: str) -> str:
    """Return the verb that ``word`` is a form of, "" if it is none that we know."""
    lowered = word.lower()
    for form in (lowered, lowered.removesuffix("s"), lowered.removesuffix("es")):
        if form in _verbs():
            return form
    if lowered.endswith("ies") and lowered[:-3] + "y" in _verbs():
        return lowered[:-3] + "y"
    return ""


def _third_person(verb: str) -> str:
    if verb == "have":
        return "has"
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def _lowered(sentence: str) -> str:
    """Begin in lower case, unless the first word is a name."""
    first = sentence.split(" ", 1)[0]
    return sentence if any(map(str.isupper, first[1:])) or first == "I" else sentence[:1].lower() + sentence[1:]
