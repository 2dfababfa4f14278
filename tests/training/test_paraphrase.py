"""Documentation → questions of people."""

import pytest

from training.paraphrase import chinese_by_english, gerund, in_chinese, past, question, third


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("parse", ("parses", "parsed", "parsing")),
        ("match", ("matches", "matched", "matching")),
        ("copy", ("copies", "copied", "copying")),
        ("run", ("runs", "run", "running")),
        ("write", ("writes", "written", "writing")),
        ("stop", ("stops", "stopped", "stopping")),
    ],
)
def test_the_forms_of_a_verb(verb: str, forms: tuple[str, str, str]) -> None:
    assert (third(verb), past(verb), gerund(verb)) == forms


def test_a_question_keeps_what_it_asks_about_and_is_the_same_every_time() -> None:
    sentence = "Parses cookies."
    assert question(sentence) == question(sentence)
    assert "cookies" in question(sentence)
    assert question(sentence) != sentence


def test_one_sentence_in_many_gives_every_kind_of_question() -> None:
    asked = {question(f"Parses cookies of kind{i}.").split(" ")[0] for i in range(200)}
    assert {"how", "where", "which", "function", "parsing"} <= asked


def test_the_shipped_glossary_is_read_in_reverse() -> None:
    glossary = chinese_by_english()
    assert "移除" in glossary["remove"]


def test_a_sentence_in_chinese_has_the_words_of_the_glossary_and_keeps_names() -> None:
    glossary = {"remove": ["移除"], "cache": ["缓存"], "session": ["会话"]}
    asked = in_chinese("Removes sessions from the RedCache cache.", glossary)
    assert "移除" in asked and "会话" in asked and "缓存" in asked and "RedCache" in asked


def test_a_sentence_the_glossary_knows_little_of_is_left_alone() -> None:
    assert in_chinese("Removes old widgets and gadgets quickly.", {"remove": ["移除"]}) == ""
