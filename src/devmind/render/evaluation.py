"""What ``devmind eval`` tells a person: measures with their intervals, differences, verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from devmind.render.figures import counted, interval, number, p_value, percent, signed
from devmind.render.plain import safe
from devmind.render.table import new_table

SHOWN_GROUPS = 12  # values of a grouping; a report shows all
QUERY_CHARS = 100
SIGNIFICANT = 0.05
COSTS = {  # of a topic, as tables name them
    "ms": "ms a topic",
    "model_calls": "model calls a topic",
    "model_tokens": "model tokens a topic",
}
NOTES = {  # what a reader can do about notes that make figures hard to compare
    "repo_not_indexed": "all repositories were searched; 'devmind add' the topic's own under the name it has there",
    "other_commit": "labels are of another commit than the one searched; index that ('devmind add --ref'), or carry "
    "the labels over with 'devmind dataset check --at REF --fix'",
    "stage_failed": "the reranker or the model that rewords questions failed: these topics were searched without it",
}


def show_run(out: Console, record: Mapping[str, Any], *, measures: Sequence[str], grouped: Sequence[str]) -> None:
    """Print the measures of a run, overall and by group, and what is missing from it.

    Args:
        grouped: the few measures that the tables of groups have.
    """
    out.print(Text(safe(f"{record['system']}: {counts_line(record)}"), style="bold"))
    table = new_table("measure", "mean", "95 % interval", "topics")
    for name in measures:
        found = record["overall"][name]
        table.add_row(safe(name), number(found["mean"]), interval(found), str(found["n"]))
    out.print(table)
    for grouping, values in record["groups"].items():
        _show_group(out, grouping, values, grouped)
    for note in run_notes(record):
        out.print(Text(safe(note), style="yellow"))
    out.print(Text(safe(f"run: {record['run']}"), style="dim"))


def counts_line(record: Mapping[str, Any]) -> str:
    """Return how many topics there were, and how many have no response, in words."""
    parts = [counted(record["n_topics"], "topic")]
    n_scored = record["outcomes"].get("scored", 0)
    n_traps, n_open = record["outcomes"].get("trap", 0), record["outcomes"].get("no_truth", 0)
    parts += [f"{n_scored} scored"] if n_scored != record["n_topics"] else []
    parts += [counted(n_traps, "trap")] if n_traps else []
    parts += [f"{n_open} without ground truth (not scored)"] if n_open else []
    kinds = ", ".join(f"{name} {count}" for name, count in record["failures"].items())
    parts += [f"{record['n_missing']} missing", f"{record['n_failed']} failed" + (f" ({kinds})" if kinds else "")]
    return ", ".join(parts)


def run_notes(record: Mapping[str, Any]) -> list[str]:
    """Return what a reader of the figures must know: hits without lines or outside files, notes of the target."""
    notes = []
    lines = record["lines"]
    n_unmapped, n_hits = lines["by_method"].get("unmapped", 0), sum(lines["by_method"].values())
    n_without = n_unmapped - lines["n_outside"]  # those outside have a line of their own below
    if n_without > 0:
        share = percent(n_without / n_hits, 1)
        help_ = "" if lines["with_code"] else "; name the code's folder with --source to find them"
        notes.append(f"{n_without} of {n_hits} hits ({share}) have no lines{help_}")
    placed = {m: n for m, n in lines["by_method"].items() if m in ("exact", "whitespace", "fuzzy")}
    if placed:
        notes.append("lines found for text without: " + ", ".join(f"{method} {n}" for method, n in placed.items()))
    if lines["n_outside"]:
        notes.append(
            f"{counted(lines['n_outside'], 'hit')} outside their files find nothing; the first: {lines['outside'][0]}"
        )
    if record["notes"]:
        notes.append("notes: " + ", ".join(f"{name} {count}" for name, count in record["notes"].items()))
    notes += [f"{name}: {help_}" for name, help_ in NOTES.items() if name in record["notes"]]
    if record["n_dropped"]:
        n_dropped = counted(record["n_dropped"], "unusable part")
        notes.append(f"{n_dropped} of responses left out; the first: {record['dropped'][0]}")
    if record.get("n_excluded"):
        notes.append(f"{counted(record['n_excluded'], 'topic')} pending or rejected: not asked")
    return notes


def _show_group(out: Console, grouping: str, values: Mapping[str, Any], measures: Sequence[str]) -> None:
    table = new_table(f"by {grouping}", *(name for name in measures), "topics")
    known = [(value, found) for value, found in values.items() if _n_of(found, measures)]
    ordered = sorted(known, key=lambda item: (-_n_of(item[1], measures), item[0]))
    if not ordered:
        return
    for value, found in ordered[:SHOWN_GROUPS]:
        cells = [f"{number(found[name]['mean'])} {interval(found[name])}".rstrip() for name in measures]
        table.add_row(safe(value), *cells, str(_n_of(found, measures)))
    out.print()
    out.print(table)
    if len(ordered) > SHOWN_GROUPS:
        out.print(Text(f"… {len(ordered) - SHOWN_GROUPS} more ('devmind eval report' shows all)", style="dim"))


def _n_of(found: Mapping[str, Any], measures: Sequence[str]) -> int:
    return max((int(found[name]["n"]) for name in measures), default=0)


def show_comparison(out: Console, record: Mapping[str, Any]) -> None:
    """Print what differs, with its interval and p, and the topics that changed most."""
    out.print(Text(safe(comparison_verdict(record)), style="bold"))
    table = new_table("measure", "A", "B", "difference", "95 % interval", "p (Holm)", "effect", "won", "lost", "tied")
    for name, found in record["differences"].items():
        style = _style(found)
        cells = [
            number(found["baseline"]), number(found["candidate"]), signed(found["mean"]), interval(found),
            p_value(found["p_holm"]), number(found["effect_size"], 2),
            str(found["n_wins"]), str(found["n_losses"]), str(found["n_ties"]),
        ]  # fmt: skip
        table.add_row(safe(name), *(Text(cell, style=style) for cell in cells))
    for name, title in COSTS.items():
        a, b = (record["costs"][which][name] for which in ("baseline", "candidate"))
        if a or b:
            table.add_row(title, f"{a or 0:,.1f}", f"{b or 0:,.1f}", f"{(b or 0) - (a or 0):+,.1f}")
    out.print(table)
    out.print(Text(safe(f"A: {record['baseline']}   B: {record['candidate']}"), style="dim"))
    for title, topics, style in (("worst", record["worst"], "red"), ("best", record["best"], "green")):
        if topics:
            out.print(Text(f"\n{title} in {record['topics_by']}", style="bold dim"))
        for topic in topics:
            row = Text.assemble("  ", (signed(topic["difference"]), style), "  ", (safe(topic["id"]), "cyan"), "  ")
            out.print(row.append(safe(clipped(topic["query"]))))


def comparison_verdict(record: Mapping[str, Any]) -> str:
    """Say in one sentence in which measures the candidate is better or worse, after Holm's correction."""
    better = [name for name, found in record["differences"].items() if direction(found) > 0]
    worse = [name for name, found in record["differences"].items() if direction(found) < 0]
    said = [f"{verb} in {', '.join(names)}" for verb, names in (("better", better), ("worse", worse)) if names]
    what = " and ".join(said) if said else f"no difference shown in {', '.join(record['differences'])}"
    return f"{record['candidate']} against {record['baseline']}: {what}"


def direction(found: Mapping[str, Any]) -> int:
    """Return 1 if the candidate is better, -1 if worse, 0 if chance could explain the difference."""
    p, mean = found["p_holm"], found["mean"]
    if p is None or mean is None or p >= SIGNIFICANT or mean == 0:
        return 0
    better = mean < 0 if found["lower_is_better"] else mean > 0
    return 1 if better else -1


def show_verdict(out: Console, record: Mapping[str, Any]) -> None:
    """Print the verdict of a gate, first of all, and every limit."""
    passed = record["passed"]
    counts = f"{counted(record['n_topics'], 'topic')}, {record['n_missing']} missing, {record['n_failed']} failed"
    out.print(Text.assemble(("passed" if passed else "MISSED", "bold green" if passed else "bold red"), f": {counts}"))
    for check in record["checks"]:
        mark = ("  ok    ", "green") if check["passed"] else ("  MISS  ", "bold red")
        out.print(Text.assemble(mark, safe(check["message"])))


def clipped(text: str) -> str:
    """Return the first words of ``text`` on one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= QUERY_CHARS else flat[: QUERY_CHARS - 1] + "…"


def _style(found: Mapping[str, Any]) -> str:
    return {1: "green", -1: "red", 0: ""}[direction(found)]
