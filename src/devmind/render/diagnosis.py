"""Diagnoses (their JSON shape) → text for a person: which stage lost it, the numbers behind that, what would help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from devmind.render.figures import counted, percent
from devmind.render.plain import safe
from devmind.render.table import new_table

N_WORDS = 8  # of the query that are shown; they stand most telling first
N_COSTS = 3
N_HITS = 3
KINDS = {"low_recall": "low recall: no candidate", "low_rank": "low rank: a candidate, but lost"}
TITLES = {
    "not_indexed": "not indexed",
    "stale": "stale",
    "diversity": "cut by diversity",
    "vocabulary": "vocabulary gap",
    "split": "split across chunks",
    "no_leg": "not given by any leg",
    "fusion": "lost in fusion",
}
LEGS = {"lexical": "BM25", "dense": "vectors", "symbol": "symbols"}
ADVICE = {
    "indexing": "run 'devmind sync', or change what is ignored ('devmind files REPO --skipped' lists it)",
    "syncing": "run 'devmind sync' so that the index holds the code of today; if it does, label the topic again",
    "diversity rules": "let a file have more hits: the limit and the weight of further chunks of a file are too strict",
    "reranker": "weigh the features otherwise, or add a reranker: the evidence was there and was outweighed",
    "query expansion": "ask with words of the code, or have a model rewrite the query",
    "chunking": "cut the code otherwise: its pieces answer together what none answers alone",
    "embedder": "use a stronger embedding model, or take more candidates from each leg",
    "graph": "follow the relations of the hits: the expected code is one step from one of them",
}


def show_why(out: Console, said: Mapping[str, Any], *, full: bool) -> None:
    """Print the diagnosis of one question."""
    expected = said["expected"]
    place = Text(safe(_place(expected)), style="cyan")
    if said["kind"] == "found":
        out.print(
            Text.assemble(place, " is found: ", (f"hit {said['rank']}", "bold green"), f" of {len(said['hits'])}")
        )
        return
    title = TITLES.get(str(said["cause"]), str(said["cause"]))
    out.print(Text.assemble(place, f" is not in the first {said['k']}: ", (title, "bold yellow")))
    out.print(Text(f"  {KINDS[said['kind']]}; {safe(said['reason'])}"))
    if said["lines"] and full:
        start, end = said["lines"]
        out.print(Text(f"  judged by the chunk of lines {start}-{end}, one of {said['n_chunks']} that hold it", "dim"))
    _show_legs(out, said["legs"])
    _show_words(out, said["words"])
    _show_costs(out, said, full=full)
    _show_hits(out, said["hits"], full=full)
    if said["neighbour"]:
        near = said["neighbour"]
        said_so = f"hit {near['rank']} {'uses' if near['relation'] == 'uses' else 'is used by'} it: {near['name']}"
        out.print(_row("relations", Text(safe(said_so))))
    advice = ADVICE.get(str(said["lever"]), "")
    out.print(_row("try", Text.assemble((str(said["lever"]), "bold green"), f": {advice}")))


def _show_legs(out: Console, legs: Sequence[Mapping[str, Any]]) -> None:
    for leg in legs:
        rank = f"rank {leg['rank']:,}" if leg["rank"] else "not found"
        state = f"it gave {leg['n_taken']:,} candidates, {'this one too' if leg['taken'] else 'not this one'}"
        out.print(_row(LEGS.get(str(leg["leg"]), str(leg["leg"])), Text.assemble(rank, (f"  {state}", "dim"))))


def _show_words(out: Console, words: Mapping[str, Any] | None) -> None:
    if words is None:
        return
    shared, lacking = (", ".join(map(safe, words[name][:N_WORDS])) or "none" for name in ("shared", "lacking"))
    more = len(words["lacking"]) - N_WORDS
    lacks = f"; it lacks {lacking}" + (f" and {more} more" if more > 0 else "")
    out.print(_row("words", Text.assemble(f"shared {percent(words['share'])}: {shared}", (lacks, "dim"))))


def _show_costs(out: Console, said: Mapping[str, Any], *, full: bool) -> None:
    costs = said["costs"] if full else said["costs"][:N_COSTS]
    for cost in costs:
        numbers = f"{cost['expected']:.4g} against {cost['last_hit']:.4g} of hit {len(said['hits'])}"
        name = f"{safe(str(cost['feature']))} cost {cost['cost']:.2f}"
        out.print(_row("features" if cost is costs[0] else "", Text.assemble(name, (f"  {numbers}", "dim"))))


def _show_hits(out: Console, hits: Sequence[Mapping[str, Any]], *, full: bool) -> None:
    for hit in hits if full else hits[:N_HITS]:
        place = Text(f"{hit['rank']}. ")
        place.append(f"{safe(hit['path'])}:{hit['start_line']}-{hit['end_line']}", style="cyan")
        place.append(f"  {safe(hit['symbol'])}" if hit["symbol"] else "")
        out.print(_row("instead" if hit is hits[0] else "", place))


def _row(name: str, text: Text) -> Text:
    return Text.assemble((f"  {name:<10}", "dim"), text)


def _place(expected: Mapping[str, Any]) -> str:
    lines = ", ".join(f"{start}-{end}" for start, end in expected["spans"])
    part = f":{expected['symbol']}" if expected["symbol"] else ""
    return f"{expected['path']}{part}" + (f" ({lines})" if lines else "")


def show_losses(out: Console, said: Mapping[str, Any], *, full: bool) -> None:
    """Print the causes with their counts; with ``full`` each failed topic, too."""
    n_failed, n_topics = said["n_failed"], said["n_topics"]
    left = f"; {said['n_unjudged']} without truths left out" if said["n_unjudged"] else ""
    out.print(Text(f"{counted(n_topics, 'topic')}, first {counted(said['k'], 'hit')}{left}"))
    out.print(
        Text(
            f"{n_failed} failed (none of their code found), {said['n_partial']} found in part; "
            f"{said['n_missed']} of {said['n_truths']} spans missed, {said['n_beside']} of them one step from a hit"
        )
    )
    if not said["causes"]:
        return
    out.print()
    out.print(_cause_table(said["causes"]))
    out.print()
    for lever in dict.fromkeys(row["lever"] for row in said["causes"]):
        out.print(Text.assemble((f"  {lever:<16}", "green"), (ADVICE.get(lever, ""), "dim")))
    if full:
        _show_failed(out, said["topics"])


def _cause_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a line for each cause; what it was within the cause, and the levers, with the spans of each."""
    table = new_table("cause", "topics", "spans", "no candidate", "levers", "of it", left=("levers", "of it"))
    by_cause: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_cause.setdefault(row["cause"], []).append(row)
    n_topics = {cause: sum(row["n_topics"] for row in members) for cause, members in by_cause.items()}
    n_spans = {cause: sum(row["n_truths"] for row in members) for cause, members in by_cause.items()}
    for cause in sorted(by_cause, key=lambda cause: (-n_topics[cause], -n_spans[cause], cause)):
        members = by_cause[cause]
        without = sum(row["n_truths"] for row in members if row["kind"] == "low_recall")
        cells = (str(n_topics[cause]), str(n_spans[cause]), str(without))
        table.add_row(
            TITLES.get(cause, cause), *cells, Text(_spans_by(members, "lever"), style="green"),
            Text(_spans_by(members, "code"), style="dim"),
        )  # fmt: skip
    return table


def _spans_by(rows: Sequence[Mapping[str, Any]], field: str) -> str:
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row[field]] += row["n_truths"]
    return ", ".join(f"{safe(name)} {count}" for name, count in counts.most_common() if name)


def _show_failed(out: Console, topics: Sequence[Mapping[str, Any]]) -> None:
    for topic in topics:
        for item in topic["truths"]:
            if item["cause"]:
                lines = f":{item['start_line']}-{item['end_line']}" if item["start_line"] else ""
                row = Text.assemble((safe(topic["topic_id"]), "bold"), "  ", (safe(item["file"]) + lines, "cyan"))
                row.append(f"  {TITLES.get(item['cause'], item['cause'])}: {safe(item['reason'])}")
                out.print(row)
