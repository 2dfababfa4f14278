"""Topics or limits → JUnit XML, which every build server shows.

A *failure* is a miss of quality; an *error* is an endpoint that did not respond, or a judgement that could not be made;
*skipped* is what is not scored. Elements and attributes stand in the order, and with the names, that the strictest
readers want (the schema of Ant's JUnit reports, which Jenkins and others validate against).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from xml.sax.saxutils import escape, quoteattr

from devmind.evaluate.gate import Verdict
from devmind.evaluate.measured import Measured
from devmind.evaluate.measures import FALSE_REFUSAL, FILE, REFUSAL, depth
from devmind.evaluate.report.data import Report
from devmind.evaluate.types import Response, Scores, Topic, TopicScore

Kind = Literal["failure", "error", "skipped"]
# What XML 1.0 has no way to write, not even as a reference.
_IMPOSSIBLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NAME_CHARS: Final = 120


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the table that a build server shows."""

    name: str
    group: str
    seconds: float = 0.0
    kind: Kind | None = None
    code: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases that belong together, and what holds for all of them."""

    name: str
    cases: Sequence[Case]
    properties: Sequence[tuple[str, str]] = ()


def report_xml(report: Report, *, now: datetime) -> str:
    """Return a suite a run and a case a topic: a failure where no hit by the last cut-off finds a truth."""
    return _document([_topics(report, measured) for measured in report.runs], now)


def verdict_xml(verdict: Verdict, scores: Scores, *, now: datetime) -> str:
    """Return a case a limit, and an error for each topic whose endpoint failed."""
    limits = [
        Case(
            name=f"{check.kind} {check.measure}",
            group="gate",
            kind=None if check.passed else "failure",
            code=check.kind,
            message="" if check.passed else check.message,
        )
        for check in verdict.checks
    ]
    lost = [
        Case(topic.topic_id, f"endpoint.{scores.system}", 0.0, "error", topic.outcome, f"the topic is {topic.outcome}")
        for topic in scores.topics
        if topic.outcome in ("failed", "missing")
    ]
    return _document([Suite("devmind eval gate", limits), *([Suite("endpoint", lost)] if lost else [])], now)


def error_xml(name: str, code: str, message: str, *, now: datetime) -> str:
    """Return one case that is an error: nothing could be judged."""
    return _document([Suite(name, [Case("judged", "gate", 0.0, "error", code, message)])], now)


def _topics(report: Report, measured: Measured) -> Suite:
    topics = report.asked.dataset.topics
    cases = [
        _case(topic, score, measured.raw.responses.get(topic.topic_id))
        for topic, score in zip(topics, measured.scores.topics, strict=True)
    ]
    cases += [
        Case(_name(topic), _group(topic), 0.0, "skipped", "excluded", f"the topic is {topic.status}")
        for topic in report.asked.excluded
    ]
    properties = [*report.provenance.items(), *measured.run.provenance.items()]
    return Suite(measured.scores.system, cases, properties)


def _case(topic: Topic, score: TopicScore, response: Response | None) -> Case:
    kind, code, message = _result(topic, score, response)
    return Case(_name(topic), _group(topic), response.seconds if response else 0.0, kind, code, message)


def _result(topic: Topic, score: TopicScore, response: Response | None) -> tuple[Kind | None, str, str]:
    if score.outcome == "no_truth":
        return "skipped", "no_truth", "the topic has no ground truth and is no trap"
    if response is None:
        return "error", "missing", "the run holds no response to this topic"
    if response.failure is not None:
        return "error", response.failure.kind, response.failure.message
    if score.measures.get(REFUSAL) == 0:
        return "failure", "trap", f"nothing of the kind exists, but {len(response.hits)} hits or an answer came"
    if score.measures.get(FALSE_REFUSAL) == 1:
        return "failure", "refused", "the system refused a question that has an answer"
    k = max((k for name in score.measures if name.startswith("hit@") and (k := depth(name))), default=0)
    found = score.measures.get(f"hit@{k}")
    if found is None:  # whole files have no lines to find
        found = score.measures.get(f"{FILE}hit@{k}")
    if found == 0:
        wanted = ", ".join(_place(topic, number) for number in range(min(3, len(topic.truths))))
        return "failure", "not_found", f"no hit by rank {k} finds {wanted}"
    return None, "", ""


def _place(topic: Topic, number: int) -> str:
    span = topic.truths[number].span
    return span.file if span.whole_file else f"{span.file}:{span.start_line}-{span.end_line}"


def _name(topic: Topic) -> str:
    return f"{topic.topic_id}: {' '.join(topic.query.split())}"[:_NAME_CHARS]


def _group(topic: Topic) -> str:
    return ".".join(part.replace(".", "_") for part in (topic.repo, topic.category) if part) or "topics"


def _document(suites: Sequence[Suite], now: datetime) -> str:
    body = "".join(_suite(suite, number, now) for number, suite in enumerate(suites))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{body}</testsuites>\n'


def _suite(suite: Suite, number: int, now: datetime) -> str:
    kinds = [case.kind for case in suite.cases]
    attributes = _attributes(
        ("name", suite.name or "run"),
        ("timestamp", now.strftime("%Y-%m-%dT%H:%M:%S")),  # the schema knows no time zone
        ("hostname", "localhost"),
        ("tests", str(len(kinds))),
        ("failures", str(kinds.count("failure"))),
        ("errors", str(kinds.count("error"))),
        ("skipped", str(kinds.count("skipped"))),
        ("time", f"{sum(case.seconds for case in suite.cases):.3f}"),
        ("package", "devmind"),
        ("id", str(number)),
    )
    properties = "".join(f"<property{_attributes(('name', n), ('value', v))}/>" for n, v in suite.properties)
    cases = "".join(map(_element, suite.cases))
    rest = "<system-out></system-out><system-err></system-err>"
    return f"<testsuite{attributes}>\n<properties>{properties}</properties>\n{cases}{rest}\n</testsuite>\n"


def _element(case: Case) -> str:
    attributes = _attributes(("name", case.name), ("classname", case.group), ("time", f"{case.seconds:.3f}"))
    if case.kind is None:
        return f"<testcase{attributes}/>\n"
    if case.kind == "skipped":
        return f"<testcase{attributes}><skipped/></testcase>\n"
    said = _attributes(("message", case.message), ("type", case.code))
    return f"<testcase{attributes}><{case.kind}{said}>{escape(_possible(case.message))}</{case.kind}></testcase>\n"


def _attributes(*pairs: tuple[str, str]) -> str:
    return "".join(f" {name}={quoteattr(_possible(value))}" for name, value in _unique(pairs))


def _unique(pairs: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    return dict(pairs).items()


def _possible(text: str) -> str:
    return _IMPOSSIBLE.sub("\N{REPLACEMENT CHARACTER}", text)
