"""Queries that point at code, put to an indexed repository: traces, places, quotations, messages."""

from __future__ import annotations

import pytest

from devmind.service import Service
from devmind.settings import Settings
from devmind.types import Filters
from tests.indexed import index_files

CONVERT = '''"""Amounts in other currencies."""

RATES = {}


def rate_of(currency):
    if currency not in RATES:
        raise LookupError("no rate is known for %s, ask the %s bank" % (currency, "central"))
    return RATES[currency]


def convert(amount, currency):
    return amount * rate_of(currency)
'''
FILES = {
    "backend/shop/convert.py": CONVERT,
    "backend/shop/checkout.py": '''"""Checkout."""
from shop.convert import convert


def pay(cart, currency):
    """Charge the customer."""
    return charge(convert(cart.total, currency))


def charge(amount):
    print("the amount was charged")
    return amount
''',
    "backend/shop/errors.py": "class CheckoutError(Exception):\n    code = 'checkout failed, cart 7'\n",
    "src/main/java/com/acme/Cart.java": (
        "package com.acme;\n\nclass Cart {\n    int total(int n) {\n"
        '        throw new IllegalStateException("Cart " + n + " is closed for orders");\n    }\n}\n'
    ),
    "web/cart.ts": (
        "export class Cart {\n  total(id: string): number {\n"
        "    throw new Error(`cannot sum up cart ${id} of this customer`);\n  }\n}\n"
    ),
    "cmd/main.go": "package main\n\nfunc Total(n int) int {\n\treturn n / 0\n}\n",
    "lib/json/decoder.py": "def decode(text):\n    return scan(text)\n\n\ndef scan(text):\n    return text\n",
    "docs/notes.md": "# Notes\n\nRates, currencies, amounts, checkout, charge, cart, customer, total, orders.\n",
} | {
    f"backend/other/module_{n}.py": f"def work_{n}(rate, currency, amount, cart, total):\n    return rate + {n}\n"
    for n in range(30)
}  # fmt: skip


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return Service(Settings(home=index_files(tmp_path_factory.mktemp("shop"), FILES)))


TRACES = {
    "python": """Paying fails for gold
Traceback (most recent call last):
  File "/srv/app/shop/checkout.py", line 7, in pay
    return charge(convert(cart.total, currency))
  File "/srv/app/shop/convert.py", line 9, in rate_of
    raise LookupError(currency)
  File "/usr/lib/python3.12/json/decoder.py", line 2, in loads
    return scan(text)
  File "/usr/lib/python3.12/encodings/utf_8.py", line 16, in decode
    return codecs.utf_8_decode(input)
LookupError: XAU
""",
    "java": """java.lang.IllegalStateException: closed
	at com.acme.Cart.total(Cart.java:5)
	at java.base/java.util.ArrayList.forEach(ArrayList.java:1511)
""",
    "javascript": """Error: no
    at Cart.total (/app/web/cart.ts:3:11)
    at Module._compile (node:internal/modules:1:1)
""",
    "go": """panic: runtime error: integer divide by zero

goroutine 1 [running]:
main.Total(...)
	/x/cmd/main.go:4
""",
}


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("python", ("backend/shop/convert.py", "rate_of")),
        ("java", ("src/main/java/com/acme/Cart.java", "int total")),
        ("javascript", ("web/cart.ts", "total(id")),
        ("go", ("cmd/main.go", "Total")),
    ],
)
def test_the_innermost_frame_of_ones_own_code_comes_first(
    service: Service, language: str, expected: tuple[str, str]
) -> None:
    hit = service.search(TRACES[language]).hits[0]
    assert hit.path == expected[0]
    assert expected[1] in f"{hit.symbol} {hit.content}"
    assert hit.why["pointed"] == 1


def test_frames_of_libraries_and_of_moved_lines(service: Service) -> None:
    """A function is found by its name when the file has changed since; what is not in the repository is passed over."""
    trace = service.trace('  File "/a/shop/convert.py", line 900, in rate_of\nKeyError: 1', legs=False)
    pointed = trace.ranking.features["pointed"]
    assert pointed[0] == 1
    assert trace.hits[0].path == "backend/shop/convert.py"
    library = '  File "/usr/lib/python3.12/zipfile.py", line 3, in run\nKeyError: 1'
    elsewhere = service.trace(library, legs=False)
    assert not elsewhere.ranking.features["pointed"].any()


@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        ("what happens in backend/shop/convert.py:13", "backend/shop/convert.py", 13),
        ("checkout.py#L5-L7", "backend/shop/checkout.py", 6),
        ("web/cart.ts(3)", "web/cart.ts", 3),
        ("look at line in cmd/main.go:4 for the total", "cmd/main.go", 4),
    ],
)
def test_the_chunk_that_holds_the_line_comes_first(service: Service, query: str, path: str, line: int) -> None:
    hit = service.search(query).hits[0]
    assert hit.path == path
    assert hit.start_line <= line <= hit.end_line


def test_a_file_that_is_named_is_found_whatever_the_words(service: Service) -> None:
    trace = service.trace("zzz qqq cmd/main.go", k=3)
    assert trace.hits[0].path == "cmd/main.go"
    assert len(trace.legs["pointed"].rows) > 0


@pytest.mark.parametrize(
    ("query", "path", "text"),
    [
        ('where is "the amount was charged" printed', "backend/shop/checkout.py", "the amount was charged"),
        ("`amount * rate_of(currency)`", "backend/shop/convert.py", "amount * rate_of(currency)"),
        ("“checkout failed, cart 7”", "backend/shop/errors.py", "checkout failed, cart 7"),
    ],
)
def test_a_quotation_is_found_as_it_stands(service: Service, query: str, path: str, text: str) -> None:
    hit = service.search(query).hits[0]
    assert hit.path == path
    assert text in hit.content
    assert hit.why["pointed"] > 0.9


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("LookupError: no rate is known for XAU, ask the central bank", "backend/shop/convert.py"),
        ("Error: cannot sum up cart 12 of this customer\n    at x (/nowhere/lib.js:1:1)", "web/cart.ts"),
        ('users see "cannot sum up cart 99 of this customer"', "web/cart.ts"),
        ("IllegalStateException: Cart 42 is closed for orders", "src/main/java/com/acme/Cart.java"),
    ],
)
def test_a_message_is_found_where_it_is_made(service: Service, query: str, path: str) -> None:
    hit = service.search(query).hits[0]
    assert hit.path == path
    assert hit.why["pointed"] > 0


def test_filters_hold_for_what_is_pointed_at(service: Service) -> None:
    hits = service.search("backend/shop/convert.py:9", filters=Filters(paths=("docs/*",))).hits
    assert {hit.path for hit in hits} <= {"docs/notes.md"}


def test_questions_without_such_things_point_at_nothing(service: Service) -> None:
    assert len(service.trace("how is an amount converted").legs["pointed"].rows) == 0
