"""``Report`` → one HTML file that needs nothing else: style, scripts and data are in it, and a policy forbids the rest.

The summary is plain HTML and reads without scripts; topics, charts and sorting are drawn from the data by
``assets/report.js``, which makes text nodes only. Data is compressed and in base 64, so that nothing in it can end its
element; the policy lets no script run but the two whose hashes it names, and no address be loaded.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from devmind.evaluate.datasets.files import dump
from devmind.evaluate.datasets.sources import Sources
from devmind.evaluate.report.data import Report
from devmind.evaluate.report.excerpts import excerpts
from devmind.evaluate.report.markup import Markup, joined, tag
from devmind.evaluate.report.record import report_record
from devmind.evaluate.report.sections import page_sections, page_title

# A page of 5 MB still opens at once and passes through mail and build servers; the rest of it is charts (0.7 MB).
MAX_DATA_CHARS: Final = 4_000_000
# Lines of code for each hit: the most that fits. 1,000 topics with 10 hits get 16 (2026-11-30).
_EXCERPT_LINES: Final = (40, 24, 16, 10, 6, 3, 0)
_DIGITS: Final = 4  # of numbers on the page; the JSON file has all


def report_html(report: Report, code: Sources | None = None) -> str:
    """Return the page.

    Args:
        code: where the code of hits that carry no text is read.
    """
    summary = report_record(report, all_measures=False)
    style, script, charts = _asset("report.css"), _asset("report.js"), _charts()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src {_hash(charts)} {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", page_title(summary)),
        Markup(f"<style>{style}</style>"),
    )
    body = tag(
        "body",
        *page_sections(summary),
        *(Markup(f'<script type="text/plain" id="{name}">{packed}</script>') for name, packed in _data(report, code)),
        Markup(f"<script>{charts}</script>"),
        Markup(f"<script>{script}</script>"),
    )
    return f'<!doctype html>\n<html lang="en">{joined(head, body)}</html>\n'


def _data(report: Report, code: Sources | None) -> list[tuple[str, str]]:
    """Return the record, and the code of its hits, as much as fits, each by name and in base 64."""
    parts: list[tuple[str, str]] = []
    for n_lines in _EXCERPT_LINES:
        record = report_record(report, excerpt=excerpts(code, n_lines=n_lines), all_measures=False)
        texts = _texts_apart(record)
        parts = [("data", _packed(_rounded(_kept(record)))), ("texts", _packed(texts))]
        if sum(len(packed) for _, packed in parts) <= MAX_DATA_CHARS:
            break
    return parts


def _texts_apart(record: dict[str, Any]) -> list[str]:
    """Take the code out of the hits, each text once; a hit keeps the number of its text."""
    texts: dict[str, int] = {}
    for topic in record["topics"]:
        for run in topic["runs"]:
            for hit in run["hits"]:
                if "text" in hit:
                    hit["text"] = texts.setdefault(hit["text"], len(texts))
    return list(texts)


def _kept(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page's script reads."""
    compared = [
        {key: one[key] for key in ("baseline", "candidate")} | {"measures": list(one["differences"])}
        for one in record["comparisons"]
    ]
    return {key: record[key] for key in ("measures", "primary", "about", "runs", "topics")} | {"compared": compared}


def _packed(value: Any) -> str:
    return base64.b64encode(zlib.compress(dump(value).encode("utf-8", "backslashreplace"), 6)).decode("ascii")


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items() if item not in (None, "", [], {})}
    return [_rounded(item) for item in value] if isinstance(value, list) else value


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _asset(name: str) -> str:
    return files("devmind.evaluate.report").joinpath("assets", name).read_text(encoding="utf-8").strip()


def _charts() -> str:
    vendored = files("devmind.render").joinpath("vendor", "echarts", "echarts.common.min.js")
    return vendored.read_text(encoding="utf-8").strip()
