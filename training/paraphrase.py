"""A sentence of documentation → the question a person would ask, and the same with Chinese words. Must not be random:
the same sentence gives the same question in every run.

Documentation says "Parses the header into tokens."; people ask "where is the header parsed", "how does it handle …",
or give three words. The model knows no word order, so what counts is that verbs occur in all their forms, that little
words of questions come to weigh nothing, and that a part of the words must do.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

GLOSSARY = Path(__file__).parents[1] / "src" / "devmind" / "retrieve" / "data" / "glossary.tsv"

# {0} the sentence as it is, {1} its verb in the form asked for, {2} what comes after the verb.
_OF_VERBS = (
    ("base", "how does it {1} {2}"),
    ("base", "how do we {1} {2}"),
    ("base", "where do we {1} {2}"),
    ("base", "how to {1} {2}"),
    ("base", "code to {1} {2}"),
    ("base", "function to {1} {2}"),
    ("past", "how is {2} {1}"),
    ("past", "where is {2} {1}"),
    ("past", "where are {2} {1}"),
    ("past", "which code makes sure that {2} is {1}"),
    ("third", "which function {1} {2}"),
    ("third", "what {1} {2}"),
    ("third", "the part of the code that {1} {2}"),
    ("gerund", "{1} {2}"),
    ("gerund", "logic for {1} {2}"),
    ("gerund", "implementation of {1} {2}"),
)
_OF_NOUNS = (
    "where is {0} handled",
    "where is {0} implemented",
    "where is {0} defined",
    "how does {0} work",
    "how is {0} implemented",
    "how are {0} represented",
    "what is {0}",
    "class for {0}",
    "which class is {0}",
    "what happens with {0}",
    "explain {0}",
    "{0}",
)
_LITTLE_TEXT = """
    a an and are as at be by can for from has have if in into is it its not of on or so that the then there
    these this to used was were when which will with you your
"""
_LITTLE = frozenset(_LITTLE_TEXT.split())
_VERBS_TEXT = """
    accept add adjust align allocate allow append apply assert assign attach authenticate authorize balance
    begin bind block break broadcast build cache calculate call cancel capture cast catch change check choose
    clean clear clip clone close collapse collect combine commit compare compile complete compose compress
    compute concatenate configure confirm connect construct consume contain convert copy count create crop
    decide decode decompress decrease decrypt define delete deliver deploy describe deserialize destroy detach
    detect determine disable discard disconnect dispatch display divide download draw drop dump duplicate emit
    enable encode encrypt end enforce enqueue ensure enter enumerate erase escape estimate evaluate examine
    exchange execute exit expand expect explain export expose extend extract fetch fill filter find finish fire
    fit fix flatten flip flush fold follow force format forward free generate get give grab group grow guess
    handle hash hide highlight hold ignore import include increase increment indicate infer inherit initialize
    inject insert inspect install intercept interpolate interpret invalidate invert invoke iterate join jump
    keep kill launch limit link list listen load locate lock log look make manage map mark match measure merge
    modify monitor mount move multiply mutate normalize notify obtain open optimize order output override pack
    pad parse pass patch pause peek perform pick plot poll pop populate post prepare prepend present preserve
    prevent print process produce project propagate provide prune publish pull push put query queue quote raise
    randomize read rebuild receive record recover redirect reduce refresh register reject release reload remove
    rename render reorder repeat replace report represent request require reset resize resolve restart restore
    resume retrieve retry return reverse revert revoke rewrite rotate round route run sample save scale scan
    schedule scroll search seek select send serialize serve set setup shift show shuffle shut simplify simulate
    skip sleep slice solve sort spawn split start stop store stream strip submit subscribe substitute subtract
    suggest support suspend swap switch sync synchronize take terminate test throw toggle track transform
    translate traverse trigger trim truncate try tune turn unescape uninstall unlock unpack unregister unset
    unsubscribe unwrap update upgrade upload use validate verify visit wait walk warn watch wrap write yield zip
    zoom
"""
_VERBS = frozenset(_VERBS_TEXT.split())
_IRREGULAR_PAST = {
    "begin": "begun", "bind": "bound", "break": "broken", "build": "built", "catch": "caught", "choose": "chosen",
    "draw": "drawn", "find": "found", "get": "retrieved", "give": "given", "grow": "grown",
    "hide": "hidden", "hold": "held", "keep": "kept", "make": "made", "put": "put", "read": "read", "run": "run",
    "send": "sent", "set": "set", "show": "shown", "shut": "shut", "split": "split", "take": "taken",
    "throw": "thrown", "wrap": "wrapped", "write": "written", "cast": "cast", "fit": "fitted", "override": "overridden",
    "rebuild": "rebuilt", "rewrite": "rewritten", "seek": "sought", "sleep": "slept", "try": "tried", "reset": "reset",
}  # fmt: skip
_DOUBLING_TEXT = """
    begin clip commit crop cut drop emit fit flip get grab log map nap pad pop plot put quit reset run scan set
    shut skip spin split stop strip submit swap trim unset unwrap unzip wrap zip
