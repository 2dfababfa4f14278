"""Series of points → one SVG file that stands by itself: small charts side by side, in light and in dark surroundings.

A series has one colour and one marker in all charts of a figure, so neither colour nor print alone must tell them
apart. Charts of one figure share their legend.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

_WIDTH: Final = 420  # of one chart with its axes
_HEIGHT: Final = 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 16, 40, 50
_COLUMNS: Final = 2
_CHAR_PX: Final = 6.4  # mean width of a character at 12 px
_LINE_PX: Final = 20
_MAX_TICKS: Final = 6

# Light, dark. Told apart by people with red-green blindness (hue and lightness both change); 3:1 on their background.
_COLOURS: Final = (
    ("#1f6fd6", "#6aa9ff"),
    ("#c4570b", "#ff9f5a"),
    ("#0b7f63", "#4fd1a5"),
    ("#8a3fa8", "#d292ec"),
    ("#a1790a", "#e3bf4d"),
    ("#b4284f", "#ff86a4"),
    ("#4a5568", "#a9b4c4"),
)
_MARKERS: Final = ("circle", "square", "triangle", "diamond")


@dataclass(frozen=True, slots=True)
class Point:
    """``low`` and ``high`` draw an interval; ``label`` stands beside the point."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    points: Sequence[Point]
    line: bool = True


@dataclass(frozen=True, slots=True)
class Chart:
    """One pair of axes. A linear y axis begins at 0 unless ``y_zoom``; a logarithmic one leaves out what is not > 0."""

    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    x_log: bool = False
    y_log: bool = False
    y_zoom: bool = False


