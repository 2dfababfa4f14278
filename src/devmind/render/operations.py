"""What ``devmind eval freshness``, ``load`` and ``chunkers`` tell a person: tables of means with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from devmind.render.plain import safe

Json = Mapping[str, Any]
_SHOWN = ("fresh", "proven", "new lines shown when asked for", "Recall@1", "Recall@5", "Recall@10", "nDCG@10",
          "file Recall@10",
          "seconds until visible", "update seconds", "update CPU seconds", "first index seconds",
          "first index CPU seconds", "way back seconds", "files built", "files reused")  # fmt: skip


def show_freshness(out: Console, result: Json) -> None:
    """Print what was out of date, then the figures of each way side by side."""
    for way, measured in result["ways"].items():
        summary = measured["summary"]
        counts = f"{_n(summary['n_cases'], 'case')}, {summary['n_unproven']} unproven, {summary['n_failed']} failed"
        out.print(Text(f"by {way}: {_state(summary)}; {counts}", style="bold"))
        out.print(
            f"  {summary['n_hits']:,} hits: {summary['n_stale_hits']} differ from the commit, "
            f"{summary['n_gone_hits']} show removed lines"
        )
        out.print(
            f"  removed lines were shown before the change in {summary['n_gone_before']} of "
            f"{summary['n_with_gone']} cases that have some"
        )
        for case in measured["cases"]:
            if not case["fresh"]:
                out.print(Text(f"  {safe(case['case_id'])}: {safe(_why_stale(case))}", style="yellow"))
    _freshness_table(out, result["ways"])


def _state(summary: Json) -> str:
    if summary["n_stale_cases"] or summary["n_failed"]:
        return "NOT FRESH"
    return "fresh" if summary["n_unproven"] < summary["n_cases"] else "NOTHING PROVEN"


def _why_stale(case: Json) -> str:
    if case["failure"]:
        return f"failed, {case['failure']}"
    reasons = []
    for label, found in (("at B", case["at_b"]), ("back at A", case["at_a"])):
        if found and found["n_stale"]:
            reasons.append(f"{found['n_stale']} of {found['n_hits']} hits differ from the commit {label}")
        if found and found["n_gone"]:
            reasons.append(f"{found['n_gone']} hits show lines that are not there {label}")
    return "; ".join(reasons)


def _freshness_table(out: Console, ways: Json) -> None:
    table = _table(["", *ways])
    for name in _SHOWN:
        cells = [measured["summary"]["estimates"].get(name) for measured in ways.values()]
        if any(cells):
            table.add_row(name, *(_estimate(cell) for cell in cells))
    out.print(table)


def show_load(out: Console, result: Json) -> None:
    """Print one row a step; times in milliseconds."""
    alone = result["unloaded"]
    names = list(alone["quality"])
    out.print(
        Text(f"{safe(result['provenance']['target'])} without load: ", style="bold")
        + Text(
            f"p50 {_ms(alone['service_s']['p50'])} ms, p95 {_ms(alone['service_s']['p95'])} ms; "
            + ", ".join(f"{name} {_estimate(alone['quality'][name])}" for name in names)
            + _failures(alone["failures"])
        )
    )
    table = _table(["in flight", "rate/s", "state", "answers/s", "p50 ms", "p95 ms", "p99 ms", "failed", "CPU s", "MB",
                    *names, "change", "same hits"], left=(2,))  # fmt: skip
    for step in result["steps"]:
        if step["state"] == "skipped":
            table.add_row(str(step["concurrency"]), f"{step['rate']:g}", Text("skipped", style="dim"))
            continue
        latency = [_interval_ms(step["latency_s"].get(q)) for q in ("p50", "p95", "p99")]
        style = "" if step["state"] == "kept up" else "yellow"
        table.add_row(
            str(step["concurrency"]),
            f"{step['rate']:g}",
            Text(step["state"], style=style),
            f"{step['throughput']:.1f}",
            *latency,
            _failed(step),
            f"{step['cpu_s']:.1f}",
            _mb(step["memory_bytes"]),
            *(_number((step["quality"].get(name) or {}).get("mean")) for name in names),
            _estimate(step["change"].get(names[0]), signed=True) if names else "",
            "–" if step["same_hits"] is None else f"{100 * step['same_hits']:.0f} %",
        )
    out.print(table)
    out.print(
        Text(
            "Latency runs from the time a request was due. – means too few requests, or that the quantile fell on one "
            "without an answer.",
            style="dim",
        )
    )


def show_chunkers(out: Console, result: Json) -> None:
    """Print a table a language, all languages first, then the tests against the baseline."""
    languages = dict.fromkeys(row["language"] for row in result["rows"])
    for language in languages:
        members = [row for row in result["rows"] if row["language"] == language]
        first = members[0]
        out.print()
        out.print(
            Text(safe(language or "all languages"), style="bold")
            + Text(f"  {_n(first['n_topics'], 'topic')}, {_n(first['n_repos'], 'repository', 'repositories')}, "
                   f"{first['source_bytes'] / 1e6:.1f} MB", style="dim")
        )  # fmt: skip
        out.print(_chunkers_table(members))
    if result["against"]:
        out.print()
        out.print(_against_table(result["against"]))


def _chunkers_table(members: Sequence[Json]) -> Table:
    names = list(members[0]["measures"])
    table = _table(["chunking", *names, "index s", "CPU s", "chunks", "tokens/chunk", "store MB", "query ms"])
    for row in members:
        table.add_row(
            safe(row["variant"]),
            *(_estimate(row["measures"][name], digits=0 if name.startswith("tokens") else 3) for name in names),
            f"{row['index_s']:.1f}",
            f"{row['index_cpu_s']:.1f}",
            f"{row['n_chunks']:,}",
            f"{row['tokens_per_chunk']:.0f}",
            f"{row['store_bytes'] / 1e6:.1f}",
            _ms(row["query_s"]),
        )
    return table


def _against_table(against: Json) -> Table:
    table = _table(["against the baseline", "measure", "difference", "p (Holm)", "better", "worse", "same"], left=(1,))
    for variant, comparison in against.items():
        for name, difference in comparison["differences"].items():
            table.add_row(
                f"{safe(variant)} − {safe(comparison['baseline'])}",
                name,
                _estimate(difference["estimate"], signed=True, digits=0 if name.startswith("tokens") else 3),
                _number(difference["p_holm"]),
                str(difference["n_wins"]),
                str(difference["n_losses"]),
                str(difference["n_ties"]),
            )
    return table


def _table(columns: Sequence[str], *, left: Sequence[int] = ()) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold dim", padding=(0, 2, 0, 0))
    for number, name in enumerate(columns):
        table.add_column(name, justify="left" if number == 0 or number in left else "right")
    return table


def _estimate(estimate: Json | None, *, digits: int = 3, signed: bool = False) -> str:
    """Return the mean and, where it is known, the interval."""
    if not estimate or estimate["mean"] is None:
        return "–"
    form = f"{'+' if signed else ''},.{digits}f"
    shown = format(estimate["mean"], form)
    if estimate["low"] is None or estimate["high"] is None:
        return shown
    return f"{shown} [{format(estimate['low'], form)}, {format(estimate['high'], form)}]"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _ms(estimate: Json) -> str:
    return "–" if estimate["mean"] is None else f"{estimate['mean'] * 1000:.1f}"


def _interval_ms(estimate: Json | None) -> str:
    if not estimate or estimate["mean"] is None:
        return "–"
    scaled = {key: None if estimate[key] is None else estimate[key] * 1000 for key in ("mean", "low", "high")}
    return _estimate(scaled, digits=1)


def _mb(size_bytes: int | None) -> str:
    return "–" if size_bytes is None else f"{size_bytes / 1e6:.0f}"


def _failed(step: Json) -> str:
    counts = [f"{count} {safe(kind)}" for kind, count in step["failures"].items()]
    unsent = step["n_due"] - step["n_sent"]
    return ", ".join([*counts, *([f"{unsent} unsent"] if unsent else [])]) or "0"


def _failures(failures: Json) -> str:
    return "".join(f", {count} {safe(kind)}" for kind, count in failures.items())


def _n(count: int, noun: str, nouns: str = "") -> str:
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"
