"""The tokenizer: additive counts, stable ids, every script, bounded work."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from devmind.embed.tokenizer import (
    N_BUCKETS,
    N_PIECES,
    count_tokens,
    count_tokens_by_line,
    split_word,
    token_ids,
)

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200)


@given(st.lists(TEXT, max_size=8))
def test_counts_add_up_over_lines(lines: list[str]) -> None:
    assert sum(count_tokens_by_line(lines)) == count_tokens("\n".join(lines))


@given(TEXT)
def test_counts_add_up_however_the_text_is_cut_into_lines(text: str) -> None:
    assert (
        sum(count_tokens_by_line(text.splitlines()))
        == count_tokens(text)
        == sum(count_tokens_by_line(text.split("\n")))
    )


@given(TEXT, st.integers(0, 50))
def test_ids_are_in_range_limited_and_repeatable(text: str, limit: int) -> None:
    ids = token_ids(text, limit)
    assert len(ids) <= limit
    assert all(0 <= i < N_PIECES for i in ids)
    assert ids == token_ids(text, 10_000)[:limit]


@given(TEXT)
def test_a_text_has_tokens_unless_it_is_blank(text: str) -> None:
    assert (count_tokens(text) == 0) == (not text.strip())


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=200))
def test_ascii_lines_are_cut_like_others(text: str) -> None:
    line = text.replace("\n", " ")
    assert count_tokens(line) + 1 == count_tokens(f"{line} é")
    assert token_ids(line, 10_000) + token_ids("é", 1) == token_ids(f"{line} é", 10_000)


def test_what_stands_beside_a_long_word_counts_too() -> None:
    digest, run = "0f" * 200, "=" * 300
    assert count_tokens(digest) == 200
    assert count_tokens(f"a {digest} __ {run}") == count_tokens(f"a {digest} __ {run} é") - 1 == 203


def test_identifiers_are_split_where_people_read_a_boundary() -> None:
    assert split_word("getHTTPResponseCode") == ["get", "http", "response", "code"]
    assert split_word("max_retries_3") == ["max", "retries", "3"]
    assert split_word("sha256sum") == ["sha", "256", "sum"]
    assert split_word("__init__") == ["init"]


def test_spelling_of_one_name_does_not_change_its_ids() -> None:
    ids = token_ids("parse http response", 10)
    assert len(ids) == 3
    assert (
        ids
        == token_ids("parseHttpResponse", 10)
        == token_ids("PARSE_HTTP_RESPONSE", 10)
        == token_ids("ParseHTTPResponse", 10)
    )


def test_common_words_are_one_piece_and_punctuation_runs_count_one() -> None:
    assert count_tokens("return response") == 2
    assert count_tokens("foo(); }") == count_tokens("foo") + 2
    assert token_ids("foo(); }", 9) == token_ids("foo", 9)


def test_chinese_is_a_piece_a_character_and_rare_characters_fall_into_buckets() -> None:
    ids = token_ids("函数返回值", 10)
    assert len(set(ids)) == 5
    assert all(i >= N_BUCKETS for i in ids)
    assert count_tokens("函数返回值") == 5
    (rare,) = token_ids("龘", 10)
    assert rare < N_BUCKETS


def test_full_width_forms_are_the_plain_ones() -> None:
    assert token_ids("ＡＰＩ", 5) == token_ids("API", 5)


def test_emoji_and_empty_text() -> None:
    assert token_ids("🎉🎉 ", 5) == []
    assert count_tokens("🎉🎉 ") == 1
    assert count_tokens("") == 0 and count_tokens_by_line([]) == [] and count_tokens_by_line([""]) == [0]
    assert token_ids("", 5) == [] and token_ids("word", 0) == []


def test_a_word_of_a_megabyte_costs_little() -> None:
    started = time.process_time()
    word = "aB3" * 350_000
    assert count_tokens(word) == -(-len(word) // 2)
    assert 0 < len(token_ids(word, 1000)) <= 128
    assert time.process_time() - started < 1
