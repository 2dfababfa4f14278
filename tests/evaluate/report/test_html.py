"""The page as text: it holds everything, loads nothing, and takes no text as markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import devmind.render
from devmind.evaluate.report import Report
from devmind.evaluate.report.html import report_html
from devmind.evaluate.report.markup import Markup, joined, tag
from tests.evaluate.report.conftest import CODE, HOSTILE

VENDOR = Path(devmind.render.__file__).parent / "vendor"


class Reader(HTMLParser):
    """Collects elements, visible text and scripts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "input"):
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        elif self.open and self.open[-1] != "style":
            self.text.append(data)


@pytest.fixture
def page(build: Callable[..., Report]) -> tuple[str, Reader]:
    text = report_html(build())
    reader = Reader()
    reader.feed(text)
    assert reader.open == []  # every element is closed, in order
    return text, reader


def unpacked(reader: Reader, name: str) -> Any:
    (packed,) = (text for attributes, text in reader.scripts if attributes.get("id") == name)
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def test_no_text_of_a_topic_is_markup(page: tuple[str, Reader]) -> None:
    text, reader = page
    assert HOSTILE not in text
    assert not {"img", "svg", "iframe", "object", "link", "base"} & {name for name, _ in reader.tags}
    assert not any(key.startswith("on") for _, attributes in reader.tags for key in attributes)
    assert HOSTILE in "".join(reader.text)  # it is shown, as text


def test_only_our_two_scripts_may_run_and_nothing_is_loaded(page: tuple[str, Reader]) -> None:
    _, reader = page
    (policy,) = (a["content"] for _, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    allowed = set(re.findall(r"'sha256-([^']+)'", policy))
    run = [text for attributes, text in reader.scripts if "type" not in attributes]
    assert {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in run} == allowed
    assert len(run) == 2
    addresses = [value for _, attributes in reader.tags for key, value in attributes.items() if key in ("src", "href")]
    assert addresses and all(value and value.startswith("#") for value in addresses)


def test_the_summary_reads_without_scripts(page: tuple[str, Reader]) -> None:
    said = " ".join(" ".join(page[1].text).split())
    expected = (
        "new against old", "nDCG@10", "http_500 1", "1 missing, 1 failed", "Lost most in", "Won most in", "95 %",
        "密码输错几次会锁定账号？", "code understanding", "dataset_hash", "1 topic pending or rejected",
    )  # fmt: skip
    assert [text for text in expected if text not in said] == []


def test_the_data_holds_hits_truths_and_code(page: tuple[str, Reader]) -> None:
    data, texts = unpacked(page[1], "data"), unpacked(page[1], "texts")
    topics = {topic["id"]: topic for topic in data["topics"]}
    assert "later" not in topics
    before, after = topics["lost"]["runs"]
    assert (before["found_at"], "found_at" in after) == (1, False)
    assert before["hits"][0]["truths"] == [0, 1]
    assert texts[before["hits"][0]["text"]] == CODE
    assert before["hits"][0]["first"] == 10
    assert topics["failed"]["runs"][1]["failure"]["kind"] == "http_500"
    assert topics["absent"]["runs"][0]["outcome"] == "missing"
    assert topics["whole"]["by_file_only"] and topics["whole"]["runs"][0]["found_at"] == 1
    assert len(texts) == len(set(texts))


def test_what_is_not_markup_is_escaped() -> None:
    assert tag("p", "<b>", Markup("<i></i>"), title='"&') == '<p title="&quot;&amp;">&lt;b&gt;<i></i></p>'
    assert tag("input", checked=True, disabled=False, value=None) == "<input checked>"
    assert joined("a\x00\u202eb") == "a\\x00\\u202eb"


def test_the_vendored_file_is_the_published_one() -> None:
    (name, version, digest) = re.findall(r"`echarts/` \| `(\w+)` \| ([\d.]+) \|.*?`([0-9a-f]{64})`",
                                         (VENDOR / "README.md").read_text(encoding="utf-8"))[0]  # fmt: skip
    data = (VENDOR / "echarts" / "echarts.common.min.js").read_bytes()
    assert (name, hashlib.sha256(data).hexdigest()) == ("echarts", digest)
    assert f'version="{version}"'.encode() in data or version.encode() in data
    assert b"</script" not in data.lower()
    assert "Apache License" in (VENDOR / "echarts" / "LICENSE").read_text(encoding="utf-8")
    assert (VENDOR / "echarts" / "NOTICE").exists() and (VENDOR / "echarts" / "LICENSE-d3").exists()
