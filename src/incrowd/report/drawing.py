"""Charts as SVG inside the page: no script, sharp on paper, and coloured by the style of the page, light or dark.

Draws the part of Vega-Lite that `charts` uses: bars along either axis with one or two series, lines, and points. Every
text is escaped by `Markup.format`, and every chart has a title and a description for those who cannot see it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from markupsafe import Markup

from incrowd.report.axes import HEIGHT, SMALL, WIDTH, Frame, axis_title, cut, grid, isolated, number_text, ticks_to
from incrowd.report.points import draw_line, draw_points

_ROWS = {1: 24, 2: 31}  # of bars that lie, by the number of series
_LABEL = 126  # room for the names of lying bars
_LETTERS = 18  # that fit there
_WIDEST = 70  # of a bar that stands


def draw(spec: Mapping[str, Any]) -> Markup:
    """A chart as SVG."""
    main = spec["layer"][0]
    if main["mark"] == "bar":
        body, height = _lying_bars(spec) if main["encoding"]["y"]["type"] != "quantitative" else _columns(spec)
    else:
        body, height = draw_line(spec) if main["mark"] == "line" else draw_points(spec)
    number = sha256((spec["title"] + spec["description"]).encode(errors="replace")).hexdigest()[:10]
    role = "group" if main["mark"] == "point" else "img"  # each point has a name of its own
    return Markup(
        '<svg class="chart" role="{role}" viewBox="0 0 {w} {h}" aria-labelledby="t{n} d{n}">'
        '<title id="t{n}">{title}</title><desc id="d{n}">{told}</desc>{body}</svg>'
    ).format(role=role, w=WIDTH, h=height, n=number, title=spec["title"], told=spec["description"], body=body)


def _by_category(spec: Mapping[str, Any], category: str, value: str) -> list[tuple[str, list[float]]]:
    """Each category with its values, in the order of the series; rows come by category, then by series."""
    rows, colour = spec["data"]["values"], spec["layer"][0]["encoding"].get("color")
    series = 1 if colour is None else len({row[colour["field"]] for row in rows})
    return [
        (rows[start][category], [row[value] for row in rows[start : start + series]])
        for start in range(0, len(rows), series)
    ]


def _lying_bars(spec: Mapping[str, Any]) -> tuple[Markup, int]:
    """Bars from left to right, one line for each category."""
    encoding = spec["layer"][0]["encoding"]
    rows = _by_category(spec, encoding["y"]["field"], encoding["x"]["field"])
    text = number_text(encoding["x"])
    top = _top(encoding["x"], [values for _, values in rows])
    room = WIDTH - _LABEL - 52
    tall = _ROWS[min(2, max(len(values) for _, values in rows))]
    parts = []
    for place, (name, values) in enumerate(rows):
        y = place * tall + 4
        parts.append(
            Markup('<text class="name" x="{x}" y="{y:.1f}"><title>{full}</title>{name}</text>').format(
                x=_LABEL - 6, y=y + tall / 2, full=name, name=isolated(cut(name, _LETTERS))
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


def _columns(spec: Mapping[str, Any]) -> tuple[Markup, int]:
    """Bars that stand, one place for each category; the series stand side by side."""
    encoding, frame = spec["layer"][0]["encoding"], Frame()
    rows = _by_category(spec, encoding["x"]["field"], encoding["y"]["field"])
    ticks = ticks_to(_top(encoding["y"], [values for _, values in rows]))
    parts = grid(
        frame, ticks, lambda value: frame.bottom - frame.height * value / ticks[-1], number_text(encoding["y"])
    )
    wide = frame.width / len(rows)
    every = max(1, math.ceil(max(min(14, len(name)) for name, _ in rows) * 5.8 / wide))
    for place, (name, values) in enumerate(rows):
        room = min(wide * 0.86, _WIDEST)
        thick = room / len(values)
        for number, value in enumerate(values):
            tall = frame.height * value / ticks[-1]
            x = frame.left + (place + 0.5) * wide - room / 2 + number * thick
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
                    t=f"{name}: {number_text(encoding['y'])(value)}",
                )
            )
        if place % every == 0 and (place == 0 or len(rows) - place > every / 2):
            x = min(frame.left + (place + 0.5) * wide, WIDTH - 2.9 * min(14, len(name)))
            parts.append(
                Markup('<text class="tick" x="{x:.1f}" y="{y}">{t}</text>').format(
                    x=x, y=frame.bottom + 14, t=isolated(cut(name, 14))
                )
            )
    parts.append(axis_title(frame, encoding["x"].get("title", "")))
    return Markup("").join(parts), HEIGHT


def _top(channel: Mapping[str, Any], rows: Any) -> float:
    """The end of an axis: as it was given, else the highest value."""
    domain = channel.get("scale", {}).get("domain")
    highest = max((max(values) for values in rows), default=1.0)
    return float(domain[1]) if domain else max(highest, SMALL)


def _colour(number: int, series: int) -> str:
    return "before" if series > 1 and number == 0 else "after"
