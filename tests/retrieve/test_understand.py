"""What is made of a question's text before anything is searched."""

from __future__ import annotations

import pytest

from devmind.index.lexical import idf
from devmind.index.terms import terms
from devmind.retrieve.intent import defined_name, intent_of
from devmind.retrieve.long_text import LAST, MAX_TERMS, TITLE, in_short, is_boilerplate, telling
from devmind.retrieve.paths import Place, lines_told, meant, places
from devmind.retrieve.query import understand
from devmind.retrieve.quoted import literals, share_made

REPORT = """Cart total is wrong when a coupon expires

### Steps to reproduce
- [x] I searched for duplicates
Python version: 3.12.1
When the coupon of a customer expires between two requests, the amount that the checkout shows differs from what is
charged later. I would expect both to round alike. It only happens with several currencies, and the invoices then hold
the amount before conversion, while emails, receipts and exports hold the converted one, which confuses accountants.
Traceback (most recent call last):
  File "/srv/app/shop/cart.py", line 12, in total
    return convert(amount)
CurrencyError: no rate for XAU
https://example.org/shop/issues/1
"""


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("who calls price_of?", "callers"),
        ("哪里调用了 price_of", "callers"),
        ("where is the cart stored", "where"),
        ("购物车存在哪里", "where"),
        ("why is the total rounded", "why"),
        ("为什么要取整", "why"),
        ("how does checkout work", "how"),
        ("如何结账", "how"),
        ("overall architecture of the shop", "architecture"),
        ("how is the project structured", "architecture"),
        ("这个项目的整体架构是什么", "architecture"),
        ("price_of", "what"),
    ],
)
def test_intent(question: str, intent: str) -> None:
    assert intent_of(question) == intent


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Where is check defined?", "check"),
        ("where is the method Config.from_object declared", "Config.from_object"),
        ("What does `get_source` do?", "get_source"),
        ("What does untag do?", "untag"),
        ("Where is get_source implemented?", "get_source"),
        ("Show me the definition of ns::load.", "ns::load"),
        ("from_object 在哪里定义?", "from_object"),
        ("这个函数 from_object 在哪里", "from_object"),
        ("方法 from_object 是做什么的?", "from_object"),
        ("Where is authentication implemented?", ""),
        ("What is caching?", ""),
        ("What does the server do?", ""),
        ("What does get_source do with a missing template?", ""),
        ("Where is the Redis key of get_source defined?", ""),
        ("What does get_source return?", ""),
        ("缓存在哪里定义?", ""),
    ],
)
def test_the_one_name_whose_definition_is_asked_for(question: str, name: str) -> None:
    assert defined_name(question) == name


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("see src/a/b.py:120 for it", Place("src/a/b.py", 120, 120)),
        ("foo.go#L10-L20", Place("foo.go", 10, 20)),
        ("b.ts:3-9", Place("b.ts", 3, 9)),
        ('File "x/y.py", line 3', Place("x/y.py", 3, 3)),
        ("cart.php on line 12", Place("cart.php", 12, 12)),
        ("shop\\cart.cs(7)", Place("shop/cart.cs", 7, 7)),
        ("what does shop/cart.py do", Place("shop/cart.py")),
    ],
)
def test_places(text: str, place: Place) -> None:
    assert places(text) == (place,)


