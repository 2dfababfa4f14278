"""The record of a report → the sections of its page that read without scripts, and the places that scripts fill."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from devmind.evaluate.report.data import meaning
from devmind.evaluate.report.markup import Markup, joined, tag
from devmind.evaluate.report.provenance import short_commit
from devmind.render.evaluation import clipped, comparison_verdict, counts_line, direction, run_notes
from devmind.render.figures import interval, number, p_value, signed

Record = Mapping[str, Any]
_CARDS = 6
_MOVED = 8  # topics listed as won and as lost
_HASH_CHARS = 12
_SECTIONS = (
    ("measures", "Measures"), ("comparison", "Comparison"), ("groups", "Groups"), ("ranks", "Ranks"),
    ("topics", "Topics"), ("trouble", "Responses"), ("provenance", "Provenance"),
)  # fmt: skip


def page_title(record: Record) -> str:
    systems = " and ".join(dict.fromkeys(run["system"] for run in record["runs"]))
    return f"{systems} over {record['provenance']['dataset']}"


def page_sections(record: Record) -> Iterable[Markup]:
    """Yield the page from top to bottom."""
    yield tag("a", "Skip to the measures", href="#measures", class_="skip")
    yield _top_bar(record)
    parts = [_hero(record), _measures(record), *_comparisons(record), _groups(record), _ranks(record)]
    parts += [_topics(), _trouble(record), _provenance(record)]
    yield tag("main", *parts)
    yield tag("footer", "Made by devmind eval report. The page holds all of its data and loads nothing.")


def _top_bar(record: Record) -> Markup:
    links = [
        tag("a", title, href=f"#{name}") for name, title in _SECTIONS if name != "comparison" or record["comparisons"]
    ]
    theme = tag("button", "Theme", type="button", id="theme", title="Light, dark, or as the system has it")
    return tag("header", tag("nav", *links, aria_label="Sections"), theme, class_="bar")


def _hero(record: Record) -> Markup:
    around = record["provenance"]
    chips = [
        ("dataset", f"{around['dataset']} · {around['dataset_hash'][:_HASH_CHARS]}"),
        ("topics", f"{record['runs'][0]['n_topics']:,} · {around['split']}"),
        ("match", around["match"]),
        ("code", short_commit(around["commit"])),
        ("made", around["made"].replace("T", " ")[:16]),
    ]
    return tag(
        "section",
        tag("p", f"Evaluation report · DevMind {around['devmind']}", class_="eyebrow"),
        tag("h1", _systems(record)),
        *_verdicts(record),
        tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in chips), class_="chips"),
        tag("div", *_cards(record), class_="cards"),
        class_="hero",
    )


def _systems(record: Record) -> str:
    """Name what is judged: the candidates, if there is a baseline."""
    judged = record["runs"][1:] if record["comparisons"] else record["runs"]
    return " · ".join(run["system"] for run in judged)


def _verdicts(record: Record) -> list[Markup]:
    if not record["comparisons"]:
        return [tag("p", counts_line(run), class_="verdict") for run in record["runs"][:1]]
    said = []
    for one in record["comparisons"]:
        signs = {direction(found) for found in one["differences"].values()}
        tone = "bad" if -1 in signs else "good" if 1 in signs else "even"
        said.append(tag("p", comparison_verdict(one), class_=f"verdict {tone}"))
    lost = [run for run in record["runs"] if run["n_missing"] or run["n_failed"]]
    return said + [tag("p", f"{run['system']}: {counts_line(run)}", class_="bad counts") for run in lost]


def _cards(record: Record) -> Iterable[Markup]:
    """Yield the first measures of the last run: with a baseline, that is a candidate."""
    run = record["runs"][-1]
    differences = record["comparisons"][-1]["differences"] if record["comparisons"] else {}
    shares = [name for name in record["measures"] if record["about"][name]["share"]]
    for name in shares[:_CARDS]:
        found = run["overall"][name]
        delta: Markup | str = ""
        if name in differences:
            tone = {1: "good", -1: "bad", 0: "even"}[direction(differences[name])]
            delta = tag("span", _minus(signed(differences[name]["mean"])), class_=f"delta {tone}")
        yield tag(
            "div",
            tag("div", name, class_="name", title=meaning(name)),
            tag("div", tag("strong", number(found["mean"])), delta, class_="value"),
            _range(found, len(record["runs"]) - 1),
            tag("div", interval(found) or "no interval", class_="dim"),
            class_="card",
        )


def _range(found: Record, series: int) -> Markup:
    """Return a bar from 0 to 1 with the interval and the mean on it."""
    if found["mean"] is None or not 0 <= found["mean"] <= 1:
        return Markup("")
    low = found["low"] if found["low"] is not None else found["mean"]
    high = found["high"] if found["high"] is not None else found["mean"]
    return tag(
        "div",
        tag("i", style=f"left:{low:.2%};width:{max(high - low, 0):.2%}"),
        tag("b", style=f"left:{found['mean']:.2%}"),
        class_=f"range s{series % 6}",
        role="img",
        aria_label=f"{number(found['mean'])} {interval(found)}",
    )


def _measures(record: Record) -> Markup:
    head = [_th("measure"), *(_th(run["system"], numeric=True, colour=i) for i, run in enumerate(record["runs"]))]
    rows = []
    for name in record["measures"]:
        cells = [tag("td", tag("b", name), tag("span", meaning(name), class_="dim what"), data_value=name)]
        for i, run in enumerate(record["runs"]):
            found = run["overall"][name]
            shown = tag("span", tag("b", number(found["mean"])), " ", tag("span", interval(found), class_="dim"))
            cells.append(tag("td", shown, _range(found, i), class_="num", data_value=_sortable(found["mean"])))
        cells.append(tag("td", str(record["runs"][0]["overall"][name]["n"]), class_="num"))
        rows.append(tag("tr", *cells))
    table = _table([*head, _th("topics", numeric=True)], rows)
    note = "Mean over topics and its 95 % interval, by bootstrap over whole repositories. "
    few = "With few repositories an interval is rough; with one it speaks of that repository only."
    return _section("measures", table, tag("p", note, few, class_="note"))


def _comparisons(record: Record) -> Iterable[Markup]:
    if not record["comparisons"]:
        return
    blocks = []
    for at, one in enumerate(record["comparisons"]):
        blocks += [
            tag("h3", f"{one['candidate']} against {one['baseline']}"),
            _differences(one),
            tag(
                "div",
                tag("div", class_="chart", id=f"moved-{at}", data_chart="moved", data_at=str(at)),
                tag("p", "Each bar is a topic. Click one to see it.", class_="note scripted"),
            ),
            _moved(record, one),
        ]
    yield _section("comparison", *blocks)


def _differences(one: Record) -> Markup:
    names = ("baseline", "candidate", "difference", "95 % interval", "p (Holm)", "effect", "won", "lost", "tied")
    head = [_th("measure"), *(_th(name, numeric=True) for name in names)]
    rows = []
    for name, found in one["differences"].items():
        tone = {1: "good", -1: "bad", 0: ""}[direction(found)]
        cells = [
            tag("td", number(found["baseline"]), class_="num"),
            tag("td", number(found["candidate"]), class_="num"),
            tag(
                "td", tag("b", _minus(signed(found["mean"]))), class_=f"num {tone}", data_value=_sortable(found["mean"])
            ),
            tag("td", _minus(interval(found)), class_="num dim"),
            tag("td", p_value(found["p_holm"]), class_="num", data_value=_sortable(found["p_holm"])),
            tag(
                "td", _minus(number(found["effect_size"], 2)), class_="num", data_value=_sortable(found["effect_size"])
            ),
            *(tag("td", str(found[key]), class_="num") for key in ("n_wins", "n_losses", "n_ties")),
        ]
        rows.append(tag("tr", tag("td", tag("b", name), title=meaning(name)), *cells))
    return _table(head, rows)


def _moved(record: Record, one: Record) -> Markup:
    """List the topics that were lost and won most in the measure that topics are ordered by."""
    name = record["primary"] if record["primary"] in one["differences"] else next(iter(one["differences"]))
    found = one["differences"][name]
    sign = -1 if found["lower_is_better"] else 1
    ordered = sorted(found["by_topic"].items(), key=lambda item: (sign * item[1], item[0]))
    lost = [item for item in ordered if sign * item[1] < 0][:_MOVED]
    won = [item for item in reversed(ordered) if sign * item[1] > 0][:_MOVED]
    queries = {topic["id"]: topic["query"] for topic in record["topics"]}

    def listed(title: str, items: Sequence[tuple[str, float]], tone: str) -> Markup:
        rows = [
            tag(
                "li",
                tag("span", _minus(signed(value)), class_=f"delta {tone}"),
                tag("a", clipped(queries[name_]), href="#topics", data_topic=name_),
            )
            for name_, value in items
        ]
        empty = tag("p", "None.", class_="dim")
        return tag("div", tag("h4", f"{title} most in {name}"), tag("ol", *rows) if rows else empty, class_="moved")

    return tag("div", listed("Lost", lost, "bad"), listed("Won", won, "good"), class_="two")


def _groups(record: Record) -> Markup:
    groupings = list(record["runs"][0]["groups"])
    if not groupings:
        return _section("groups", tag("p", "No label divides the topics.", class_="dim"))
    options = [tag("option", name, value=name, selected=name == record["primary"]) for name in record["measures"]]
    tabs = [tag("button", name, type="button", data_grouping=name, aria_pressed="false") for name in groupings]
    controls = tag(
        "div",
        tag("div", *tabs, class_="tabs", role="group", aria_label="Grouping"),
        tag("label", "Measure ", tag("select", *options, id="group-measure")),
        class_="controls scripted",
    )
    tables = [tag("div", tag("h3", name), _group_table(record, name), data_group=name) for name in groupings]
    chart = tag("div", class_="chart", id="group-chart", data_chart="groups")
    return _section("groups", controls, chart, *tables)


def _group_table(record: Record, grouping: str) -> Markup:
    """Return the primary measure of each value by run; the chart above it shows the others."""
    name = record["primary"]
    head = [_th(grouping), *(_th(f"{run['system']} {name}", numeric=True, colour=i) for i, run in _numbered(record))]
    values = dict.fromkeys(value for run in record["runs"] for value in run["groups"].get(grouping, {}))
    rows = []
    for value in values:
        found = [run["groups"].get(grouping, {}).get(value, {}).get(name) for run in record["runs"]]
        cells = [
            tag(
                "td",
                tag("b", number(one["mean"])), " ", tag("span", interval(one), class_="dim"),
                class_="num", data_value=_sortable(one["mean"]),
            )
            if one
            else tag("td", "–", class_="num")
            for one in found
        ]  # fmt: skip
        n = max((one["n"] for one in found if one), default=0)
        if not n:  # traps have no measure of retrieval
            continue
        rows.append(tag("tr", tag("td", value), *cells, tag("td", str(n), class_="num")))
    return _table([*head, _th("topics", numeric=True)], rows)


def _numbered(record: Record) -> Iterable[tuple[int, Record]]:
    return enumerate(record["runs"])


def _ranks(record: Record) -> Markup:
    charts = [_figure("Rank of the first right hit", "ranks"), _figure("Confidence", "confidence")]
    return _section("ranks", tag("div", *charts, class_="two scripted"), _abstention(record))


def _figure(title: str, chart: str) -> Markup:
    return tag("figure", tag("figcaption", title), tag("div", class_="chart", data_chart=chart), id=f"figure-{chart}")


def _abstention(record: Record) -> Markup:
    head = [
        _th("abstention"),
        *(
            _th(name, numeric=True)
            for name in ("traps", "refused", "answerable", "refused falsely", "confidence AUROC")
        ),
    ]
    rows = []
    for run in record["runs"]:
        found = run["abstention"]
        cells = [
            str(found["n_traps"]), number(found["refusal_rate"]), str(found["n_answerable"]),
            number(found["false_refusal_rate"]), number(found["confidence_auroc"]),
        ]  # fmt: skip
        rows.append(tag("tr", tag("td", run["system"]), *(tag("td", cell, class_="num") for cell in cells)))
    note = "AUROC: the chance that the system is more confident of a question with an answer than of a trap."
    return joined(_table(head, rows), tag("p", note, class_="note"))


def _topics() -> Markup:
    need = tag("noscript", tag("p", "The topics are drawn by a script; the Markdown and JSON reports need none."))
    return _section("topics", need, tag("div", id="explorer"))


def _trouble(record: Record) -> Markup:
    rows = []
    for run in record["runs"]:
        took = run["seconds"]
        times = [f"{took[name]:.3f}" for name in ("p50", "p95", "p99")] if took else ["–"] * 3
        failed = ", ".join(f"{kind} {n}" for kind, n in run["failures"].items()) or "none"
        cells = [tag("td", str(run["n_missing"]), class_="num"), tag("td", str(run["n_failed"]), class_="num")]
        cells += [tag("td", failed), *(tag("td", time, class_="num") for time in times)]
        rows.append(tag("tr", tag("td", run["system"]), *cells))
    names = ("missing", "failed", "failures by kind", "p50 s", "p95 s", "p99 s")
    head = [_th("system"), *(_th(name, numeric=name != "failures by kind") for name in names)]
    blocks = [_table(head, rows)]
    for run in record["runs"]:
        notes = run_notes({**run, "n_excluded": record["n_excluded"]})
        if notes:
            blocks.append(tag("div", tag("h3", run["system"]), tag("ul", *(tag("li", note) for note in notes))))
    return _section("trouble", *blocks)


def _provenance(record: Record) -> Markup:
    blocks = [_facts("Evaluation", record["provenance"])]
    blocks += [_facts(run["system"], run["provenance"]) for run in record["runs"]]
    return _section("provenance", tag("div", *blocks, class_="facts"))


def _facts(title: str, values: Mapping[str, str]) -> Markup:
    rows = [tag("div", tag("dt", name), tag("dd", value)) for name, value in values.items()]
    return tag("div", tag("h3", title), tag("dl", *rows))


def _section(name: str, *children: str | Markup) -> Markup:
    return tag("section", tag("h2", dict(_SECTIONS)[name]), *children, id=name)


def _table(head: Sequence[Markup], rows: Sequence[Markup]) -> Markup:
    table = tag("table", tag("thead", tag("tr", *head)), tag("tbody", *rows), class_="sortable")
    return tag("div", table, class_="scroll")


def _th(name: str, *, numeric: bool = False, colour: int | None = None) -> Markup:
    dot: Markup | str = tag("i", class_=f"dot s{colour % 6}") if colour is not None else ""
    return tag("th", dot, name, scope="col", class_="num" if numeric else None)


def _sortable(value: float | None) -> str | None:
    return None if value is None else repr(value)


def _minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")
