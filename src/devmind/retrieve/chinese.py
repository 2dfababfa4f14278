"""Chinese text → its words, and what each may be called in code: English identifiers, phrases and pinyin.

The words are those of ``data/glossary.tsv``, our own; what it lacks stays a run of characters. Nothing here knows an
index: whoever asks decides which of the names occur.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice, product

RUN = re.compile(r"[\u3400-\u9fff]+")
MAX_READINGS = 4  # of a word whose characters are read in several ways
MIN_PINYIN = 4  # letters; shorter ones (``ma``, ``he``) are English words or variables far too often
MIN_PINYIN_CHARACTERS = 2
# Words that ask or join rather than tell.
_FUNCTION_WORDS = """
一下 一个 一些 一定 一旦 一样 一次 一直 一种 一起 一边 上 上去 上的 上述 下 下列 下来 下的 不 不会 不再 不是
不能 不要 与 且 东西 个 中 中的 为 为了 为什么 为何 么 之一 之类 之间 也 了 事情 于 些 什么 什么地方 什么时候
什么是 什么样 仅 仅仅 介绍 仍 仍然 从 从而 他 以 以上的 以下几种 以便 以免 以及 会 会怎么样 会怎样 但 但是 何时
你 使 例如 依据 假如 做 做了什么 其 其中 其次 具体 内 再 几 几个 出来 则 利于 到 到底 前 办法 十分 即 即使 即可
即将 去 又 及 另外 只 只有 只能 可 可以 可否 可能 各 各个 各种 各类 同时 后 向 吗 吧 告诉 呢 和 哪一个 哪个 哪些
哪儿 哪种 哪里 啊 因为 因此 在 在哪 在哪里 地 地方 均 基于 外 多么 多少 太 如 如下 如何 如果 如此 它 它们 对
对于 将 尤其 就 尽管 左右 已 帮我 并 并且 应 应当 应该 当 很 得 怎么 怎么办 怎么样 怎样 您 想要 我 我们 或 或者
所 所以 所在 才 把 按 按照 接着 无法 时 时候 是 是不是 是什么 是否 是如何 是怎么 是怎样 更 曾 最 有 有没有 未 本
本次 本身 来 某个 某些 根据 正在 此 此外 比如 没 没有 涉及 涉及到 然后 用 用于 用来 由 由于 的 的时候 相应 着 种
究竟 第几 等 等等 经由 经过 给 而 而且 能 能不能 能否 能够 自己 至 若 虽然 被 被用 要 让 该 请 请问 谁 负责 起来
过 过程中 还 还是 还有 这 这个 这么 这些 这样 这里 进行 通常 通过 那 那个 那么 那些 都 里 里面 针对 随后 需 需要
非 非常 须
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())


@dataclass(frozen=True, slots=True)
class Word:
    """A piece of Chinese text.

    Attributes:
        text: as written.
        english: names in code, the commonest first; the words of a phrase are joined by ``_``. Empty for a function
            word and for what the glossary lacks.
        known: whether the glossary or the function words hold it.
    """

    text: str
    english: tuple[str, ...]
    known: bool


@cache
def _glossary() -> dict[str, str]:
    """Return the English of each word, not yet split: a question needs few of the lines."""
    text = files("devmind.retrieve").joinpath("data", "glossary.tsv").read_text("utf-8")
    words = dict(line.split("\t") for line in text.splitlines())
    words.update(dict.fromkeys(FUNCTION_WORDS, ""))
    return words


@cache
def _longest() -> int:
    return max(map(len, _glossary()))


def segment(text: str) -> list[Word]:
    """Return the words of every Chinese run of ``text``, in order; together they cover each run."""
    return [word for run in RUN.findall(text) for word in _cut(run)]


def _cut(run: str) -> Iterator[Word]:
    words, longest = _glossary(), _longest()
    # best[i]: (characters not covered, words) of run[:i], and where its last word begins; less is better.
    best: list[tuple[int, int]] = [(0, 0)]
    begins = [0]
    for end in range(1, len(run) + 1):
        missed, n = best[end - 1]
        choice, begin = (missed + 1, n), end - 1
        for start in range(max(0, end - longest), end):
            if run[start:end] in words:
                missed, n = best[start]
                if (missed, n + 1) < choice:
                    choice, begin = (missed, n + 1), start
        best.append(choice)
        begins.append(begin)
    cuts = [len(run)]
    while cuts[-1]:
        cuts.append(begins[cuts[-1]])
    unknown = ""
    for start, end in zip(cuts[:0:-1], cuts[-2::-1], strict=True):
        piece = run[start:end]
        if piece not in words:
            unknown += piece
            continue
        if unknown:
            yield Word(unknown, (), known=False)
            unknown = ""
        yield Word(piece, tuple(words[piece].split()), known=True)
    if unknown:
        yield Word(unknown, (), known=False)


def translate(text: str) -> list[list[str]]:
    """Return, for each word of ``text`` that the glossary translates, its English words."""
    return [
        list(dict.fromkeys(part for name in word.english for part in name.split("_")))
        for word in segment(text)
        if word.english
    ]


@cache
def _readings() -> dict[str, list[str]]:
    """Return the syllables of each character."""
    text = files("devmind.retrieve").joinpath("data", "pinyin.tsv").read_text("utf-8")
    readings: dict[str, list[str]] = {}
    for syllable, characters in (line.split("\t") for line in text.splitlines()):
        for character in characters:
            readings.setdefault(character, []).append(syllable)
    return readings


def pinyin(word: str) -> list[str]:
    """Return how ``word`` may be spelt in an identifier (订单 → ``dingdan``); nothing for a word too short to tell."""
    if len(word) < MIN_PINYIN_CHARACTERS:
        return []
    spelt = [_readings().get(character, []) for character in word]
    found = ("".join(syllables) for syllables in islice(product(*spelt), MAX_READINGS))
    return [one for one in found if len(one) >= MIN_PINYIN]
