"""Lines and points: how something went over the steps of a search, and settings by what they protect and lose.

A point tells what it is when it is pointed at or reached by the keyboard; that is done by the style of the page alone,
so it works where no script may run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from incrowd.report.axes import HEIGHT, WIDTH, Frame, axis_title, cut, grid, isolated, number_text, scale

_LINE = 18  # room for what a point tells, below the chart
_TOLD = 66  # letters that fit there
_MOST = 3  # settings that are named where several stand in one place
_HINT = "point at a setting, or go through them with the tab key"
Place = Callable[[float], float]


def draw_line(spec: Mapping[str, Any]) -> tuple[Markup, int]:
    """A line through points, the last or the "chosen" one marked, and a line across where one is asked for."""
    main, *rules = spec["layer"]
    frame, xs, ys = Frame(), *_values(spec)
    heights = [float(rule["encoding"]["y"]["datum"]) for rule in rules]
    x_of, y_of, parts = _axes(frame, main["encoding"], xs, [*ys, *heights])
    for height in heights:
        parts.append(
            Markup('<line class="rule" x1="{x}" x2="{r}" y1="{y:.1f}" y2="{y:.1f}"><title>{t}</title></line>').format(
                x=frame.left, r=frame.right, y=y_of(height), t=f"asked for: {height:g}"
            )
        )
    path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in zip(xs, ys, strict=True))
    parts.append(Markup('<polyline class="line" points="{p}"></polyline>').format(p=path))
    at = spec.get("chosen", -1)
    parts.append(
        Markup(
            '<circle class="chosen" cx="{x:.1f}" cy="{y:.1f}" r="4"><title>chosen: step {t}</title></circle>'
        ).format(x=x_of(xs[at]), y=y_of(ys[at]), t=f"{xs[at]:g}")
    )
    return Markup("").join(parts), HEIGHT


def draw_points(spec: Mapping[str, Any]) -> tuple[Markup, int]:
    """Points, those that are not dominated joined by a line and named; what a point tells stands below the chart."""
    frame, xs, ys = Frame(), *_values(spec)
    x_of, y_of, parts = _axes(frame, spec["layer"][0]["encoding"], xs, ys)
    places: dict[tuple[float, float], list[Mapping[str, Any]]] = {}
    for row, x, y in zip(spec["data"]["values"], xs, ys, strict=True):
        places.setdefault((round(x_of(x), 1), round(y_of(y), 1)), []).append(row)
    best = {place: rows for place, rows in places.items() if not all(row["dominated"] for row in rows)}
    front = " ".join(f"{x},{y}" for x, y in sorted(best))
    parts.append(Markup('<polyline class="front" points="{p}"></polyline>').format(p=front))
    for place, rows in sorted(places.items(), key=lambda each: each[0] in best):
        parts.append(_point(place, rows, "after" if place in best else "before"))
    parts += _names(frame, {place: str(rows[0]["method"]) for place, rows in sorted(best.items())})
    below = Markup('<text class="hint" x="{x}" y="{y}">{t}</text>').format(x=WIDTH / 2, y=HEIGHT + 8, t=_HINT)
    return Markup("").join([*parts, below]), HEIGHT + _LINE


def _values(spec: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    encoding = spec["layer"][0]["encoding"]
    xs, ys = ([float(row[encoding[axis]["field"]]) for row in spec["data"]["values"]] for axis in "xy")
    return xs, ys


def _axes(
    frame: Frame, encoding: Mapping[str, Any], xs: Sequence[float], ys: Sequence[float]
) -> tuple[Place, Place, list[Markup]]:
    """Where values stand, and the marks of both axes."""
    x_of, x_ticks = scale(encoding["x"], xs, frame.left + 6, frame.right - 12)
    y_of, y_ticks = scale(encoding["y"], ys, frame.bottom, frame.top)
    parts = grid(frame, y_ticks, y_of, number_text(encoding["y"]))
    for tick in x_ticks:
        parts.append(
            Markup('<text class="tick" x="{x:.1f}" y="{y}">{t}</text>').format(
                x=x_of(tick), y=frame.bottom + 14, t=number_text(encoding["x"])(tick)
            )
        )
    return x_of, y_of, [*parts, axis_title(frame, encoding["x"].get("title", ""))]


def _point(place: tuple[float, float], rows: Sequence[Mapping[str, Any]], colour: str) -> Markup:
    """A point, and what it tells; where its settings have a "row", it is a button for the first of them."""
    told = "; ".join(str(row["setting"]) for row in rows[:_MOST])
    told += f" and {len(rows) - _MOST:,} more" if len(rows) > _MOST else ""
    where = {"x": place[0], "y": place[1], "m": WIDTH / 2, "b": HEIGHT + 8}
    button = Markup('role="button" data-row="{}"').format(rows[0]["row"]) if "row" in rows[0] else Markup('role="img"')
    return Markup(
        '<g class="point" tabindex="0" {button} aria-label="{full}">'
        '<circle class="reach" cx="{x}" cy="{y}" r="6.5"></circle>'
        '<circle class="{c}" cx="{x}" cy="{y}" r="4.5"></circle>'
        '<text class="tip" x="{m}" y="{b}">{t}</text></g>'
    ).format(c=colour, full=told, button=button, t=isolated(cut(told, _TOLD)), **where)


def _names(frame: Frame, names: Mapping[tuple[float, float], str]) -> list[Markup]:
    """The names of points beside them, as far as there is room."""
    parts, taken = [], list[tuple[float, float, float]]()
    for (x, y), name in names.items():
        short = cut(name, 14)
        wide = 6.0 * len(short)
        left = x + 8 if x + 8 + wide < WIDTH else x - 8 - wide
        base = max(y - 5, frame.top + 8)
        if all(abs(base - other) > 11 or left > end or left + wide < start for start, end, other in taken):
            taken.append((left, left + wide, base))
            parts.append(
                Markup('<text class="value" x="{x:.1f}" y="{y:.1f}">{t}</text>').format(
                    x=left, y=base, t=isolated(short)
                )
            )
    return parts