def figure(title: str, charts: Sequence[Chart], *, note: str = "") -> str:
    """Return the SVG text of all charts under one title and legend.

    Args:
        note: a line below: what the marks mean, how it was measured.
    """
    names = list(dict.fromkeys(series.name for chart in charts for series in chart.series))
    columns = min(_COLUMNS, max(1, len(charts)))
    width = max(columns * _WIDTH, 460)
    legend, legend_height = _legend(names, width)
    top = 34 + legend_height
    rows = math.ceil(len(charts) / columns)
    height = top + rows * _HEIGHT + (26 if note else 6)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{_attribute(title)}">',
        f"<title>{escape(title)}</title>",
        f"<style>{_style(len(names))}</style>",
        f'<rect class="back" width="{width}" height="{height}"/>',
        f'<text class="head" x="14" y="24">{escape(title)}</text>',
        legend,
    ]
    for place, chart in enumerate(charts):
        x, y = (place % columns) * _WIDTH, top + (place // columns) * _HEIGHT
        parts.append(f'<g transform="translate({x} {y})">{_chart(chart, names)}</g>')
    if note:
        parts.append(f'<text class="note" x="14" y="{height - 10}">{escape(note)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def ticks(low: float, high: float, *, log: bool = False) -> list[float]:
    """Return round numbers that cover ``low`` to ``high``; the first and last are the ends of the axis."""
    if log:
        return _log_ticks(low, high)
    if high <= low:
        high = low + (abs(low) or 1.0)
    rough = (high - low) / (_MAX_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(n * step, 12) for n in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    exponents = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        steps = [factor * 10.0**exponent for exponent in exponents for factor in factors]
        first = max((step for step in steps if step <= low * (1 + 1e-9)), default=steps[0])
        last = min((step for step in steps if step >= high * (1 - 1e-9)), default=steps[-1])
        kept = [step for step in steps if first <= step <= last]
        if len(kept) <= _MAX_TICKS + 1:
            break
    return kept if len(kept) > 1 else [kept[0], kept[0] * 10]


@dataclass(frozen=True, slots=True)
class _Axis:
    """Values → pixels from ``start`` to ``end``."""

    ticks: Sequence[float]
    log: bool
    start: float
    end: float

    def at(self, value: float) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(max(value, 1e-300))
        share = (value - low) / (high - low)
        return round(self.start + min(1.0, max(0.0, share)) * (self.end - self.start), 2)


def _chart(chart: Chart, names: Sequence[str]) -> str:
    points = [point for series in chart.series for point in series.points if _drawable(point, chart)]
    head = f'<text class="title" x="{_LEFT}" y="20">{escape(chart.title)}</text>'
    if not points:
        middle = f'x="{_WIDTH / 2}" y="{_HEIGHT / 2}" text-anchor="middle"'
        return f'{head}<text class="note" {middle}>nothing to draw</text>'
    xs = [point.x for point in points]
    ys = [value for point in points for value in (point.y, point.low, point.high) if value is not None]
    ys = [value for value in ys if value > 0] if chart.y_log else ys
    lowest_y = min(ys) if chart.y_log or chart.y_zoom else min(0.0, *ys)
    across = _Axis(
        ticks(*_room(min(xs), max(xs), log=chart.x_log), log=chart.x_log), chart.x_log, _LEFT, _WIDTH - _RIGHT
    )
    up = _Axis(ticks(lowest_y, max(ys), log=chart.y_log), chart.y_log, _HEIGHT - _BOTTOM, _TOP)
    drawn = [
        _series(series, chart, across, up, colour=names.index(series.name)) for series in chart.series if series.points
    ]
    return "".join([head, _axes(chart, across, up), *drawn, _labels(chart, across, up)])


def _room(low: float, high: float, *, log: bool) -> tuple[float, float]:
    """Return a little more than the range, so that no point lies on the edge; never below 0 for what is not."""
    if log:
        return low / 1.15, high * 1.15
    margin = (high - low or abs(high) or 1.0) * 0.04
    return (max(0.0, low - margin) if low >= 0 else low - margin), high + margin


def _drawable(point: Point, chart: Chart) -> bool:
    finite = math.isfinite(point.x) and math.isfinite(point.y)
    return finite and not (chart.x_log and point.x <= 0) and not (chart.y_log and point.y <= 0)


def _axes(chart: Chart, across: _Axis, up: _Axis) -> str:
    parts = []
    for value in up.ticks:
        y = up.at(value)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="tick" x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{_number(value)}</text>')
    bottom = _HEIGHT - _BOTTOM
    for value in across.ticks:
        x = across.at(value)
        parts.append(f'<line class="axis" x1="{x}" x2="{x}" y1="{bottom}" y2="{bottom + 4}"/>')
        parts.append(f'<text class="tick" x="{x}" y="{bottom + 18}" text-anchor="middle">{_number(value)}</text>')
    parts.append(f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{bottom}" y2="{bottom}"/>')
    middle_x, middle_y = (_LEFT + _WIDTH - _RIGHT) / 2, (_TOP + bottom) / 2
    scale = " (logarithmic)"
    x_label, y_label = chart.x_label + scale * chart.x_log, chart.y_label + scale * chart.y_log
    parts.append(f'<text class="label" x="{middle_x}" y="{bottom + 38}" text-anchor="middle">{escape(x_label)}</text>')
    parts.append(
        f'<text class="label" transform="translate(14 {middle_y}) rotate(-90)" text-anchor="middle">'
        f"{escape(y_label)}</text>"
    )
    return "".join(parts)


def _series(series: Series, chart: Chart, across: _Axis, up: _Axis, *, colour: int) -> str:
    points = [point for point in series.points if _drawable(point, chart)]
    places = [(across.at(point.x), up.at(point.y)) for point in points]
    parts = [f'<g class="c{colour % len(_COLOURS)}"><title>{escape(series.name)}</title>']
    if series.line and len(places) > 1:
        path = " ".join(f"{x},{y}" for x, y in places)
        parts.append(f'<polyline class="line" points="{path}"/>')
    for point, (x, y) in zip(points, places, strict=True):
        if point.low is not None and point.high is not None:
            low, high = up.at(point.low), up.at(point.high)
            parts.append(f'<path class="bar" d="M{x} {low}V{high}M{x - 3} {low}h6M{x - 3} {high}h6"/>')
        parts.append(_marker(colour, x, y))
    return "".join([*parts, "</g>"])


@dataclass(frozen=True, slots=True)
class _Box:
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: _Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def _labels(chart: Chart, across: _Axis, up: _Axis) -> str:
    """Write each label beside its point, where it hides neither another label nor a marker if there is such a place."""
    points = [point for series in chart.series for point in series.points if _drawable(point, chart)]
    places = {(across.at(point.x), up.at(point.y)) for point in points}
    parts = []
    taken: list[_Box] = []
    for point in sorted((p for p in points if p.label), key=lambda p: (up.at(p.y), p.x, p.label)):
        x, y = across.at(point.x), up.at(point.y)
        others = [_Box(a - 5, b - 5, a + 5, b + 5) for a, b in places if (a, b) != (x, y)]
        box = _free_box(_boxes(x, y, len(point.label) * _CHAR_PX), [*taken, *others])
        taken.append(box)
        anchor, at = ("end", box.right) if box.left < x else ("start", box.left)
        place = f'x="{at:.1f}" y="{box.bottom - 3:.1f}" text-anchor="{anchor}"'
        parts.append(f'<text class="point" {place}>{escape(point.label)}</text>')
    return "".join(parts)


def _boxes(x: float, y: float, length: float) -> list[_Box]:
    """Return where a label may stand: right of its point, left, above, below."""
    starts = ((x + 9, y - 7), (x - 9 - length, y - 7), (x + 4, y - 21), (x + 4, y + 6), (x - 4 - length, y + 6))
    boxes = [_Box(left, top, left + length, top + 14) for left, top in starts]
    inside = [box for box in boxes if box.left >= _LEFT and box.right <= _WIDTH and box.top >= _TOP - 16]
    return inside or boxes[:1]


def _free_box(boxes: Sequence[_Box], taken: Sequence[_Box]) -> _Box:
    return next((box for box in boxes if not any(box.overlaps(other) for other in taken)), boxes[0])


def _legend(names: Sequence[str], width: float) -> tuple[str, int]:
    """Return the legend and its height; entries wrap."""
    if not names:
        return "", 0
    parts = []
    x, y = 20.0, 48.0
    for number, name in enumerate(names):
        length = 16 + len(name) * _CHAR_PX + 22
        if x + length > width and x > 20:
            x, y = 20.0, y + _LINE_PX
        parts.append(f'<g class="c{number % len(_COLOURS)}">{_marker(number, x, y - 4)}</g>')
        parts.append(f'<text class="label" x="{x + 11}" y="{y}">{escape(name)}</text>')
        x += length
    return "".join(parts), int(y - 48) + _LINE_PX


def _marker(number: int, x: float, y: float) -> str:
    match _MARKERS[number % len(_MARKERS)]:
        case "circle":
            return f'<circle class="mark" cx="{x}" cy="{y}" r="4.2"/>'
        case "square":
            return f'<rect class="mark" x="{x - 3.8}" y="{y - 3.8}" width="7.6" height="7.6"/>'
        case "triangle":
            return f'<path class="mark" d="M{x} {y - 5}L{x + 5} {y + 4}H{x - 5}Z"/>'
        case _:
            return f'<path class="mark" d="M{x} {y - 5.2}L{x + 5.2} {y}L{x} {y + 5.2}L{x - 5.2} {y}Z"/>'


def _style(n_series: int) -> str:
    used = range(min(n_series, len(_COLOURS)))
    light = _rules("#ffffff", "#1c2430", "#5a6677", "#e4e8ee", (_COLOURS[n][0] for n in used))
    dark = _rules("#14181f", "#e8ecf2", "#9aa7b8", "#2b323d", (_COLOURS[n][1] for n in used))
    shapes = (
        "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif}"
        ".head{font-size:16px;font-weight:600}.title{font-size:13px;font-weight:600}.tick,.note{font-size:11px}"
        ".line{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}"
        ".bar{fill:none;stroke:currentColor;stroke-width:1.2;opacity:.6}.mark{fill:currentColor}"
        ".grid,.axis{stroke-width:1;shape-rendering:crispEdges}"
    )
    return f"{shapes}{light}@media(prefers-color-scheme:dark){{{dark}}}"


def _rules(back: str, ink: str, muted: str, grid: str, colours: Iterable[str]) -> str:
    series = "".join(f".c{n}{{color:{colour}}}" for n, colour in enumerate(colours))
    return (
        f".back{{fill:{back}}}text{{fill:{ink}}}.tick,.note,.label{{fill:{muted}}}.grid{{stroke:{grid}}}"
        f".axis{{stroke:{muted}}}.mark{{stroke:{back};stroke-width:1}}{series}"
    )


def _number(value: float) -> str:
    if value and (abs(value) >= 10_000 or abs(value) < 0.001):
        return f"{value:.3g}"
    return f"{value:,.10g}"


def _attribute(text: str) -> str:
    return escape(text, {'"': "&quot;"})
