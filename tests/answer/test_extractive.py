from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from devmind.answer.extractive import Facts, compose, first_sentence, read_facts
from devmind.types import Answer, Hit, SearchResult
from tests.answer.conftest import CACHE

if TYPE_CHECKING:
    from devmind.answer.verify import Lines


def test_an_english_question_gets_name_place_signature_calls_and_telling_lines(
    found: SearchResult, sources: Lines
) -> None:
    answer = compose("How are the oldest entries evicted?", found, sources)
    assert not answer.abstained
    assert "Drop the oldest entries until at most" in answer.answer
    assert "src/cache.py:Cache.evict (L5-L10)" in answer.answer
    assert "`def evict(self, limit)`" in answer.answer
    assert "`find_oldest`" in answer.answer
    assert "    9 | " in answer.answer
    assert not re.search(r"[\u4e00-\u9fff]", answer.answer)


def test_a_chinese_question_gets_chinese_sentences_and_code_as_it_is(found: SearchResult, sources: Lines) -> None:
    answer = compose("缓存如何淘汰最旧的条目?", found, sources)
    assert not answer.abstained
    assert "方法" in answer.answer
    assert "调用" in answer.answer
    assert "src/cache.py:Cache.evict (L5-L10)" in answer.answer
    assert "Drop the oldest entries" in answer.answer


def test_a_why_question_quotes_the_comment(found: SearchResult, sources: Lines) -> None:
    answer = compose("Why is the reversed order used for the newest entry?", found, sources)
    assert "    7 |         # reversed order because the newest entry stands last" in answer.answer


def test_quoted_lines_are_the_lines_of_the_file(found: SearchResult, sources: Lines) -> None:
    answer = compose("How are the oldest entries evicted?", found, sources)
    quoted = re.findall(r"^ +(\d+) \| (.*)$", answer.answer.split("Also relevant")[0], re.MULTILINE)
    lines = sources.lines("web", "src/cache.py", 3) or []
    assert quoted
    assert all(lines[int(number) - 1].rstrip() == text for number, text in quoted)


def test_copies_and_overlaps_are_one_piece_of_evidence(found: SearchResult, evict: Hit, sources: Lines) -> None:
    inner = replace(evict, start_line=8, end_line=10, content="other", chunk_id="9")
    answer = compose("evict", replace(found, hits=(*found.hits, inner)), sources)
    assert [hit.path for hit in answer.evidence] == ["src/cache.py", "docs/guide.md"]
    assert all(citation.verified for citation in answer.citations)


@pytest.mark.parametrize(("question", "sentence"), [
    ("Where is the flux capacitor?", "Not found in the indexed code."),
    ("通量电容器在哪里?", "在已索引的代码中未找到。"),
])  # fmt: skip
def test_weak_evidence_and_no_hits_are_refused_in_the_language_of_the_question(
    question: str, sentence: str, found: SearchResult, sources: Lines
) -> None:
    weak = compose(question, replace(found, confidence=0.01), sources)
    none = compose(question, replace(found, hits=(), confidence=0.0), sources)
    for answer, reason in ((weak, "low_confidence"), (none, "no_hits")):
        assert answer.abstained
        assert answer.reason == reason
        assert answer.answer.startswith(sentence)
        assert "web" in answer.answer
        assert "`Cache`" in answer.answer
        assert answer.citations == ()


@pytest.mark.parametrize("question", ["Where is evict defined?", "What does Cache.evict do?", "evict 在哪里定义?"])
def test_a_definition_among_the_hits_is_told_however_weak_they_are_otherwise(
    question: str, found: SearchResult, sources: Lines
) -> None:
    guide = replace(found.hits[2], rank=1)
    packed = replace(found.hits[0], rank=2, symbol="Cache", kind="class", start_line=1, content=CACHE.rstrip("\n"))
    answer = compose(question, replace(found, hits=(guide, packed), confidence=0.01), sources)
    assert not answer.abstained
    assert [(c.path, c.symbol, c.start_line, c.end_line) for c in answer.citations] == [
        ("src/cache.py", "Cache.evict", 5, 10)
    ]


@pytest.mark.parametrize("question", ["Where is vict defined?", "What does Page.evict do?", "How does evict retry?"])
def test_weak_hits_that_do_not_define_the_very_name_are_refused(
    question: str, found: SearchResult, sources: Lines
) -> None:
    answer = compose(question, replace(found, confidence=0.01), sources)
    assert (answer.abstained, answer.reason) == (True, "low_confidence")


def test_a_name_that_no_evidence_holds_is_refused(found: SearchResult, sources: Lines) -> None:
    answer = compose("How does `FluxCapacitor` drop the oldest entries?", found, sources)
    assert (answer.abstained, answer.reason) == (True, "names_not_found")
    assert "`FluxCapacitor`" in answer.answer
    known: Answer = compose("What does find_oldest return?", found, sources)
    assert not known.abstained


def test_an_answer_whose_citations_are_all_lost_becomes_an_abstention(
    found: SearchResult, evict: Hit, sources: Lines
) -> None:
    gone = replace(found, hits=(replace(evict, path="src/gone.py"),))
    answer = compose("How are the oldest entries evicted?", gone, sources)
    assert (answer.abstained, answer.reason, answer.citations) == (True, "no_citation_resolved", ())


def test_a_moved_hit_is_cited_where_its_symbol_is(found: SearchResult, evict: Hit, sources: Lines) -> None:
    moved = replace(found, hits=(replace(evict, start_line=50, end_line=60),))
    (citation,) = compose("How are the oldest entries evicted?", moved, sources).citations
    assert (citation.start_line, citation.end_line, citation.verified) == (5, 10, True)


def test_first_sentence_is_one_line_of_bounded_length() -> None:
    assert first_sentence("Keep it.  More.\n\nElse.") == "Keep it."
    assert first_sentence("保留最近的页面。其余不要。") == "保留最近的页面。"
    assert len(first_sentence("x" * 999)) == 240


FACTS = [
    ("f", "function f",
     "@cache\ndef f(\n    a: int,\n    b: int = 2,\n) -> int:\n    \"\"\"Add both.\n\n    More.\n    \"\"\"",
     Facts("def f(a: int, b: int = 2) -> int", "Add both.", ())),
    ("f", "function f", "def f():\n    '''\n    Say it\n    at length. Twice.\n    '''\n    # inner",
     Facts("def f()", "Say it at length.", ())),
    ("Add", "function Add\ncalls: sum, log", "// Add adds a and b. It is fast.\nfunc Add(a, b int) int {\n\t// inner",
     Facts("func Add(a, b int) int", "Add adds a and b.", ("sum", "log"))),
    ("A.run", "method A.run\nin class A: All of it", "/**\n * 运行任务。不返回。\n */\n@Override\npublic void run() {",
     Facts("public void run()", "运行任务。", ())),
    ("g", "function g\ndef g(x):\nA later piece.", "    return x", Facts("def g(x)", "A later piece.", ())),
    ("", "", "x = 1", Facts("", "", ())),
]  # fmt: skip


@pytest.mark.parametrize(("symbol", "header", "content", "expected"), FACTS)
def test_facts_are_read_in_any_language(symbol: str, header: str, content: str, expected: Facts, evict: Hit) -> None:
    hit = replace(evict, symbol=symbol, kind="function", header=header, content=content)
    assert read_facts(hit, content.split("\n")) == expected
