"""What ``devmind tune`` tells a person: the gain on questions held out, the weights that moved, what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from devmind.render.figures import counted, interval, number, signed
from devmind.render.plain import safe
from devmind.render.table import new_table

SHOWN_WEIGHTS = 10  # those that moved most; --json has all


def show_tuning(out: Console, record: Mapping[str, Any]) -> None:
    """Print the record of a fit, its verdict last."""
    out.print(Text(safe(_topics_line(record)), style="bold"))
    if record["left_out"]:
        out.print(Text(safe("left out: " + ", ".join(f"{why} {n}" for why, n in record["left_out"].items())), "dim"))
    if record["n_other_commit"]:
        n_other = counted(record["n_other_commit"], "topic")
        out.print(Text(f"{n_other} held out are about another commit than the one indexed", style="yellow"))
    out.print(Text(safe(_cross_validated_line(record)), style="dim"))
    if record["differences"]:
        _show_differences(out, record)
        _show_weights(out, record)
    out.print(Text(safe(verdict_line(record)), style="bold"))


def _topics_line(record: Mapping[str, Any]) -> str:
    n_used = f"{record['n_usable']} of {counted(record['n_development'], 'development topic')}"
    return f"{record['dataset']}: fitted on {n_used}, judged by {record['n_held_out']} held out"


def _cross_validated_line(record: Mapping[str, Any]) -> str:
    start, *others = record["cross_validated"].items()
    told = ", ".join(f"{freedom}: {number(ndcg)}" for freedom, ndcg in others)
    return f"file nDCG@10 cross-validated: shipped weights {number(start[1])}; by how far they may move {told}"


def _show_differences(out: Console, record: Mapping[str, Any]) -> None:
    table = new_table("held out", "before", "after", "difference", "95 % interval", "won", "lost", "tied")
    for name, found in record["differences"].items():
        table.add_row(
            safe(name), number(found["baseline"]), number(found["candidate"]), signed(found["mean"]), interval(found),
            str(found["n_wins"]), str(found["n_losses"]), str(found["n_ties"]),
        )  # fmt: skip
    out.print(table)
    out.print(Text(safe(f"before: {record['before']} weights"), style="dim"))


def _show_weights(out: Console, record: Mapping[str, Any]) -> None:
    moved = [(name, w["before"], w["after"]) for name, w in record["weights"].items() if w["before"] != w["after"]]
    moved.sort(key=lambda item: (-abs(item[2] - item[1]), item[0]))
    table = new_table("weight", "before", "after", "change")
    for name, before, after in moved[:SHOWN_WEIGHTS]:
        table.add_row(safe(name), number(before, 2), number(after, 2), signed(after - before))
    out.print()
    out.print(table)
    if len(moved) > SHOWN_WEIGHTS:
        out.print(Text(f"… {len(moved) - SHOWN_WEIGHTS} more moved less", style="dim"))


def verdict_line(record: Mapping[str, Any]) -> str:
    """Say in a sentence or two what became of the fitted weights."""
    measures = record["judged_by"]
    gain = f"{signed(record['gain'])} in {'the mean of ' if len(measures) > 1 else ''}{' and '.join(measures)}"
    if record["verdict"] == "no_fit":
        return "No fit was surely better than the shipped weights in cross-validation: nothing was changed."
    if record["verdict"] == "same":
        return "The fitted weights are those in use: nothing was changed."
    if record["kept"]:
        undo = "'devmind tune --undo' goes back."
        worse = "although the held-out part got worse" if record["verdict"] == "worse" else "held out"
        return f"Kept, {worse} ({gain}): {record['kept']}. {undo}"
    if record["verdict"] == "worse":
        return f"The held-out part got worse ({gain}): nothing was changed; --keep-anyway would keep the weights."
    return f"The held-out part got no worse ({gain}): without --dry-run the weights would be kept."
