"""``Report`` or verdict → Markdown for a pull request: the verdict first, then the figures, then what changed.

Text of topics is untrusted: it stands in code spans or is escaped, so that it makes no link, image, mention or tag.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from devmind.evaluate.gate import Verdict
from devmind.evaluate.report.data import Report, extremes
from devmind.evaluate.report.provenance import short_commit
from devmind.evaluate.report.record import comparison_record, run_record, verdict_record
from devmind.evaluate.stored import StoredScores
from devmind.evaluate.types import Comparison
from devmind.render.evaluation import clipped, comparison_verdict, counts_line, direction, run_notes
from devmind.render.figures import counted, interval, number, p_value, signed
from devmind.render.plain import safe

# A backslash takes a sign literally. It does not stop an address, a mention or the number of an issue from becoming a
# link, nor a tag in every reader: there an entity stands for the sign.
_SPECIAL: Final = re.compile(
    r"(?P<sign>[\\`*_\[\]~$!])|(?P<html>[<>&|])"
    r"|(?P<before>(?:https?|ftp)(?=:)|(?<!\w)www(?=\.)|(?<!\w)(?=[@#]\w))(?P<link>[:.@#])",
    re.IGNORECASE,
)
_SHOWN_TOPICS: Final = 5
_SHOWN_GROUPS: Final = 8
_HASH_CHARS: Final = 12


def verdict_markdown(verdict: Verdict, stored: StoredScores) -> str:
    """Return the verdict of a gate: one line that says it, then a row a limit."""
    record = verdict_record(verdict)
    n_missed = sum(not check["passed"] for check in record["checks"])
    total = len(record["checks"])
    said = f"passed: all {total} limits hold" if record["passed"] else f"missed: {n_missed} of {total} limits"
    rows = [
        [
            "ok" if check["passed"] else "**missed**",
            escaped(check["measure"]),
            number(check["baseline"]),
            number(check["candidate"]),
            f"{signed(check['mean']) if check['kind'] == 'drop' else number(check['mean'])} {interval(check)}".rstrip(),
            f"{check['kind']} {check['limit']:g}",
        ]
        for check in record["checks"]
    ]
    counts = f"{counted(record['n_topics'], 'topic')}, {record['n_missing']} missing, {record['n_failed']} failed"
    return "\n".join(
        [
            f"### Evaluation gate {said}",
            "",
            *_table(("", "measure", "baseline", "run", "measured [95 %]", "limit"), rows),
            "",
            f"{escaped(stored.scores.system)} over {escaped(stored.dataset)} "
            f"(`{stored.scores.dataset_hash[:_HASH_CHARS]}`): {counts}. Match: {escaped(stored.scores.match)}.",
            "",
        ]
    )


def report_markdown(report: Report) -> str:
    """Return the report: verdict, measures with intervals, differences, groups in a fold, provenance."""
    runs = [run_record(measured) for measured in report.runs]
    lines = [f"### {_headline(report, runs)}", ""]
    lines += _measures(report, runs)
    for comparison in report.comparisons:
        lines += _comparison(report, comparison)
    for run in runs:
        notes = run_notes({**run, "n_excluded": len(report.asked.excluded)})
        lines += ["", f"**{escaped(run['system'])}**: {escaped(counts_line(run))}."]
        lines += [f"- {escaped(note)}" for note in notes]
    lines += _groups(report, runs[-1])
    lines += ["", _provenance(report), ""]
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Return ``text`` on one line with every sign that Markdown or HTML reads taken literally."""
    return _SPECIAL.sub(_literal, " ".join(safe(text).split()))


def _literal(match: re.Match[str]) -> str:
    if match["sign"]:
        return "\\" + match["sign"]
    return f"{match['before'] or ''}&#{ord(match['html'] or match['link'])};"


def _headline(report: Report, runs: Sequence[Mapping[str, Any]]) -> str:
    if report.comparisons:
        return escaped(comparison_verdict(comparison_record(report.comparisons[-1])))
    found = runs[0]["overall"].get(report.primary)
    said = f"{report.primary} {number(found['mean'])} {interval(found)}" if found else "no measure is defined"
    return f"{escaped(runs[0]['system'])}: {escaped(said)}"


def _measures(report: Report, runs: Sequence[Mapping[str, Any]]) -> list[str]:
    header = ("measure", *(escaped(run["system"]) for run in runs), "topics")
    rows = []
    for name in report.measures:
        found = [run["overall"][name] for run in runs]
        cells = [f"{number(one['mean'])} {interval(one)}".rstrip() for one in found]
        rows.append([escaped(name), *cells, str(found[0]["n"])])
    return _table(header, rows)


def _comparison(report: Report, comparison: Comparison) -> list[str]:
    record = comparison_record(comparison)
    rows = []
    for name, found in record["differences"].items():
        mark = {1: "better", -1: "worse", 0: ""}[direction(found)]
        changed = f"{found['n_wins']} / {found['n_losses']} / {found['n_ties']}"
        cells = f"{signed(found['mean'])} {interval(found)}".rstrip()
        rows.append([escaped(name), cells, p_value(found["p_holm"]), changed, mark])
    header = ("measure", "difference [95 %]", "p (Holm)", "won / lost / tied", "")
    title = f"**{escaped(comparison.candidate)} against {escaped(comparison.baseline)}**"
    lines = ["", title, "", *_table(header, rows)]
    primary = report.primary if report.primary in comparison.differences else next(iter(comparison.differences))
    queries = {topic.topic_id: topic.query for topic in report.asked.dataset.topics}
    worst, best = extremes(comparison.differences[primary], _SHOWN_TOPICS)
    for title, topics in (("Lost", worst), ("Won", best)):
        if topics:
            lines += ["", f"{title} most in {escaped(primary)}:", ""]
            lines += [f"- {signed(v)} {escaped(name)}: {escaped(clipped(queries[name]))}" for name, v in topics]
    return lines


def _groups(report: Report, run: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    for grouping, values in run["groups"].items():
        known = [item for item in values.items() if item[1][report.primary]["n"]]
        ordered = sorted(known, key=lambda item: (-item[1][report.primary]["n"], item[0]))[:_SHOWN_GROUPS]
        rows = [
            [escaped(value), f"{number(e['mean'])} {interval(e)}".rstrip(), str(e["n"])]
            for value, found in ordered
            for e in (found[report.primary],)
        ]
        lines += ["", *_table((escaped(grouping), escaped(report.primary), "topics"), rows)]
    if not lines:
        return []
    title = f"{escaped(report.primary)} of {escaped(run['system'])} by group"
    return ["", f"<details><summary>{title}</summary>", *lines, "", "</details>"]


def _provenance(report: Report) -> str:
    kept = report.provenance
    return (
        f"Dataset {escaped(kept['dataset'])} (`{kept['dataset_hash'][:_HASH_CHARS]}`, {escaped(kept['split'])}), "
        f"match {escaped(kept['match'])}, DevMind {escaped(kept['devmind'])}, {escaped(short_commit(kept['commit']))}, "
        f"{escaped(kept['made'])}."
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    aligned = ["---" if number_ == 0 else "--:" for number_ in range(len(header))]
    return ["| " + " | ".join(cells) + " |" for cells in (header, aligned, *rows)]
