"""A report of 1,000 topics and two runs: its size, how long making it takes, how long until a browser shows it.

The hits are stretches of Python's own standard library, no two of them alike, so that nothing is saved by repetition.
"""

from __future__ import annotations

import shutil
import statistics
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from devmind.evaluate.datasets import dataset_of
from devmind.evaluate.measured import Scoring, asked, measure
from devmind.evaluate.report import make_report
from devmind.evaluate.report.data import with_own_names
from devmind.evaluate.report.html import report_html
from devmind.evaluate.report.provenance import report_provenance
from devmind.evaluate.types import Dataset, Response, Retrieved, Run, Span, Topic, Truth

N_TOPICS = 1_000
K = 10
HIT_LINES = 30
N_REPOS = 20
N_OPENED = 5  # times that the page is opened; the middle one counts


def run() -> None:
    code = _pieces()
    random = Random(1)
    topics, responses = [], {}
    for number in range(N_TOPICS):
        hits = tuple(Retrieved(span, text, score=10 - rank) for rank, (span, text) in zip(range(K), code, strict=False))
        truths = tuple(Truth(hit.span) for hit in random.sample(hits, 2) if hit.span)
        repo = f"repo-{number % N_REPOS}"
        category = random.choice(("API location", "bug diagnosis", "code understanding", "multi-hop"))
        query = " ".join(hits[0].text.split()[:20])
        topics.append(Topic(f"t{number}", query, category, truths, repo, language="python"))
        responses[f"t{number}"] = Response(f"t{number}", hits, confidence=random.random(), seconds=random.random())
    dataset = dataset_of("bench", topics)
    page, seconds = _made(dataset, responses, random)
    print(f"page {len(page.encode()) / 1e6:.2f} MB, scored and written in {seconds:.1f} s")
    _opened(page)


def _pieces() -> Iterator[tuple[Span, str]]:
    library = Path(sysconfig.get_path("stdlib"))
    for path in sorted(library.rglob("*.py")):
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        name = path.relative_to(library).as_posix()
        for start in range(0, len(lines) - HIT_LINES, HIT_LINES):
            yield Span(name, start + 1, start + HIT_LINES), "\n".join(lines[start : start + HIT_LINES])


def _made(dataset: Dataset, responses: dict[str, Response], random: Random) -> tuple[str, float]:
    began = time.perf_counter()
    shuffled = {
        name: replace(response, hits=tuple(random.sample(response.hits, len(response.hits))))
        for name, response in responses.items()
    }
    measured = [
        measure(dataset, Run(name, dataset.name, found, K))
        for name, found in (("before", responses), ("after", shuffled))
    ]
    report = make_report(
        asked(dataset),
        with_own_names(measured, ("", "")),
        provenance=report_provenance(
            dataset, Scoring(), split="all", folder=Path(tempfile.gettempdir()), now=datetime.now(UTC)
        ),
        with_baseline=True,
    )
    page = report_html(report)
    return page, time.perf_counter() - began


def _opened(page: str) -> None:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("no chromium here: the time to open it is not measured")
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "report.html"
        file.write_text(page, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        ready = []
        for _ in range(N_OPENED):
            tab = browser.new_page()
            tab.goto(file.as_uri())
            tab.wait_for_selector("html[data-ready]")
            ready.append(float(tab.locator("html").get_attribute("data-ready") or "nan") / 1000)
            tab.close()
        browser.close()
    print(f"drawn {statistics.median(ready):.2f} s after opening (of {N_OPENED}: {min(ready):.2f} to {max(ready):.2f})")
