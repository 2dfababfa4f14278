"""What holds for every language: nothing raises, spans lie in the file, parents contain children, time is bounded."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devmind.parse import parse
from devmind.parse.languages import reader_for
from devmind.parse.structure import module_name
from devmind.types import Document, ParsedDocument, split_lines

LANGUAGES = ["python", "javascript", "typescript", "tsx", "vue", "go", "java", "markdown", "rst", "json", "yaml",
             "toml", "html", "css", "scss", "no-such-language"]  # fmt: skip
N = 10_000
HOSTILE = {
    "empty": "",
    "newline": "\n",
    "nul": "\0" * 100 + "\ndef f():\n    pass\0\n",
    "surrogate": "\ud800 def \udfff f()",
    "carriage": "def f():\r pass\r" * 50,
    "open": "(" * N,
    "closed": "[" * N + "]" * N,
    "mixed": "([{" * 3000,
    "calls": "f(" * N + ")" * N,
    "functions": "function f(){" * 3000,
    "classes": "class A{" * N,
    "divs": "<div id='a'>" * 2000,
    "objects": '{"a":' * N,
    "quotes": "'\"`" * N,
    "garbage": "}{)(:;@ " * 4000,
    "one line": "x = 1; " * 40_000,
    "headings": "#" * N + " x\n" + "> " * N,
}
FRAGMENTS = ["def f(a):\n", "    ", "class A(B):\n", "class A {\n", "}\n", "{", "(", ")", '"', "'", "`", "// c\n",
             "# c\n", "/* c */", "func (s *T) M() {\n", "type T struct {\n", "import x\n",
             "import a from 'b'\n", "@app.get('/x')\n",
             "x = 1\n", "export ", "const f = () => {\n", "return f(1)\n", "\n", "\0", "é", "标题\n", "---\n", "===\n",
             "<script>\n", "</script>\n", "<template>\n", "key: v\n", "[t]\n", ".a { b: c }\n", "```\n", '"""'
             ]  # fmt: skip


def read(text: str, language: str) -> ParsedDocument:
    return parse(Document("x", text, language, "source", "h", "utf-8", len(text)))


def check(text: str, language: str) -> None:
    found = read(text, language)
    n_lines = max(len(split_lines(text)), 1)
    for index, symbol in enumerate(found.symbols):
        assert 1 <= symbol.doc_line <= symbol.start_line <= symbol.end_line <= n_lines, symbol
        assert symbol.name and len(symbol.signature) <= 400
        if symbol.parent >= 0:
            parent = found.symbols[symbol.parent]
            assert symbol.parent < index
            assert parent.start_line <= symbol.doc_line and symbol.end_line <= parent.end_line, (parent, symbol)
    for reference in found.references:
        assert 1 <= reference.line <= n_lines and reference.name
        assert -1 <= reference.scope < len(found.symbols)
    lines = [line for line, _ in found.cuts]
    assert lines == sorted(set(lines)) and all(1 <= line <= n_lines for line in lines)


@pytest.mark.parametrize("language", LANGUAGES)
def test_hostile_text_neither_raises_nor_takes_long(language: str) -> None:
    for name, text in HOSTILE.items():
        begin = time.perf_counter()
        check(text, language)
        assert time.perf_counter() - begin < 20, name


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=st.one_of(st.text(max_size=200), st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join)))
def test_any_text_gives_spans_within_it(language: str, text: str) -> None:
    check(text, language)


def test_an_unknown_language_still_has_its_paragraphs() -> None:
    assert read("a\nb\n\nc\n", "cobol").cuts == ((1, 0), (4, 0))


def test_a_language_whose_module_is_missing_has_no_reader() -> None:
    assert reader_for("no-such-language") is None


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("a.b", "b"),
        ("./x/Foo.vue", "Foo"),
        ("net/http", "http"),
        ("q.css", "q"),
        ("@scope/pkg", "pkg"),
        ("std::fmt", "fmt"),
    ],
)
def test_a_module_is_named_by_its_last_part(module: str, name: str) -> None:
    assert module_name(module) == name


def test_only_long_units_are_cut_inside() -> None:
    short = "def f():\n" + "    x = 1\n" * 5
    long = "def f():\n" + "    if a:\n        b()\n        c()\n" * 12
    assert read(short, "python").cuts == ((1, 0),)
    cuts = read(long, "python").cuts
    assert cuts[:4] == ((1, 0), (2, 1), (3, 2), (4, 2))
    assert len(cuts) == 37


def test_parsing_twice_gives_the_same() -> None:
    text = "class A:\n    def f(self):\n        return g(self)\n"
    assert read(text, "python") == read(text, "python")
