"""What each part of retrieval is worth: the figures of `quality`, with the part left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.figures import FIGURES, Figure, Values, difference, estimated, head, number, row, values
from bench.quality import learned_from, measured_topics, too_few
from bench.runs import Row, held_out_ndcg
from bench.runs import run as run_of
from bench.topics import BUGS, CHAINS, COMMITS, QUESTIONS, SEMBLE, TRANSLATED, Asked, by_repo
from bench.variants import BASE, ablations
from devmind.evaluate.types import Estimate
from training.ranking import learned

ALL_SUITES = (SEMBLE, QUESTIONS, BUGS, TRANSLATED, COMMITS, CHAINS)
COLUMNS = tuple(figure for figure in FIGURES if figure.short != "chains whole")


def run() -> None:
    """Print the legs, the lexical fields and the parts of the Chinese, each left out."""
    asked = measured_topics()
    base = {figure.short: values(figure, asked, run_of(asked, BASE)) for figure in COLUMNS}
    print("Bold: the 95 % interval of the paired difference excludes 0. Weights of ranking as they are.\n")
    head("search", *(figure.short for figure in COLUMNS))
    row("all", *(number(estimated(base[figure.short]).mean) for figure in COLUMNS))
    for variant in ablations():
        rows = run_of(asked, BASE) | run_of(asked, variant)
        row(variant.name, *(_cell(figure, asked, rows, base[figure.short]) for figure in COLUMNS))


def _cell(figure: Figure, asked: Sequence[Asked], rows: Mapping[str, Row], base: Values) -> str:
    found = values(figure, asked, rows)
    return changed(estimated(found), difference(found, base))


def changed(value: Estimate, apart: Estimate) -> str:
    """Return a value, bold where its difference from the base is more than chance."""
    sure = apart.low is not None and apart.high is not None and (apart.low > 0 or apart.high < 0)
    return f"**{number(value.mean)}**" if sure else number(value.mean)


def run_features() -> None:
    """Print nDCG@10 of the files without each feature of ranking, cross-validated: weights are fitted without it."""
    asked = measured_topics()
    if too_few(asked):
        return
    ordered = [topic for own in by_repo(asked).values() for topic in own if topic.files]
    found, shares = learned_from(asked)
    print("Files alone; weights fitted without the feature, on other projects. Bold as above.\n")
    head("features", *ALL_SUITES)
    base: dict[str, Values] = {}
    for without in (None, *learned()):
        ndcg = held_out_ndcg(found, shares, without=() if without is None else (without,))
        by_suite: dict[str, Values] = {
            suite: [(t, v) for t, v in zip(ordered, ndcg, strict=True) if t.suite == suite] for suite in ALL_SUITES
        }
        base = base or by_suite
        row(
            "all" if without is None else f"without {without}",
            *(changed(estimated(by_suite[s]), difference(by_suite[s], base[s])) for s in ALL_SUITES),
        )
