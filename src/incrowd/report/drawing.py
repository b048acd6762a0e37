"""Charts as SVG inside the page: no script, sharp on paper, and coloured by the style of the page, light or dark.

Draws the part of Vega-Lite that `charts` uses: bars along either axis with one or two series, lines, and points. Every
text is escaped by `Markup.format`, and every chart has a title and a description for those who cannot see it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from markupsafe import Markup

WIDTH = 380  # units; a card of a page is about as many pixels wide
_HEIGHT = 190  # of charts with an upright axis
_ROWS = {1: 24, 2: 31}  # of bars that lie, by the number of series
_LABEL = 126  # room for the names of lying bars
_LETTERS = 18  # that fit there
_SMALL = 1e-12


def draw(spec: Mapping[str, Any]) -> Markup:
    """A chart as SVG."""
    encoding = spec["encoding"]
    if spec["mark"] == "bar":
        body, height = _lying_bars(spec) if encoding["y"]["type"] != "quantitative" else _columns(spec)
    else:
        body, height = _points(spec)
    number = sha256((spec["title"] + spec["description"]).encode(errors="replace")).hexdigest()[:10]
    return Markup(
        '<svg class="chart" role="img" viewBox="0 0 {w} {h}" aria-labelledby="t{n} d{n}">'
        '<title id="t{n}">{title}</title><desc id="d{n}">{told}</desc>{body}</svg>'
    ).format(w=WIDTH, h=height, n=number, title=spec["title"], told=spec["description"], body=body)


def _by_category(spec: Mapping[str, Any], category: str, value: str) -> list[tuple[str, list[float]]]:
    """Each category with its values, in the order of the series; rows come by category, then by series."""
    rows, colour = spec["data"]["values"], spec["encoding"].get("color")
    series = 1 if colour is None else len({row[colour["field"]] for row in rows})
    return [
        (rows[start][category], [row[value] for row in rows[start : start + series]])
        for start in range(0, len(rows), series)
    ]


def _lying_bars(spec: Mapping[str, Any]) -> tuple[Markup, int]:
    """Bars from left to right, one line for each category."""
    encoding = spec["encoding"]
    rows = _by_category(spec, encoding["y"]["field"], encoding["x"]["field"])
    text = _number(encoding["x"])
    top = _top(encoding["x"], [values for _, values in rows])
    room = WIDTH - _LABEL - 52
    tall = _ROWS[min(2, max(len(values) for _, values in rows))]
    parts = []
    for place, (name, values) in enumerate(rows):
        y = place * tall + 4
        parts.append(
            Markup('<text class="name" x="{x}" y="{y:.1f}"><title>{full}</title>{name}</text>').format(
                x=_LABEL - 6, y=y + tall / 2, full=name, name=_isolated(_cut(name, _LETTERS))
            )
        )
        thick = (tall - 8) / len(values)
        for number, value in enumerate(values):
            long = max(0.0, room * value / top)
            where = {"x": _LABEL, "y": y + number * thick, "w": long, "h": thick - 0.5}
            after = {"end": _LABEL + long + 4, "base": y + (number + 0.5) * thick + 3.5, "t": text(value)}
            parts.append(
                Markup(
                    '<rect class="{c}" x="{x}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}"></rect>'
                    '<text class="value" x="{end:.1f}" y="{base:.1f}">{t}</text>'
                ).format(c=_colour(number, len(values)), **where, **after)
            )
    height = len(rows) * tall + 4
    axis = Markup('<line class="axis" x1="{x}" x2="{x}" y1="0" y2="{y}"></line>').format(x=_LABEL, y=height)
    return Markup("").join([axis, *parts]), height


@dataclass(frozen=True)
class _Frame:
    """Where the upright charts stand."""

    left: int = 46
    right: int = WIDTH - 10
    top: int = 8
    bottom: int = _HEIGHT - 40

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top


def _columns(spec: Mapping[str, Any]) -> tuple[Markup, int]:
    """Bars that stand, one place for each category; the series stand side by side."""
    encoding, frame = spec["encoding"], _Frame()
    rows = _by_category(spec, encoding["x"]["field"], encoding["y"]["field"])
    ticks = _ticks(_top(encoding["y"], [values for _, values in rows]))
    parts = _grid(frame, ticks, lambda value: frame.bottom - frame.height * value / ticks[-1], _number(encoding["y"]))
    wide = frame.width / len(rows)
    every = max(1, math.ceil(max(min(14, len(name)) for name, _ in rows) * 5.8 / wide))
    for place, (name, values) in enumerate(rows):
        thick = wide * 0.86 / len(values)
        for number, value in enumerate(values):
            tall = frame.height * value / ticks[-1]
            x = frame.left + place * wide + wide * 0.07 + number * thick
            parts.append(
                Markup(
                    '<rect class="{c}" x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}">'
                    "<title>{t}</title></rect>"
                ).format(
                    c=_colour(number, len(values)),
                    x=x,
                    y=frame.bottom - tall,
                    w=max(0.6, thick - 0.4),
                    h=tall,
                    t=f"{name}: {_number(encoding['y'])(value)}",
                )
            )
        if place % every == 0 and (place == 0 or len(rows) - place > every / 2):
            x = min(frame.left + (place + 0.5) * wide, WIDTH - 2.9 * min(14, len(name)))
            parts.append(
                Markup('<text class="tick" x="{x:.1f}" y="{y}">{t}</text>').format(
                    x=x, y=frame.bottom + 14, t=_isolated(_cut(name, 14))
                )
            )
    parts.append(_axis_title(frame, encoding["x"].get("title", "")))
    return Markup("").join(parts), _HEIGHT


def _points(spec: Mapping[str, Any]) -> tuple[Markup, int]:
    """A line through points, or points alone; the last point of a line is marked."""
    encoding, frame, rows = spec["encoding"], _Frame(), spec["data"]["values"]
    xs, ys = ([float(row[encoding[axis]["field"]]) for row in rows] for axis in "xy")
    x_of, x_ticks = _scale(encoding["x"], xs, frame.left, frame.right - 12)
    y_of, y_ticks = _scale(encoding["y"], ys, frame.bottom, frame.top)
    parts = _grid(frame, y_ticks, y_of, _number(encoding["y"]))
    for tick in x_ticks:
        parts.append(
            Markup('<text class="tick" x="{x:.1f}" y="{y}">{t}</text>').format(
                x=x_of(tick), y=frame.bottom + 14, t=_number(encoding["x"])(tick)
            )
        )
    if spec["mark"] == "line":
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in zip(xs, ys, strict=True))
        parts.append(Markup('<polyline class="line" points="{p}"></polyline>').format(p=path))
        parts.append(
            Markup(
                '<circle class="chosen" cx="{x:.1f}" cy="{y:.1f}" r="4"><title>chosen: step {t}</title></circle>'
            ).format(x=x_of(xs[-1]), y=y_of(ys[-1]), t=f"{xs[-1]:g}")
        )
    else:
        for row, x, y in sorted(zip(rows, xs, ys, strict=True), key=lambda each: not each[0].get("dominated")):
            parts.append(
                Markup(
                    '<circle class="{c}" cx="{x:.1f}" cy="{y:.1f}" r="4.5" tabindex="0"><title>{t}</title></circle>'
                ).format(
                    c="before" if row.get("dominated") else "after", x=x_of(x), y=y_of(y), t=row.get("setting", "")
                )
            )
    parts.append(_axis_title(frame, encoding["x"].get("title", "")))
    return Markup("").join(parts), _HEIGHT


def _grid(frame: _Frame, ticks: Sequence[float], y_of: Callable[[float], float], text: Any) -> list[Markup]:
    return [
        Markup(
            '<line class="grid" x1="{x}" x2="{r}" y1="{y:.1f}" y2="{y:.1f}"></line>'
            '<text class="name" x="{l}" y="{b:.1f}">{t}</text>'
        ).format(x=frame.left, r=frame.right, y=y_of(tick), l=frame.left - 5, b=y_of(tick) + 3.5, t=text(tick))
        for tick in ticks
    ]


def _axis_title(frame: _Frame, title: str) -> Markup:
    place = {"x": (frame.left + frame.right) / 2, "y": _HEIGHT - 6}
    return Markup('<text class="tick title" x="{x}" y="{y}">{t}</text>').format(**place, t=_isolated(_cut(title, 40)))


def _scale(
    channel: Mapping[str, Any], values: Sequence[float], start: float, end: float
) -> tuple[Callable[[float], float], list[float]]:
    """Where values stand between two ends, and the marks of the axis."""
    high = max(values)
    if channel.get("scale", {}).get("type") == "log" and min(values) > 0:
        low = math.log10(min(values))
        span = max(math.log10(high) - low, 0.3)
        powers = range(math.floor(low), math.ceil(low + span) + 1)
        digits = (1,) if span > 2.5 else (1, 3) if span > 1.2 else (1, 2, 5)
        marks = [digit * 10.0**power for power in powers for digit in digits]
        ticks = [mark for mark in marks if low - 0.01 <= math.log10(mark) <= low + span + 0.01]
        return lambda value: start + (end - start) * (math.log10(max(value, _SMALL)) - low) / span, ticks
    ticks = _ticks(high)
    return lambda value: start + (end - start) * value / ticks[-1], ticks


def _ticks(high: float) -> list[float]:
    """Round marks from 0 to a bit above the highest value."""
    high = high if high > _SMALL else 1.0
    power = 10.0 ** math.floor(math.log10(high / 4))
    step = next(digit * power for digit in (1, 2, 2.5, 5, 10, 20) if digit * power * 4 >= high * (1 - 1e-9))
    return [step * place for place in range(math.ceil(high / step - 1e-9) + 1)]


def _top(channel: Mapping[str, Any], rows: Any) -> float:
    """The end of an axis: as it was given, else the highest value."""
    domain = channel.get("scale", {}).get("domain")
    highest = max((max(values) for values in rows), default=1.0)
    return float(domain[1]) if domain else max(highest, _SMALL)


def _number(channel: Mapping[str, Any]) -> Callable[[float], str]:
    """How the numbers of an axis are written."""
    if channel.get("axis", {}).get("format") == "%":
        return lambda value: f"{100 * value:.0f}%" if value >= 0.1 or value == 0 else f"{100 * value:.2g}%"
    return _plain


def _plain(value: float) -> str:
    for unit, size in ("G", 1e9), ("M", 1e6), ("k", 1e4):
        if abs(value) >= size:
            return f"{value / (1e3 if unit == 'k' else size):.3g}{unit}"
    return f"{value:,.4g}"


def _colour(number: int, series: int) -> str:
    return "before" if series > 1 and number == 0 else "after"


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: letters - 1] + "…"


def _isolated(text: str) -> str:
    """A text that keeps its direction to itself."""
    return f"\u2068{text}\u2069"
