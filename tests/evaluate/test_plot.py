"""Charts: well-formed, to scale, readable where values are odd."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import pytest

from devmind.evaluate.plot import Chart, Point, Series, figure, ticks

SVG = "{http://www.w3.org/2000/svg}"


def parsed(*charts: Chart) -> ET.Element:
    return ET.fromstring(figure('A <figure> & its "title"', charts, note="a note"))


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("low", "high", "log", "expected"),
    [
        (0, 1, False, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0, 97, False, [0, 20, 40, 60, 80, 100]),
        (0.82, 0.87, False, [0.82, 0.83, 0.84, 0.85, 0.86, 0.87]),
        (5, 5, False, [5, 6, 7, 8, 9, 10]),
        (0, 0, False, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (-3, 4, False, [-4, -2, 0, 2, 4]),
        (5, 50, True, [5, 10, 20, 50]),
        (0.004, 2, True, [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3]),
        (1, 1e8, True, [10.0**n for n in range(9)]),
        (10, 10, True, [10, 100]),
    ],
)  # fmt: skip
def test_ticks_are_round_and_cover_the_range(low: float, high: float, log: bool, expected: list[float]) -> None:
    assert ticks(low, high, log=log) == pytest.approx(expected)


def test_points_are_drawn_to_scale() -> None:
    root = parsed(Chart("c", "x", "y", [Series("s", [Point(0, 0), Point(50, 5), Point(100, 10)])]))
    line = next(root.iter(f"{SVG}polyline")).attrib["points"]
    (x0, y0), (x1, y1), (x2, y2) = (map(float, pair.split(",")) for pair in line.split())
    assert x1 - x0 == pytest.approx(x2 - x1) and y0 - y1 == pytest.approx(y1 - y2) and x2 > x0 and y2 < y0


def test_a_logarithmic_axis_keeps_ratios_and_leaves_out_what_has_none() -> None:
    series = Series("s", [Point(1, 0), Point(1, 1), Point(10, 10), Point(100, 100)])
    root = parsed(Chart("c", "x", "y", [series], x_log=True, y_log=True))
    points = [list(map(float, pair.split(","))) for pair in next(root.iter(f"{SVG}polyline")).attrib["points"].split()]
    assert len(points) == 3
    assert points[1][0] - points[0][0] == pytest.approx(points[2][0] - points[1][0])
    assert "x (logarithmic)" in texts(root)


def test_text_is_escaped_and_a_legend_names_every_series_once() -> None:
    chart = Chart("a < b", "x & y", "y", [Series("one <1>", [Point(1, 1, 0.5, 1.5)]), Series("two", [Point(2, 2)])])
    shown = texts(parsed(chart, chart))
    assert shown.count("one <1>") == 1 and shown.count("a < b") == 2 and 'A <figure> & its "title"' in shown


def test_labels_do_not_hide_each_other() -> None:
    chart = Chart("c", "x", "y", [Series("s", [Point(1, 1, label="first"), Point(1.01, 1.0, label="second")])])
    places = [(e.attrib["x"], e.attrib["y"]) for e in parsed(chart).iter(f"{SVG}text") if e.get("class") == "point"]
    assert len(set(places)) == 2


def test_a_chart_without_points_says_so() -> None:
    assert (
        texts(parsed(Chart("c", "x", "y", []), Chart("d", "x", "y", [Series("s", [Point(math.nan, 1)])]))).count(
            "nothing to draw"
        )
        == 2
    )


def test_both_schemes_have_a_colour_for_every_series() -> None:
    style = next(parsed(Chart("c", "x", "y", [Series("s", [Point(1, 1)])])).iter(f"{SVG}style")).text or ""
    light, _, dark = style.partition("@media(prefers-color-scheme:dark)")
    assert ".c0{color:" in light and ".c0{color:" in dark and light.partition(".c0{")[2] != dark.partition(".c0{")[2]
