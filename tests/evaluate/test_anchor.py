"""Text without lines finds its place, and labels follow code that moved."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devmind.errors import UsageError
from devmind.evaluate.anchor import align, locate, reanchor, unchanged, unmapped_share
from devmind.evaluate.haystack import Haystack
from devmind.evaluate.types import Response, Retrieved, Span, Truth

CART = """\
class Cart:
    def add(self, item, quantity=1):
        self.items[item] = self.items.get(item, 0) + quantity

    def total(self):
        prices = (price_of(item) * n for item, n in self.items.items())
        return sum(prices) * (1 + TAX_RATE)
"""
LOGIN = """\
def verify(user, password):
    # 校验用户密码
    if user.failures >= 3:
        raise PermissionError("locked")
    return user.check(password)
"""
FILES = {"shop/cart.py": CART, "shop/login.py": LOGIN}
TOTAL = "\n".join(CART.split("\n")[4:7])


def placed(piece: str, files: dict[str, str] = FILES, **options: object) -> tuple[Span, str] | None:
    found = locate(piece, Haystack(files), **options)  # type: ignore[arg-type]
    return (found.span, found.method) if found else None


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        pytest.param(TOTAL, (Span("shop/cart.py", 5, 7), "exact"), id="whole lines"),
        pytest.param(f"\n\n{TOTAL}\n\n", (Span("shop/cart.py", 5, 7), "exact"), id="blank lines around"),
        pytest.param("tems.get(item, 0) + quan", (Span("shop/cart.py", 3, 3), "exact"), id="cut inside lines"),
        pytest.param("quantity\n\n    def total(se", (Span("shop/cart.py", 3, 5), "exact"), id="across a blank line"),
        pytest.param(TOTAL.replace("    ", "\t"), (Span("shop/cart.py", 5, 7), "whitespace"), id="tabs"),
        pytest.param(" ".join(TOTAL.split()), (Span("shop/cart.py", 5, 7), "whitespace"), id="in one line"),
        pytest.param(TOTAL.replace("\n", "\r\n"), (Span("shop/cart.py", 5, 7), "whitespace"), id="carriage returns"),
        pytest.param("# 校验用户密码 if user.failures", (Span("shop/login.py", 2, 3), "whitespace"), id="Chinese"),
        pytest.param(
            TOTAL.replace("prices", "amounts") + "\n", (Span("shop/cart.py", 5, 7), "fuzzy"), id="a name changed"
        ),
        pytest.param("class Kitchen:\n    def bake(self, cake): ...", None, id="elsewhere"),
        pytest.param("   \n", None, id="blank"),
        pytest.param("", None, id="empty"),
    ],
)
def test_locate(piece: str, expected: tuple[Span, str] | None) -> None:
    assert placed(piece) == expected


def test_nothing_is_found_across_two_files() -> None:
    files = {"a.py": "first = compute_one()\n", "b.py": "second = compute_two()\n"}
    found = placed("first = compute_one()\nsecond = compute_two()", files)
    assert found is None or (found[0].file in files and found[1] == "fuzzy" and found[0].end_line == 1)


def test_a_short_piece_in_many_places_is_not_placed_by_chance() -> None:
    files = {"a.py": "x = 1\n", "b.py": "y = 2\nx = 1\n"}
    assert placed("x = 1", files) is None
    assert placed("y = 2", files) == (Span("b.py", 1, 1), "exact")
    assert placed("x = 1", files, file="b.py") == (Span("b.py", 2, 2), "exact")


def test_a_long_piece_in_many_places_is_counted() -> None:
    found = locate(TOTAL, Haystack({"b.py": CART, "a.py": CART + CART}))
    assert found is not None and (found.span, found.n_places) == (Span("a.py", 5, 7), 3)


def test_only_the_named_file_is_searched() -> None:
    assert placed(TOTAL, file="shop/cart.py") == (Span("shop/cart.py", 5, 7), "exact")
    assert placed(TOTAL, file="./shop/login.py") is None
    assert placed(TOTAL, file="gone.py") is None


def test_a_stricter_similarity_refuses_a_near_match() -> None:
    changed = TOTAL.replace("prices", "amounts")
    found = locate(changed, Haystack(FILES))
    assert found is not None and 0.7 <= found.similarity < 1
    assert placed(changed, min_similarity=found.similarity + 0.01) is None


def test_align_reports_how_hits_got_their_lines() -> None:
    hits = (
        Retrieved(Span("shop/cart.py", 1, 3), text="given, whatever it says"),
        Retrieved(None, text=TOTAL),
        Retrieved(Span("shop/login.py"), text=LOGIN.replace("    ", "  ")),
        Retrieved(Span("shop/login.py"), text="def nowhere_to_be_found_at_all(): pass"),
        Retrieved(Span("shop/login.py")),
        Retrieved(None, text="nothing like it in any file whatsoever"),
    )
    aligned = align(Response("q", hits), Haystack(FILES))
    assert [hit.span for hit in aligned.response.hits] == [
        Span("shop/cart.py", 1, 3),
        Span("shop/cart.py", 5, 7),
        Span("shop/login.py", 1, 5),
        Span("shop/login.py"),
        Span("shop/login.py"),
        None,
    ]
    assert aligned.n_by_method == {"given": 2, "exact": 1, "whitespace": 1, "unmapped": 2}
    assert aligned.unmapped_share == pytest.approx(1 / 3)
    assert unmapped_share({}) is None


@settings(deadline=None)
@given(
    st.lists(st.text("ab =\t\né校", max_size=12), min_size=1, max_size=6).map("\n".join),
    st.data(),
)
def test_the_lines_of_a_file_are_found_at_those_lines(text: str, data: st.DataObject) -> None:
    """Any run of whole lines is found exactly, at a place whose lines hold it."""
    lines = text.split("\n")
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first, len(lines) - 1))
    piece = "\n".join(lines[first : last + 1])
    places = list(Haystack({"f": text, "e": "other"}).exact(piece, file="f"))
    if piece.strip("\r\n"):
        assert places
    for span in places:
        assert piece.strip("\r\n") in "\n".join(lines[span.start_line - 1 : span.end_line])
    for span in Haystack({"f": text}).packed(piece):
        held = "".join("".join(lines[span.start_line - 1 : span.end_line]).split())
        assert "".join(piece.split()) in held


TRUTH = Truth(Span("shop/cart.py", 5, 7), core=(6, 6), text=TOTAL)


def test_a_truth_that_still_stands_is_left_alone() -> None:
    found = reanchor(TRUTH, Haystack(FILES))
    assert unchanged(TRUTH, Haystack(FILES))
    assert found is not None and found.truth == TRUTH and not found.moved


def test_a_truth_follows_lines_that_moved_down() -> None:
    moved = Haystack({"shop/cart.py": "import tax\n\n\n" + CART})
    found = reanchor(TRUTH, moved)
    assert not unchanged(TRUTH, moved)
    assert found is not None and found.moved and found.method == "exact"
    assert (found.truth.span, found.truth.core) == (Span("shop/cart.py", 8, 10), (9, 9))


def test_of_two_places_the_nearest_is_taken() -> None:
    found = reanchor(TRUTH, Haystack({"shop/cart.py": CART + CART.replace("class", "\nclass") + "\n" * 3}))
    assert found is not None and found.truth.span == Span("shop/cart.py", 5, 7)
    far = reanchor(Truth(Span("shop/cart.py", 14, 16), text=TOTAL), Haystack({"shop/cart.py": CART + "\n" + CART}))
    assert far is not None and far.truth.span == Span("shop/cart.py", 13, 15)


def test_a_truth_follows_to_another_file() -> None:
    found = reanchor(TRUTH, Haystack({"shop/basket.py": LOGIN + CART, "shop/cart.py": "# see basket.py\n"}))
    assert found is not None and found.truth.span == Span("shop/basket.py", 10, 12)


def test_a_truth_follows_edited_code_and_its_core_goes_along() -> None:
    edited = CART.replace("def total(self):", "def total(self, rate=TAX_RATE):").replace("1 + TAX_RATE", "1 + rate")
    found = reanchor(TRUTH, Haystack({"shop/cart.py": "# one more line\n" + edited}))
    assert found is not None and found.method == "fuzzy"
    assert (found.truth.span, found.truth.core) == (Span("shop/cart.py", 6, 8), (7, 7))
    assert found.truth.text.startswith("    def total(self, rate")


def test_a_core_that_is_gone_is_dropped() -> None:
    edited = CART.replace(
        "prices = (price_of(item) * n for item, n in self.items.items())", "prices = self.prices(item)"
    )
    found = reanchor(TRUTH, Haystack({"shop/cart.py": edited}), min_similarity=0.4)
    assert found is not None and found.truth.core is None


def test_a_truth_whose_code_is_gone_has_no_place() -> None:
    assert reanchor(TRUTH, Haystack({"shop/cart.py": LOGIN})) is None


def test_the_text_may_come_from_elsewhere() -> None:
    found = reanchor(Truth(Span("shop/cart.py", 1, 3)), Haystack(FILES), labelled=TOTAL)
    assert found is not None and found.truth.span == Span("shop/cart.py", 5, 7)


def test_without_text_there_is_nothing_to_follow() -> None:
    with pytest.raises(UsageError, match=r"shop/cart.py:1-3 has no labelled text"):
        reanchor(Truth(Span("shop/cart.py", 1, 3)), Haystack(FILES))
