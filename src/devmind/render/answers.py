"""What ``devmind eval answers`` tells a person: means, thresholds, the diagnosis, nulls, agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from devmind.render.figures import counted, interval, number, percent
from devmind.render.plain import safe
from devmind.render.table import new_table

Found = Mapping[str, Any]
SHOWN_TOPICS = 5  # of a scenario, without -v


def show_answers(out: Console, found: Found, *, full: bool) -> None:
    """Print the quality of a run's answers.

    Args:
        found: What ``--json`` writes.
        full: Name every topic of the scenarios that are a fault.
    """
    outcomes = ", ".join(f"{n} {safe(name)}" for name, n in found["outcomes"].items())
    out.print(Text.assemble((safe(found["system"]), "bold"), f" over {safe(found['dataset'])}: {outcomes}"))
    _show_measures(out, found["measures"])
    _show_thresholds(out, found["calibration"], found["embedder"])
    _show_scenarios(out, found, full=full)
    if found["pairwise"]:
        _show_duels(out, found["pairwise"])
    _show_agreement(out, found)
    _show_nulls(out, found)


def _show_measures(out: Console, measures: Found) -> None:
    table = new_table("measure", "mean", "95 % interval", "topics")
    for name, estimate in measures.items():
        table.add_row(safe(name), number(estimate["mean"]), interval(estimate), str(estimate["n"]))
    out.print(table)


def _show_thresholds(out: Console, calibration: Found, embedder: str) -> None:
    out.print()
    how = f"{calibration['percentile']:g}th percentile of pairs shuffled within the {calibration['within']}"
    out.print(Text(f"high: above the {how}; {safe(embedder)}"))
    table = new_table("cosine", "threshold", "true pairs", "shuffled", "AUROC", "high")
    for row in calibration["thresholds"]:
        if row["value"] is None:
            table.add_row(row["cosine"], Text("none", style="yellow"))
            continue
        share = "" if row["share_high"] is None else percent(row["share_high"])
        numbers = [number(row[key]) for key in ("value", "mean_true", "mean_shuffled", "auroc")]
        table.add_row(row["cosine"], *numbers, share)
    out.print(table)
    for row in calibration["thresholds"]:  # beside the numbers they would push these out of sight
        if row["value"] is None:
            out.print(Text(f"{row['cosine']}: {safe(row['reason'])}", style="yellow"))


def _show_scenarios(out: Console, found: Found, *, full: bool) -> None:
    out.print()
    table = new_table("scenario", "", "topics", "such as", left=("scenario", "", "such as"))
    for row in found["scenarios"]:
        topics = [topic["topic_id"] for topic in found["topics"] if topic["scenario"] == row["scenario"]]
        named = "" if row["scenario"] == "C" else _listed(topics, full=full)
        table.add_row(row["scenario"], row["meaning"], str(row["n"]), Text(named, style="cyan"))
    table.add_row("–", "cannot be told", str(found["n_without_scenario"]), "")
    out.print(table)
    if found["n_forced"]:
        out.print(Text(f"{found['n_forced']} with a high Correctness that the other two angles force", style="dim"))


def _show_duels(out: Console, duels: Found) -> None:
    rate, bias = duels["win_rate"], duels["position_bias"]
    out.print()
    counts = f"{duels['n_ours']} better, {duels['n_theirs']} worse, {duels['n_ties']} ties"
    out.print(Text(f"against {safe(duels['other'])}: {counts}, {duels['n_null']} without a verdict"))
    table = new_table("pairwise", "value", "95 % interval", "topics")
    table.add_row("win rate", number(rate["mean"]), interval(rate), str(rate["n"]))
    table.add_row("position bias", number(bias["mean"]), interval(bias), str(bias["n"]))
    table.add_row("same position chosen twice", number(duels["flip_share"]), "", "")
    table.add_row("p", number(duels["p"]), "", "")
    _add_agreement(table, "alpha of the repeats", duels["repeat_agreement"])
    out.print(table)


def _show_agreement(out: Console, found: Found) -> None:
    table = new_table("agreement", "value", "", "items")
    for criterion, agreement in found["repeat_agreement"].items():
        _add_agreement(table, f"judge with itself, {criterion}: alpha ordinal", agreement)
    for criterion, scale in found["human_agreement"].items():
        _add_scale(table, criterion, scale)
    if found["acceptability"]:
        _add_scale(table, "acceptable", found["acceptability"]["agreement"])
    if table.row_count:
        out.print()
        out.print(table)
    if found["acceptability"]:
        words = ", ".join(f"{n} {word}" for word, n in found["acceptability"]["n_by_word"].items())
        out.print(Text(f"people said: {words}", style="dim"))
    if found["n_stale_labels"]:
        out.print(Text(f"{counted(found['n_stale_labels'], 'label')} of people about other answers left out"))


def _add_scale(table: Table, name: str, scale: Found) -> None:
    _add_agreement(table, f"{name}: alpha ordinal", scale["alpha_ordinal"])
    for pair in scale["pairs"]:
        who = f"{safe(pair['first'])} – {safe(pair['second'])}"
        _add_agreement(table, f"{name}: raw {who}", pair["raw"])
        _add_agreement(table, f"{name}: kappa {who}", pair["kappa"])
        _add_agreement(table, f"{name}: kappa quadratic {who}", pair["kappa_quadratic"])


def _add_agreement(table: Table, name: str, agreement: Found) -> None:
    value = Text("undefined", style="dim") if agreement["value"] is None else Text(number(agreement["value"]))
    table.add_row(name, value, "", str(agreement["n"]))


def _show_nulls(out: Console, found: Found) -> None:
    for instrument, kinds in found["nulls"].items():
        listed = ", ".join(f"{n} {safe(kind)}" for kind, n in kinds.items())
        out.print(Text(f"{instrument}: {sum(kinds.values())} without a verdict: {listed}", style="yellow"))


def _listed(topics: Sequence[str], *, full: bool) -> str:
    shown = topics if full else topics[:SHOWN_TOPICS]
    rest = len(topics) - len(shown)
    return safe(", ".join(shown)) + (f", {rest} more (-v)" if rest else "")
