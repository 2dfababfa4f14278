"""The check, over a real folder and a real git history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from devmind.errors import UsageError
from devmind.evaluate.datasets.check import Problem, check, fixed, recorded
from devmind.evaluate.datasets.sources import Sources, UnavailableCode
from devmind.evaluate.types import Annotation, Span, Topic, Truth

PRICE = Truth(Span("shop/cart.py", 18, 20), symbol="price_of")
GOOD = Topic("good", "Where is what an item costs looked up?", "API location", (PRICE,), "shop")


def kinds(problems: list[Problem]) -> list[tuple[str, str, str]]:
    return [(problem.kind, problem.topic_id, problem.field) for problem in problems]


def with_span(start: int, end: int, file: str = "shop/cart.py", text: str = "") -> Topic:
    return replace(GOOD, truths=(Truth(Span(file, start, end), text=text),))


@pytest.mark.parametrize(("topic", "expected"), [
    (GOOD, []),
    (replace(GOOD, topic_id=""), [("empty_id", "", "topic_id")]),
    (replace(GOOD, query="  "), [("empty_query", "good", "query")]),
    (replace(GOOD, truths=()), [("no_truth", "good", "truths")]),
    (replace(GOOD, truths=(), status="pending"), []),
    (replace(GOOD, truths=(), category="trap"), []),
    (replace(GOOD, category="trap"), [("trap_with_truths", "good", "truths")]),
    (with_span(20, 18), [("reversed_span", "good", "truths[0].start_line")]),
    (with_span(0, 18), [("bad_lines", "good", "truths[0].start_line")]),
    (with_span(1, 2, "../x.py"), [("bad_path", "good", "truths[0].file")]),
    (with_span(1, 2, "shop/none.py"), [("missing_path", "good", "truths[0].file")]),
    (with_span(18, 21), [("missing_lines", "good", "truths[0].end_line")]),
    (with_span(13, 14), [("part_of_unit", "good", "truths[0].end_line")]),
    (replace(with_span(13, 14), labels={"waive": "leak, part_of_unit"}), []),
    (replace(GOOD, truths=(replace(PRICE, core=(1, 2)),)), [("core_outside", "good", "truths[0].core")]),
    (replace(GOOD, query="What does price_of do?"), [("leak", "good", "labels.leak")]),
    (replace(GOOD, query="What does price_of do?", labels={"leak": "symbol"}), []),
    (replace(GOOD, labels={"leak": "file"}), [("leak", "good", "labels.leak")]),
    (replace(GOOD, repo="other"), [("no_source", "good", "repo")]),
    (with_span(1, 2, "logo.png"), [("missing_path", "good", "truths[0].file")]),
])  # fmt: skip
def test_one_problem_at_a_time(shop: Path, topic: Topic, expected: list[tuple[str, str, str]]) -> None:
    found = [problem for problem in check([topic], Sources({"shop": shop})) if not problem.waived]
    assert kinds(found) == expected


def test_ids_and_queries_that_repeat() -> None:
    again = replace(GOOD, query="Where is what the item costs looked up")
    elsewhere = replace(again, topic_id="e", repo="other")
    other = replace(GOOD, topic_id="o", query="How is the sum of a purchase made?")
    zh = Topic("z1", "密码输错几次会锁定账号？", "x", (Truth(Span("shop/login.py")),), "shop")
    template = replace(zh, topic_id="z2", query="密码输错多少次会锁定账号", truths=(Truth(Span("a.py")),))
    assert kinds(check([GOOD, again, elsewhere, other])) == [
        ("duplicate_id", "good", "topic_id"),
        ("near_duplicate", "good", "query"),
    ]
    assert kinds(check([zh, replace(zh, topic_id="z3", query="密码输错多少次会锁定账号")])) == [
        ("near_duplicate", "z3", "query")
    ]
    assert check([zh, template]) == []  # much alike, but about other code: a template


def test_a_repository_that_is_not_at_hand_is_reported_once(shop: Path) -> None:
    lost = [replace(GOOD, topic_id=f"t{n}", repo="other", query=f"{n} " * n) for n in range(1, 4)]
    assert kinds(check([*lost, GOOD], Sources({"shop": shop}))) == [("no_source", "t1", "repo")]
    assert kinds(check([GOOD], Sources({"": shop}))) == []
    assert kinds(check([GOOD], Sources({}, root=shop.parent))) == [("no_source", "good", "repo")]
    assert kinds(check([replace(GOOD, repo="shop-src")], Sources({}, root=shop.parent))) == []


def test_moved_code_is_found_again(shop: Path) -> None:
    sources = Sources({"": shop})
    (topic,) = recorded([replace(GOOD, truths=(replace(PRICE, core=(20, 20)),))], sources)
    assert topic.truths[0].text.startswith("def price_of(item):\n")
    assert check([topic], sources) == []

    cart = shop / "shop/cart.py"
    cart.write_text("import decimal\r\n\r\n" + cart.read_text(encoding="utf-8"), encoding="utf-8")
    (problem,) = check([topic], Sources({"": shop}))
    assert (problem.kind, problem.span) == ("moved", Span("shop/cart.py", 20, 22))
    ((after,), n_fixed) = fixed([topic], [problem])
    assert n_fixed == 1
    assert (after.truths[0].span, after.truths[0].core) == (Span("shop/cart.py", 20, 22), (22, 22))
    assert check([after], Sources({"": shop})) == []

    cart.rename(shop / "shop/basket.py")
    sources = Sources({"": shop})
    (problem,) = check([topic], sources, files=sources.files)
    assert (problem.kind, problem.span) == ("moved", Span("shop/basket.py", 20, 22))
    assert [one.kind for one in check([topic], sources)] == ["lost"]  # nobody said where else to look

    (shop / "shop/copy.py").write_text((shop / "shop/basket.py").read_text(encoding="utf-8"), encoding="utf-8")
    sources = Sources({"": shop})
    (problem,) = check([topic], sources, files=sources.files)
    assert (problem.kind, problem.span) == ("lost", None)
    assert "2 places hold them" in problem.message
    assert fixed([topic], [problem])[0][0].truths == topic.truths


def test_changed_code_is_offered_and_followed_only_when_asked(shop: Path) -> None:
    (topic,) = recorded([GOOD], Sources({"": shop}))
    cart = shop / "shop/cart.py"
    text = cart.read_text(encoding="utf-8").replace("    return item.price", "    return item.cost()")
    cart.write_text("import decimal\n" + text, encoding="utf-8")
    sources = Sources({"": shop})
    (problem,) = check([topic], sources, files=sources.files)
    assert (problem.kind, problem.span) == ("changed", Span("shop/cart.py", 19, 21))
    assert fixed([topic], [problem])[1] == 0
    ((after,), n_fixed) = fixed([topic], [problem], with_changed=True)
    assert (n_fixed, after.truths[0].span) == (1, Span("shop/cart.py", 19, 21))
    assert after.truths[0].text.endswith("return item.cost()")
    assert after.truths[0].symbol == "price_of"
    assert check([after], sources) == []


def test_fixing_sets_the_leak_of_every_labelled_topic(shop: Path) -> None:
    named = replace(GOOD, topic_id="n", query="What does price_of do?")
    waived = replace(named, topic_id="w", labels={"waive": "leak"})
    trap = replace(GOOD, topic_id="t", truths=(), category="trap")
    after, n_fixed = fixed([GOOD, named, waived, trap], check([GOOD, named, waived, trap]))
    assert [topic.labels.get("leak") for topic in after] == ["none", "symbol", None, None]
    assert n_fixed == 1


def test_a_git_history(shop: Path, git: Callable[..., str]) -> None:
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        git(shop, *command)
    one = git(shop, "rev-parse", "HEAD")
    cart = shop / "shop/cart.py"
    text = cart.read_text(encoding="utf-8")
    cart.write_text("# 商店\n" + text, encoding="utf-8")
    git(shop, "mv", "shop/login.py", "shop/signin.py")
    git(shop, "commit", "-qam", "two")
    cart.write_text("uncommitted", encoding="utf-8")

    topic = replace(GOOD, commit=one)
    login = Topic("login", "How are wrong tries counted?", "x", (Truth(Span("shop/login.py", 4, 8)),), "shop", one)
    now = Sources({"": shop}, at="HEAD")
    then = Sources({"": shop})
    assert check([topic, login], then) == []
    found = check([topic, login], now, files=now.files, old_texts=then)
    assert [(one.kind, one.span) for one in found] == [
        ("moved", Span("shop/cart.py", 19, 21)), ("moved", Span("shop/signin.py", 4, 8)),
    ]  # fmt: skip
    assert now.commit("shop", one) == git(shop, "rev-parse", "HEAD")
    assert then("shop", one, "shop/cart.py") == text
    assert then("shop", "", "shop/cart.py") == "uncommitted"
    assert then("shop", one, "no.py") is None
    assert set(then.files("shop", one, ".py")) == {"shop/cart.py", "shop/login.py", "tests/test_cart.py"}
    with pytest.raises(UnavailableCode, match="has no commit 'f00d'; fetch it"):
        then("shop", "f00d", "shop/cart.py")
    assert kinds(check([replace(GOOD, commit="f00d")], then)) == [("no_source", "good", "repo")]
    below = Sources({"": shop / "shop"})
    assert below("shop", one, "cart.py") == text
    assert below("shop", one, "README.md") is None
    assert set(below.files("shop", one, ".py")) == {"cart.py", "login.py"}
    assert set(Sources({"": shop / "shop"}).files("shop", "", ".py")) == {"cart.py", "signin.py"}


def test_a_source_must_be_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the source .*none of 'shop' is not a folder"):
        Sources({"shop": tmp_path / "none"})


def test_a_changed_definition_is_followed_by_its_name_and_takes_annotations_along(shop: Path) -> None:
    code = Sources({"shop": shop})
    truth = replace(PRICE, core=(20, 20))
    (topic,) = recorded([replace(GOOD, truths=(truth,), annotations=(Annotation("ana", (PRICE,)),))], code)
    cart = shop / "shop/cart.py"
    rewritten = """
    found = SALE.get(item, item.price)
    if found < 0:
        raise ValueError(found)
    return found
"""
    cart.write_text(cart.read_text(encoding="utf-8").replace("\n    return item.price\n", rewritten), encoding="utf-8")
    moved = Sources({"shop": shop})
    (problem,) = check([topic], moved)
    assert (problem.kind, problem.span) == ("changed", Span("shop/cart.py", 18, 23))
    (after,), n_fixed = fixed([topic], [problem], with_changed=True)
    assert (n_fixed, check([after], moved)) == (1, [])
    assert after.annotations[0].truths[0].span == Span("shop/cart.py", 18, 23)
    cart.write_text(cart.read_text(encoding="utf-8").replace("def price_of", "def cost_of"), encoding="utf-8")
    assert [one.kind for one in check([topic], Sources({"shop": shop}))] == ["changed"]  # by likeness alone