def test_the_lines_of_one_file_that_a_text_tells() -> None:
    frames = 'File "/x/shop/cart.py", line 12, in add\nFile "/x/shop/cart.py", line 40-44, in put'
    text = f"{frames}; other.py:3, shop/cart.py#L7"
    assert lines_told(text, "src/shop/cart.py") == [12, 40, 7]
    assert lines_told(text, "src/other.py") == [3]
    assert lines_told("cart.py is slow", "shop/cart.py") == []


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("cart.py", [0, 1]),
        ("shop/cart.py", [0]),
        ("/srv/app/backend/shop/cart.py", [0]),
        ("/app/shop/cart.py", [0]),
        ("/other/cart.py", []),
        ("/usr/lib/python3.12/setup.py", []),
        ("/work/setup.py", [2]),
        ("SHOP/Cart.py", [0]),
        ("nothing.py", []),
    ],
)
def test_the_files_that_a_path_means(path: str, found: list[int]) -> None:
    by_name = {"cart.py": [(0, "backend/shop/cart.py"), (1, "lib/cart.py")], "setup.py": [(2, "setup.py")]}
    assert meant(path, by_name) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('where is "cannot open file" raised', ("cannot open file",)),
        ("it's 'not a cart' that I don't want", ("not a cart",)),
        ("find `x = y + 1` please", ("x = y + 1",)),
        ("“no such user” or 「无此用户」", ("no such user", "无此用户")),
        ('the class "Cart" and `price_of`', ()),
        ("don't and can't", ()),
    ],
)
def test_what_is_quoted(text: str, found: tuple[str, ...]) -> None:
    assert literals(text) == found


@pytest.mark.parametrize(
    ("code", "least", "most"),
    [
        ('raise CartError("no rate for %s in cart %d" % (a, b))', 0.6, 1),
        ('raise CartError(f"no rate for {currency} in cart {cart.id!r}")', 0.6, 1),
        ("throw new Error(`no rate for ${currency} in cart ${id}`)", 0.6, 1),
        ('fmt.Errorf("no rate for %s " + "in cart %v", a, b)', 0.6, 1),
        ('raise CartError("no rate for XAU in cart 42")', 1, 1),
        ('raise CartError("no tax for %s in cart %d")', 0, 0),
        ('log("%s: %s")', 0, 0),
    ],
)
def test_a_message_matches_around_placeholders(code: str, least: float, most: float) -> None:
    assert least <= share_made(code, "no rate for XAU in cart 42") <= most


def test_a_long_text_is_cut_to_its_telling_terms() -> None:
    df = {"cart": 50, "coupon": 3, "expir": 5, "amount": 100, "version": 2}
    query = understand(REPORT, df=lambda term: df.get(term, 20), n_chunks=1000)
    assert len(query.weights) == MAX_TERMS
    first = next(iter(query.weights))
    assert first == "coupon"
    assert query.weights[first] == TITLE
    assert LAST / 2 <= min(query.weights.values()) < 1
    assert "srv" not in list(query.weights)[:10]


def test_terms_of_the_title_weigh_more_and_those_that_are_nowhere_go() -> None:
    text = "alpha beta\n" + " ".join(f"w{chr(97 + n // 26)}{chr(97 + n % 26)}q" for n in range(60))
    weights = dict.fromkeys(terms(text), 1.0)
    found = telling(text, weights, lambda term: 0.0 if term == "beta" else idf(5, 100))
    assert next(iter(found)) == "alpha"
    assert "beta" not in found


def test_what_was_raised_weighs_most() -> None:
    text = "one thing\n" + " ".join(f"w{chr(97 + n // 26)}{chr(97 + n % 26)}q" for n in range(60)) + "\nRateError: gold"
    found = telling(text, dict.fromkeys(terms(text), 1.0), lambda _: 1.0)
    assert found["gold"] > found["one"] > found["waaq"]


def test_the_vector_reads_the_title_and_the_fault_first() -> None:
    told = in_short(REPORT).split("\n")
    assert told[:2] == ["Cart total is wrong when a coupon expires", "CurrencyError: no rate for XAU"]
    assert not any(word in line for word in ("Python", "duplicates", "File", "http") for line in told)


@pytest.mark.parametrize("line", ["### Description", "- [ ] done", "numpy==1.2.3", "OS: Linux", "```", "-----", "Hi!"])
def test_boilerplate(line: str) -> None:
    assert is_boilerplate(line)


@pytest.mark.parametrize("line", ["The version check fails", "def f(x): return x", "hints are ignored"])
def test_no_boilerplate(line: str) -> None:
    assert not is_boilerplate(line)