"""
_DOUBLING = frozenset(_DOUBLING_TEXT.split())
_CHINESE_FRAMES = (
    "{0}在哪里实现",
    "如何{0}",
    "{0}是怎么处理的",
    "哪个函数负责{0}",
    "{0}",
    "{0}的代码",
    "怎样{0}",
    "{0}的逻辑在哪",
)


def third(verb: str) -> str:
    """`parse` → parses, `match` → matches, `copy` → copies."""
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if re.search(r"(?:s|x|z|ch|sh|o)$", verb) else f"{verb}s"


def past(verb: str) -> str:
    """The participle: `parse` → parsed, `copy` → copied, `write` → written."""
    if verb in _IRREGULAR_PAST:
        return _IRREGULAR_PAST[verb]
    if verb.endswith("e"):
        return f"{verb}d"
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ied"
    return f"{verb}{verb[-1] if verb in _DOUBLING else ''}ed"


def gerund(verb: str) -> str:
    """`parse` → parsing, `run` → running."""
    if verb.endswith("e") and not verb.endswith("ee"):
        return f"{verb[:-1]}ing"
    return f"{verb}{verb[-1] if verb in _DOUBLING else ''}ing"


_FORMS = {"base": str, "third": third, "past": past, "gerund": gerund}
_BASE_BY_FORM = {form(v): v for v in sorted(_VERBS) for form in (third, gerund)} | {v: v for v in _VERBS}


def _number(sentence: str, salt: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{salt}{sentence}".encode(), digest_size=4).digest(), "big")


def _shortened(words: Sequence[str], number: int) -> list[str]:
    """As few words as people type: a third keeps all, a third the first clause, a third drops the little words."""
    if number % 3 == 0 or len(words) <= 4:
        return list(words)
    if number % 3 == 1:
        return list(words[: max(5, 6 + number // 3 % 5)])
    return [w for w in words if w.lower() not in _LITTLE][: 4 + number // 3 % 5]


def question(sentence: str) -> str:
    """One question that `sentence` answers."""
    number = _number(sentence, "q")
    words = sentence.rstrip(".!。 ").split()
    if not words:
        return sentence
    verb = _BASE_BY_FORM.get(words[0].lower())
    if verb is None:
        return _OF_NOUNS[number % len(_OF_NOUNS)].format(" ".join(_shortened(words, number // 101)))
    form, frame = _OF_VERBS[number % len(_OF_VERBS)]
    return frame.format("", _FORMS[form](verb), " ".join(_shortened(words[1:], number // 101)))


def chinese_by_english(path: Path = GLOSSARY) -> dict[str, list[str]]:
    """The product's glossary in reverse: English term (words joined by spaces) → Chinese ones."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        chinese, _, english = line.partition("\t")
        if chinese and english and not line.startswith("#"):
            for rank, term in enumerate(english.split()):
                # What stands first is what the Chinese word means; later terms are what code calls it.
                if rank < 3:
                    found[term.replace("_", " ").lower()].append(chinese)
    return dict(found)


def in_chinese(sentence: str, glossary: Mapping[str, Sequence[str]]) -> str:
    """`sentence` with every term of the glossary in Chinese, framed as a question; empty when too little is known."""
    words = [w for w in re.findall(r"[A-Za-z][\w'-]*|\d+", sentence) if w.lower() not in _LITTLE]
    out: list[str] = []
    at = n_known = 0
    while at < len(words) and len(out) < 10:
        for length in (3, 2, 1):
            term = " ".join(words[at : at + length]).lower()
            choices = (
                glossary.get(term) or glossary.get(term.removesuffix("s")) or glossary.get(_BASE_BY_FORM.get(term, ""))
            )
            if choices and at + length <= len(words):
                out.append(choices[_number(sentence, str(at)) % len(choices)])
                n_known += 1
                at += length
                break
        else:
            out.append(f" {words[at]} ")
            at += 1
    if n_known < 2 or n_known * 2 < len(out):
        return ""
    number = _number(sentence, "zh")
    return " ".join(_CHINESE_FRAMES[number % len(_CHINESE_FRAMES)].format("".join(out)).split())
