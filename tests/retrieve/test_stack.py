"""Frames and faults in the notations of many languages."""

import pytest

from devmind.retrieve.stack import NO_STACK, Frame, Raised, is_frame, read_stack

PYTHON = """Traceback (most recent call last):
  File "/srv/app/shop/main.py", line 3, in <module>
    total(1)
  File "/srv/app/shop/cart.py", line 12, in total
    return price(x)
ValueError: bad price 3
"""


@pytest.mark.parametrize(
    ("text", "frames"),
    [
        (PYTHON, [("/srv/app/shop/cart.py", 12, "total"), ("/srv/app/shop/main.py", 3, "")]),
        ("shop/main.py:3: in run\n    x()\nshop/cart.py:12: in total\n", [
            ("shop/cart.py", 12, "total"), ("shop/main.py", 3, "run")]),
        ("java.lang.Error: x\n\tat com.acme.Cart.total(Cart.java:12)\n\tat com.acme.Main$1.run(Main.kt:3)", [
            ("com/acme/Cart.java", 12, "total"), ("com/acme/Main.kt", 3, "run")]),
        ("   at Shop.Cart.Total(Int32 n) in C:\\src\\Shop\\Cart.cs:line 12", [("C:/src/Shop/Cart.cs", 12, "Total")]),
        ("    at Cart.total (/app/cart.js:12:5)\n    at async run (file:///app/main.mjs:3:1)\n    at /app/x.ts:9:2", [
            ("/app/cart.js", 12, "total"), ("/app/main.mjs", 3, "run"), ("/app/x.ts", 9, "")]),
        ("render@http://localhost/static/app.js:10:7", [("/static/app.js", 10, "render")]),
        ("main.(*Cart).Total(0xc000010, 0x3)\n\t/srv/cart.go:12 +0x1d\nmain.main()\n\t/srv/main.go:8 +0x20", [
            ("/srv/cart.go", 12, "Total"), ("/srv/main.go", 8, "")]),
        ("   4: shop::cart::Cart::total\n             at ./src/cart.rs:12:5", [("./src/cart.rs", 12, "total")]),
        ("#0 /srv/shop/Main.php(9): Shop\\Cart->total()\n#1 {main}", [("/srv/shop/Main.php", 9, "")]),
        ("#0  total (n=1) at shop/cart.c:12\n#1 0x4f in Cart::sum(int) /s/cart.cpp:7:5", [
            ("shop/cart.c", 12, "total"), ("/s/cart.cpp", 7, "sum")]),
        ("\tfrom app/main.rb:3:in 'Shop#run'", [("app/main.rb", 3, "run")]),
        ("    (shop 1.0.0) lib/shop/cart.ex:12: Shop.Cart.total/1", [("lib/shop/cart.ex", 12, "total")]),
        ("\tcart.lua:12: in function 'total'", [("cart.lua", 12, "total")]),
    ],
)  # fmt: skip
def test_frames_innermost_first(text: str, frames: list[tuple[str, int, str]]) -> None:
    assert read_stack(text).frames == tuple(Frame(*frame) for frame in frames)


@pytest.mark.parametrize(
    ("text", "raised"),
    [
        (PYTHON, [("ValueError", "bad price 3")]),
        ("E   shop.errors.CartError: no cart", [("CartError", "no cart")]),
        ("Exception in thread \"main\" a.b.FirstException: one\nCaused by: a.b.SecondException: two", [
            ("SecondException", "two"), ("FirstException", "one")]),
        ("panic: runtime error: index out of range", [("", "runtime error: index out of range")]),
        ("PHP Fatal error:  Uncaught RuntimeException: no cart", [("RuntimeException", "no cart")]),
        ("** (RuntimeError) no cart", [("RuntimeError", "no cart")]),
        ("a ValueError is raised when the price is bad", []),
        ("The method throws, see cart.py: line", []),
    ],
)  # fmt: skip
def test_what_was_raised_last_first(text: str, raised: list[tuple[str, str]]) -> None:
    assert read_stack(text).raised == tuple(Raised(*one) for one in raised)


def test_the_last_of_chained_traces_comes_first() -> None:
    chained = PYTHON + PYTHON.replace("cart.py", "order.py").replace("ValueError", "OrderError")
    found = read_stack(chained)
    assert [frame.path.rpartition("/")[2] for frame in found.frames] == ["order.py", "main.py", "cart.py"]
    assert [fault.kind for fault in found.raised] == ["OrderError", "ValueError"]


@pytest.mark.parametrize(
    "line", ["version 3.8.1 of the package", "where is cart.py read?", "see https://docs.example.org/a.html", "x" * 600]
)
def test_prose_is_no_frame(line: str) -> None:
    assert not is_frame(line)
    assert read_stack(line) == NO_STACK


def test_marks_before_a_path_are_no_part_of_it() -> None:
    assert [frame.path for frame in read_stack("--- shop/cart.py:12: in total").frames] == ["shop/cart.py"]
    assert read_stack("shop/cart:12: in total").frames == ()
