"""The page in a browser: what it draws, sorts, filters and opens, and that nothing in it runs or is loaded.

Needs Chromium (`apt-get install chromium`). In continuous integration its absence is a failure, never a skip.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from devmind.evaluate.report import Report
from devmind.evaluate.report.html import report_html
from tests.evaluate.report.conftest import HOSTILE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("no Chromium: install it (apt-get install chromium), so that the page is tested")
        pytest.skip("no Chromium here")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def opened(build: Callable[..., Report], browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Open the report's page; at the end, it must have told no fault and asked for no address but its own."""
    contexts, faults, addresses = [], [], []

    def run(*, with_baseline: bool = True, theme: str = "light", width: int = 1280, long_query: str = "") -> Any:
        file = tmp_path / "report.html"
        file.write_text(report_html(build(with_baseline=with_baseline, long_query=long_query)), encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: faults.append(dialog.message))
        page.on("request", lambda request: addresses.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")
        return page

    yield run
    for context in contexts:
        for page in context.pages:
            assert page.evaluate("window.pwned") is None
        context.close()
    assert faults == []
    assert all(address.startswith("file://") and address.endswith("report.html") for address in addresses)


def open_topic(page: Any, topic_id: str) -> Any:
    topic = page.locator(f".topic[data-id={topic_id}]")
    unfold(topic)
    return topic


def unfold(topic: Any) -> None:
    topic.locator("> summary").click()
    topic.locator("> :not(summary)").first.wait_for()  # it is filled a moment after it opens


def test_hits_are_marked_against_the_truth(opened: Callable[..., Any]) -> None:
    topic = open_topic(opened(), "lost")
    old, new = topic.locator(".systems > div").all()
    assert old.locator(".hit.found").count() == 1
    assert new.locator(".hit.found").count() == 0
    marked = old.locator("pre .truth")
    assert [line.get_attribute("data-line") for line in marked.all()] == ["11", "12", "14", "15"]
    assert marked.first.inner_text() == "    return item.price  # <b>not bold</b>"
    assert old.locator("pre .weak").count() == 2
    truths = topic.locator(".truths li").all_inner_texts()
    assert "shop/cart.py:11–12" in truths[0] and "rank 1" in truths[0] and "not found" in truths[0]


def test_hostile_text_is_shown_and_does_nothing(opened: Callable[..., Any]) -> None:
    page = opened()
    unfold(page.locator(".topic").last)
    body = page.locator(".topic").last.inner_text()
    assert HOSTILE in body
    assert page.locator("img, svg, iframe").count() == 0
    assert page.evaluate("document.title").startswith("old </script>")
    for element in page.locator(".topic").all()[:-1]:
        unfold(element)
    assert "broken " + HOSTILE in page.locator(".topic[data-id=failed]").inner_text()
    page.locator("#groups [data-grouping=repo]").click()
    assert HOSTILE in page.locator("[data-group=repo]").inner_text()


def test_topics_are_found_filtered_and_ordered(opened: Callable[..., Any]) -> None:
    page = opened()

    def ids() -> list[str]:
        return [element.get_attribute("data-id") for element in page.locator(".topic").all()]

    assert len(ids()) == 9
    page.locator("[data-filter=text]").fill("密码")
    assert ids() == ["won"]
    page.locator("[data-filter=text]").fill("CART.PY")
    assert ids() == ["won", "lost", "failed", "absent"]
    page.locator("[data-filter=text]").fill("")
    by_state = {"failed": ["failed", "absent"], "missed": ["lost"], "lost": ["lost"], "won": ["won"], "traps": ["trap"]}
    for state, expected in by_state.items():
        page.locator("[data-filter=state]").select_option(state)
        assert ids() == expected
        assert page.locator(".count").inner_text() == f"{len(expected)} of 9 topics"
    page.locator("[data-filter=state]").select_option("all")
    page.locator("[data-filter=category]").select_option("API location")
    page.locator("[data-filter=order]").select_option("lost")
    assert ids()[0] == "lost"


def test_nothing_offers_more_topics_than_there_are(opened: Callable[..., Any]) -> None:
    assert opened().locator("button.more").is_hidden()


def test_the_lists_of_wins_and_losses_lead_to_the_topic(opened: Callable[..., Any]) -> None:
    page = opened()
    page.locator("[data-filter=text]").fill("nothing holds this")
    # By its key, not by a point: charts that come into view are drawn then, and move what lies below a pointer.
    page.locator(".moved").first.locator("a").first.press("Enter")
    assert page.locator(".topic[data-id=lost]").get_attribute("open") is not None


def test_tables_sort_by_any_column_with_the_undefined_last(opened: Callable[..., Any]) -> None:
    page = opened()
    head = page.locator("#measures th").nth(2)

    def means() -> list[float]:
        cells = page.locator("#measures tbody tr td:nth-child(3)").all()
        return [float(cell.get_attribute("data-value")) for cell in cells]

    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert means() == sorted(means(), reverse=True)
    head.locator("button").click()
    assert means() == sorted(means())
    page.locator("#comparison th").first.locator("button").click()
    names = page.locator("#comparison tbody tr td:first-child").all_inner_texts()
    assert names == sorted(names, key=str.lower, reverse=True)


def test_groups_change_with_tab_and_measure(opened: Callable[..., Any]) -> None:
    page = opened()
    chart = page.locator("#group-chart")
    chart.scroll_into_view_if_needed()
    page.wait_for_selector("#group-chart canvas")
    pixels = "document.querySelector('#group-chart canvas').toDataURL()"
    first = page.evaluate(pixels)
    page.locator("#group-measure").select_option("hit@5")
    second = page.evaluate(pixels)
    page.locator("[data-grouping=language]").click()
    assert len({first, second, page.evaluate(pixels)}) == 3
    assert page.locator("[data-group=language]").is_visible()
    assert page.locator("[data-group=category]").is_hidden()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_and_is_readable(opened: Callable[..., Any], theme: str, width: int) -> None:
    page = opened(theme=theme, width=width)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert contrast(page, "body") > 7
    for selector in (".dim", ".verdict", "td.num", ".note", ".tags", "#theme"):
        assert contrast(page, selector) > 4.5, selector
    for chart in page.locator(".chart").all():
        chart.scroll_into_view_if_needed()
    page.wait_for_function("document.querySelectorAll('.chart canvas').length >= 3")


def test_the_theme_can_be_chosen(opened: Callable[..., Any]) -> None:
    page = opened(theme="light")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#theme").click()
    assert page.locator("#theme").inner_text() == "Light"
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == before


def test_one_run_alone_has_no_comparison(opened: Callable[..., Any]) -> None:
    page = opened(with_baseline=False)
    assert page.locator("#comparison").count() == 0
    assert page.locator("[data-filter=state] option[value=lost]").count() == 0
    open_topic(page, "lost")


def contrast(page: Any, selector: str) -> float:
    """Return the contrast of an element's text with what lies behind it (WCAG 2)."""
    return float(page.evaluate(
        """(selector) => {
          const element = document.querySelector(selector);
          const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
          let behind = element, back = [0, 0, 0, 0];
          while (behind && (back.length === 4 && back[3] === 0)) {
            back = rgb(getComputedStyle(behind).backgroundColor);
            behind = behind.parentElement;
          }
          const light = (colour) => colour.slice(0, 3).map((v) => v / 255)
            .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
          const [a, b] = [light(rgb(getComputedStyle(element).color)), light(back)].sort((x, y) => y - x);
          return (a + 0.05) / (b + 0.05);
        }""", selector,
    ))  # fmt: skip


def test_a_question_of_a_megabyte_does_not_stop_the_browser(opened: Callable[..., Any]) -> None:
    page = opened(width=390, long_query="配置 " * 200_000)
    page.set_default_timeout(20_000)
    topic = open_topic(page, "won")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert 500 < len(topic.locator(".query").inner_text()) <= 600
    assert 1_000 < len(topic.locator(".body > .answer").inner_text()) <= 20_000
