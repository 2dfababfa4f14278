"""Chinese questions: the glossary's lines, cutting into words, pinyin, and what an index makes of the words."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from devmind.index.terms import terms
from devmind.retrieve.chinese import RUN, pinyin, segment, translate
from devmind.retrieve.expand import TRANSLATED, expand, names
from devmind.retrieve.long_text import MANY, RAISED
from devmind.retrieve.query import MAX_IDENTIFIERS, Query, understand

DATA = files("devmind.retrieve").joinpath("data")
GLOSSARY = DATA.joinpath("glossary.tsv").read_text("utf-8").splitlines()
FUNCTION_WORDS = DATA.joinpath("function_words.txt").read_text("utf-8").splitlines()
CHINESE = st.text(alphabet=st.sampled_from("登录失败时如何重试订单的支付状态机魑魅魍魉验签为空a1_ ,。"), max_size=40)


def known(*held: str) -> dict[str, int]:
    """Return document frequencies in which the words of ``held`` occur, alone and joined, as an index counts them."""
    return {term: 1 for text in held for term in terms(text)}


def asked(text: str, *held: str) -> Query:
    df = known(*held)
    return understand(text, df=lambda term: df.get(term, 0), n_chunks=100)


# The data ---------------------------------------------------------------------------------------------------------


def test_glossary_lines_are_well_formed() -> None:
    line = re.compile(r"[\u4e00-\u9fff]+\t[a-z0-9]+(_[a-z0-9]+)*( [a-z0-9]+(_[a-z0-9]+)*){0,5}")
    assert [bad for bad in GLOSSARY if not line.fullmatch(bad)] == []


def test_glossary_has_no_duplicates_and_is_sorted() -> None:
    words = [line.split("\t")[0] for line in GLOSSARY]
    assert words == sorted(set(words))
    assert len(words) >= 3000
    assert sorted(set(FUNCTION_WORDS) - set(words)) == FUNCTION_WORDS
    for line in GLOSSARY:
        names_of_it = line.split("\t")[1].split()
        assert len(names_of_it) == len(set(names_of_it)), line


def test_pinyin_is_known_for_every_character_of_the_glossary() -> None:
    lines = DATA.joinpath("pinyin.tsv").read_text("utf-8").splitlines()
    assert [bad for bad in lines if not re.fullmatch(r"[a-z]+\t[\u4e00-\u9fff]+", bad)] == []
    syllables = [line.split("\t")[0] for line in lines]
    assert syllables == sorted(set(syllables))
    spelt = {character for line in lines for character in line.split("\t")[1]}
    assert {character for line in GLOSSARY for character in line.split("\t")[0]} <= spelt


# Words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("状态机", ["状态机"]),
        ("如何校验用户密码", ["如何", "校验", "用户", "密码"]),
        ("登录 retry 订单", ["登录", "订单"]),
        ("订单的魑魅魍魉", ["订单", "的", "魑魅魍魉"]),
        ("", []),
        ("only English", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert [word.text for word in segment(text)] == words


@given(st.text() | CHINESE)
@example("𠀀登录")
@example("登录\x00订单\ud800")
def test_words_cover_every_run(text: str) -> None:
    assert "".join(word.text for word in segment(text)) == "".join(RUN.findall(text))


def test_function_words_mean_nothing() -> None:
    assert translate("为什么") == []
    assert [(word.known, word.english) for word in segment("为什么")] == [(True, ())]


def test_names_of_a_word_come_commonest_first() -> None:
    assert translate("登录")[0][0] == "login"
    assert {"signin", "authenticate", "auth"} <= set(translate("登录")[0])
    assert translate("状态机") == [["state", "machine", "fsm"]]
    assert translate("验签")[0] == ["verify", "signature", "sign"]


@pytest.mark.parametrize(
    ("word", "spelt"), [("订单", "dingdan"), ("用户", "yonghu"), ("银行", "yinhang"), ("长度", "changdu")]
)
def test_pinyin(word: str, spelt: str) -> None:
    assert spelt in pinyin(word)


def test_short_pinyin_tells_nothing() -> None:
    assert pinyin("码") == []
    assert pinyin("") == []


# Terms of an index ------------------------------------------------------------------------------------------------


def test_only_what_the_index_holds_is_searched() -> None:
    assert asked("登录", "authenticate").weights.keys() == {"authent"}
    assert asked("登录", "unrelated").weights == {}


def test_what_is_nowhere_is_still_asked_for() -> None:
    query = asked("登录", "unrelated")
    assert [group for group, _ in query.groups if "login" in group]


def test_commoner_names_weigh_more() -> None:
    weights = asked("登录", "login", "authenticate").weights
    assert weights["login"] > weights["authent"] > 0
    assert weights["login"] < 1


def test_one_name_alone_has_the_whole_weight() -> None:
    assert asked("登录", "auth").weights == {"auth": TRANSLATED}


def test_a_phrase_counts_as_a_whole() -> None:
    together = asked("状态机", "StateMachine").weights
    assert together["statemachin" if "statemachin" in together else "statemachine"] > together["state"] > 0
    assert asked("状态机", "state").weights == {}


def test_a_phrase_is_a_name() -> None:
    assert set(asked("状态机", "StateMachine").identifiers) == {"state_machine", "statemachine"}


@pytest.mark.parametrize("text", ["获取用户", "用户获取", "用户的获取"])
def test_neighbours_make_a_name_in_either_order(text: str) -> None:
    assert {"get_user", "getuser"} <= set(asked(text, "getUser").identifiers)


def test_pinyin_is_searched_where_it_occurs() -> None:
    assert "dingdan" in asked("订单", "dingdanList", "order").weights
    assert "dingdan" not in asked("订单", "order").weights


def test_chinese_comments_match_directly() -> None:
    query = asked("状态机", "# 状态机")
    assert query.weights["状态"] == 1.0
    assert any("状态" in group for group, _ in query.groups)


def test_unknown_words_are_asked_for_at_half() -> None:
    (group, worth), *rest = asked("魑魅魍魉", "login").groups
    assert rest == []
    assert group == {"魑魅", "魅魍", "魍魉"}
    assert worth == pytest.approx(asked("zyx", "login").groups[0][1] / 2)


def test_english_is_untouched() -> None:
    query = asked("retry the payment of an order", "retry payment order")
    assert query.english == query.text
    assert query.identifiers == ()
    assert set(query.weights) == set(terms("retry payment order"))


@given(st.text() | CHINESE, st.booleans())
def test_any_text_is_understood(text: str, holds_all: bool) -> None:
    query = understand(text, df=lambda _: int(holds_all), n_chunks=10)
    assert len(query.weights) <= MANY
    assert len(query.identifiers) <= MAX_IDENTIFIERS
    assert all(group for group, _ in query.groups)
    assert all(0 < weight <= RAISED for weight in query.weights.values())
    words = segment(text)
    assert (holds_all and bool(names(words, lambda _: 1))) or names(words, lambda _: 0) == []
    assert all(not meant.weights for meant in expand(words, lambda _: 0))


def test_a_long_text_costs_few_look_ups() -> None:
    looked_up: list[str] = []

    def df(term: str) -> int:
        looked_up.append(term)
        return 0

    names(segment("获取用户订单列表" * 2000), df)
    assert len(looked_up) < 2500
