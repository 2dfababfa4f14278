"""What ``devmind dataset`` tells a person: problems by kind, halves, conflicts side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from devmind.render.figures import counted, percent
from devmind.render.plain import safe
from devmind.render.table import new_table

SHOWN_OF_A_KIND = 10  # without -v: a kind that has more is one mistake, made often


def show_problems(out: Console, problems: Sequence[Mapping[str, Any]], *, full: bool) -> None:
    """Print problems under their kinds, most frequent kind first."""
    by_kind: dict[str, list[Mapping[str, Any]]] = {}
    for problem in problems:
        by_kind.setdefault(str(problem["kind"]), []).append(problem)
    for kind, members in sorted(by_kind.items(), key=lambda item: (-len(item[1]), item[0])):
        out.print(Text.assemble((kind, "bold yellow"), (f"  {len(members)}", "dim")))
        for problem in members if full else members[:SHOWN_OF_A_KIND]:
            line = f":{problem['line']}" if problem["line"] else ""
            row = Text.assemble("  ", (safe(f"{problem['topic_id']}{line}"), "cyan"))
            row.append(safe(f"  {problem['field']}  "), style="dim")
            row.append(safe(str(problem["message"])))
            out.print(row)
        if not full and len(members) > SHOWN_OF_A_KIND:
            out.print(Text(f"  … {len(members) - SHOWN_OF_A_KIND} more (-v shows all)", style="dim"))


def show_halves(out: Console, counts: Mapping[str, Mapping[str, int]]) -> None:
    """Print how many topics of each category are in each half."""
    table = new_table("category", "development", "test", "test share")
    total = {half: sum(row.get(half, 0) for row in counts.values()) for half in ("development", "test")}
    for category, row in (*counts.items(), ("all", total)):
        n_test, n_all = row.get("test", 0), sum(row.values())
        style = "bold" if row is total else ""
        share = percent(n_test / n_all) if n_all else ""
        cells = (safe(category) or "–", str(row.get("development", 0)), str(n_test), share)
        table.add_row(*(Text(cell, style=style) for cell in cells))
    out.print(table)


def show_conflicts(out: Console, conflicts: Sequence[Mapping[str, Any]]) -> None:
    """Print each topic that annotators see differently, with both spans of every difference."""
    topic = None
    for conflict in conflicts:
        if conflict["topic_id"] != topic:
            topic = conflict["topic_id"]
            out.print(Text.assemble((safe(str(topic)), "bold cyan"), "  ", safe(str(conflict["query"]))))
        out.print(Text(f"  {conflict['kind']}", style="yellow"))
        for name in ("a", "b"):
            row = Text.assemble("    ", (safe(str(conflict[f"annotator_{name}"])), "bold"), ": ")
            row.append(safe(_place(conflict[name])))
            out.print(row)


def show_progress(out: Console, progress: Mapping[str, Any]) -> None:
    states = ", ".join(f"{count} {name}" for name, count in progress["n_by_state"].items())
    people = ", ".join(f"{safe(name)} {count}" for name, count in progress["n_by_annotator"].items())
    out.print(
        Text(f"{counted(progress['n_topics'], 'topic')}: {states}" + (f"; annotated: {people}" if people else ""))
    )


def show_agreement(out: Console, found: Mapping[str, Any]) -> None:
    """Print every agreement with the number of items it is over; ``undefined`` where chance explains all."""
    people = ", ".join(map(safe, found["annotators"])) or "nobody"
    out.print(Text(f"{counted(found['n_topics'], 'topic')} seen by at least two of: {people}"))
    table = new_table("agreement", "value", "items")
    rows = [
        (f"{name.replace('_', ' ')} {safe(pair['annotator_a'])} – {safe(pair['annotator_b'])}", pair[name])
        for pair in found["pairs"]
        for name in ("raw", "kappa", "kappa_quadratic")
    ]
    rows += [
        (name.replace("_", " "), found[name]) for name in ("alpha_nominal", "alpha_ordinal", "span_f1", "line_iou")
    ]
    for label, value in rows:
        shown = "undefined" if value["value"] is None else f"{value['value']:.4f}"
        table.add_row(Text(label), Text(shown, style="" if value["value"] is not None else "dim"), str(value["n"]))
    out.print(table)
    if found["units"] != "definitions" and found["n_topics"]:
        out.print(
            Text(
                "κ and α are over labelled spans only, so what both left out does not count; "
                "--source FOLDER compares all definitions of the labelled files",
                style="dim",
            )
        )


def _place(truth: Mapping[str, Any] | None) -> str:
    if truth is None:
        return "nothing here"
    lines = f":{truth['start_line']}-{truth['end_line']}" if truth.get("start_line") else " (whole file)"
    symbol = f"  {truth['symbol']}" if truth.get("symbol") else ""
    return f"{truth['file']}{lines}  {truth.get('grade', 'strong')}{symbol}"
