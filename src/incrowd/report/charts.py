"""The charts of reports and of the studio, drawn as SVG: no script, sharp on paper, coloured by the style of the page.

Every text is escaped by `Markup.format`. A chart has a title and a description for people who cannot see it, and keeps
the data that it shows, so that a page can list them. What a point of a comparison is, the style of the page alone shows
when somebody points at it or reaches it by the keyboard.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from markupsafe import Markup

from incrowd.errors import many
from incrowd.report.labels import PEOPLE, shown

WIDTH = 380  # units; a card of a page is about this many pixels wide
HEIGHT = 190  # of charts with an upright axis
LEFT, RIGHT, TOP, BOTTOM = 46, WIDTH - 10, 8, HEIGHT - 40  # the frame of those
TRAINED = {"original": "the original", "released": "the release", "without": "no quasi-identif."}
_ROWS = {1: 24, 2: 31}  # height of a row of horizontal bars, by the number of series
_LABEL, _LETTERS = 126, 18  # room for the names of horizontal bars, and letters that fit there
_WIDEST = 70  # of a vertical bar
_TIP, _TIP_LETTERS = 18, 66  # room for what a point says, below the chart, and letters that fit there
_MOST_NAMED = 3  # values of a description, and settings at one point
_FAR = 30  # times the least loss: above, an even scale could not separate the small ones
_SMALL = 1e-12
_HINT = "point at a setting, or go through them with the tab key"
_SPARK_WIDTH, _SPARK_HEIGHT, _SPARK_ROW, _SPARK_LABEL, _SPARK_LETTERS = 240, 56, 18, 104, 17

Row = Mapping[str, Any]
Bars = Sequence[tuple[str, Sequence[float]]]  # each category with the value of each series
Write = Callable[[float], str]
Place = Callable[[float], float]


@dataclass(frozen=True)
class Chart:
    """A drawn chart.

    Args:
        about: What it shows, in a sentence.
        data: What it shows, row by row.
        is_group: Whether its parts have names of their own, which a screen reader then reads one by one.
    """

    title: str
    about: str
    data: Sequence[Row]
    body: Markup
    height: float = HEIGHT
    is_group: bool = False

    @property
    def svg(self) -> Markup:
        number = sha256((self.title + self.about).encode(errors="replace")).hexdigest()[:10]
        return Markup(
            '<svg class="chart" role="{role}" viewBox="0 0 {w} {h}" aria-labelledby="t{n} d{n}">'
            '<title id="t{n}">{title}</title><desc id="d{n}">{about}</desc>{body}</svg>'
        ).format(
            role="group" if self.is_group else "img",
            w=WIDTH,
            h=self.height,
            n=number,
            title=self.title,
            about=self.about,
            body=self.body,
        )


def distribution_chart(column: Row) -> Chart:
    """The values of one column before and after, side by side; `column` is an entry of `cost.columns`."""
    name, found = column["name"], column["distribution"]["bars"]
    data = [
        {"value": bar["value"], "table": table, "share": bar[key]}
        for bar in found
        for table, key in (("original", "before"), ("released", "after"))
    ]
    largest = sorted(found, key=lambda bar: -bar["before"])[:_MOST_NAMED]
    pairs = "; ".join(f"{bar['value']}: {bar['before']:.1%} before, {bar['after']:.1%} after" for bar in largest)
    about = f"Shares of the values of {name} before and after the release. Most frequent: {pairs}."
    bars = [(bar["value"], (bar["before"], bar["after"])) for bar in found]
    if column["distribution"]["kind"] == "numbers":
        return Chart(name, about, data, _vertical_bars(bars, _percent, name))
    return Chart(name, about, data, *_horizontal_bars(bars, _percent))


def class_sizes_chart(sizes: Row) -> Chart:
    """Records by the size of their crowd, people by the smallest of theirs; `sizes` is from `safe.class_sizes`."""
    counted = sizes["counted"]
    one = {"records": "record", "people": "person"}[counted]
    about = (
        f"{many(sizes['crowds'], 'crowd')}: the smallest has {many(sizes['smallest'], one, counted)}, the one in "
        f"the middle {sizes['median']:,}, the largest {sizes['largest']:,}."
    )
    bars = [
        (str(each["from"]) if each["from"] == each["to"] else f"{each['from']:,}–{each['to']:,}", [each["records"]])
        for each in sizes["bins"]
    ]
    data = [{"size": name, counted: records} for name, (records,) in bars]
    crowd = "smallest crowd" if counted == PEOPLE else "crowd"
    title = f"{counted.capitalize()} by the size of their {crowd}"
    return Chart(title, about, data, _vertical_bars(bars, _plain, f"{counted} in the crowd"))


def loss_chart(columns: Sequence[Row]) -> Chart:
    """What each column lost; `columns` are those of `cost.columns`."""
    worst, best = (choose(columns, key=lambda each: each["loss"]) for choose in (max, min))
    about = (
        f"Share of detail that each column lost, from {best['loss']:.0%} ({best['name']}) "
        f"to {worst['loss']:.0%} ({worst['name']})."
    )
    data = [{"column": each["name"], "loss": each["loss"]} for each in columns]
    bars = [(each["name"], [each["loss"]]) for each in columns]
    return Chart("Loss of each column", about, data, *_horizontal_bars(bars, _percent, top=1.0))


def error_chart(classifier: str, errors: Mapping[str, float]) -> Chart:
    """How often a classifier is wrong, in shares of 1 by what it was trained on."""
    about = f"Error of {classifier}: " + ", ".join(f"{value:.1%} with {name}" for name, value in errors.items()) + "."
    data = [{"trained on": name, "error": value} for name, value in errors.items()]
    bars = [(name, [value]) for name, value in errors.items()]
    return Chart(f"Error of {classifier}", about, data, *_horizontal_bars(bars, lambda value: f"{100 * value:.1f}%"))


def excess_chart(attacks: Sequence[Row], allowed: float | None = None) -> Chart:
    """By how much each attack exceeds its control, with the interval; what is allowed is a line.

    Args:
        attacks: For each, its "attack", "excess", and the ends "low" and "high".
        allowed: The most that the policy allows, if it says so.
    """
    worst = max(attacks, key=lambda each: each["excess"])
    largest = f"the largest is {worst['excess']:.1%} ({worst['attack']})"
    about = f"Excess of {many(len(attacks), 'attack')} over the control; {largest}."
    data = [{name: each[name] for name in ("attack", "excess", "low", "high")} for each in attacks]
    least, most = min(0.0, *(each["low"] for each in attacks)), max(_SMALL, *(each["high"] for each in attacks))
    tall, right = _ROWS[1], WIDTH - 52

    def x_of(value: float) -> float:
        return float(_LABEL + (right - _LABEL) * (value - least) / (most - least))

    height = len(attacks) * tall + 4
    parts = [_line("axis", x_of(0), 0, x_of(0), height)]
    if allowed is not None and allowed < most:
        parts.append(_line("rule", x_of(allowed), 0, x_of(allowed), height, tooltip=f"allowed: {allowed:.1%}"))
    for place, each in enumerate(attacks):
        y, told = (place + 0.5) * tall + 2, f"{each['excess']:+.{0 if abs(each['excess']) >= 0.1 else 1}%}"
        told = "0%" if told[1:] == "0.0%" else told
        parts.append(_text("name", _LABEL - 6, y + 4, _short(each["attack"], _LETTERS), tooltip=each["attack"]))
        parts.append(_line("line", x_of(each["low"]), y, x_of(each["high"]), y))
        kind = "after" if each["low"] > 0 else "before"
        parts.append(_rect(kind, x_of(each["excess"]) - 3.5, y - 3.5, 7, 7, tooltip=f"{each['attack']}: {told}"))
        parts.append(_text("value", right + 6, y + 4, told))
    return Chart("Excess of each attack over its control", about, data, Markup("").join(parts), height)


def path_charts(path: Row, chosen: int = -1) -> list[Chart]:
    """Anonymity and loss over the steps of a search (`cost.path`); the point `chosen` is marked."""
    points, losses, asked = path["anonymity"], path["losses"], path["asked"]
    about = (
        f"Smallest crowd after each of {many(path['chosen'], 'step')}, from {points[0]['value']:,} "
        f"to {points[-1]['value']:,}; {asked:,} were asked for."
    )
    line = _line_chart(points, _plain, chosen, rule=float(asked), log=True)
    charts = [Chart("Smallest crowd over the steps", about, points, line)]
    if losses:
        about = f"Loss over the steps, from {losses[0]['value']:.1%} to {losses[-1]['value']:.1%}."
        charts.append(Chart("Loss over the steps", about, losses, _line_chart(losses, _percent, chosen)))
    return charts


def releases_charts(releases: Sequence[Row]) -> list[Chart]:
    """Loss, and people who wait or whose rows stay, over releases: each has "release", "loss", "waiting" and "held"."""
    charts = []
    for name, title, write in (
        ("loss", "Loss of each release", _percent),
        ("waiting", "Newcomers who wait for a crowd", _plain),
        ("held", "People who left or changed, whose rows stay", _plain),
    ):
        first, last = (write(releases[place][name]) for place in (0, -1))
        about = f"{title}: {first} with the first release, {last} with the last of {len(releases):,}."
        data = [{"release": each["release"], name: each[name]} for each in releases]
        bars = [(str(each["release"]), [each[name]]) for each in releases]
        charts.append(Chart(title, about, data, _vertical_bars(bars, write, "release")))
    return charts


def comparison_chart(rows: Sequence[Row], title: str, *, percent: bool = False) -> Chart:
    """Privacy against utility: each setting by its k and what it loses; those that are not dominated are joined.

    Args:
        rows: The settings: "setting", which says all that is shown of it, "method", "k", "loss", and whether it is
            "dominated". One with a "row" is a button, one that is "now" is marked.
        title: What the loss is called.
        percent: Whether the loss is a share.
    """
    best = [shown(f"{row['method']}, k={row['k']:,}", 40) for row in rows if not row["dominated"]]
    about = f"{title} of {len(rows)} settings by k. Not dominated by another: {'; '.join(best[:12])}."
    losses = [row["loss"] for row in rows]
    is_wide = min(losses) > 0 and max(losses) > _FAR * min(losses)
    write = _percent if percent else _plain
    x_of, y_of, parts = _axes([row["k"] for row in rows], losses, write, "k", log_x=True, log_y=is_wide)
    places: dict[tuple[float, float], list[Row]] = {}
    for row in rows:
        places.setdefault((round(x_of(row["k"]), 1), round(y_of(row["loss"]), 1)), []).append(row)
    front = {place: found for place, found in places.items() if not all(row["dominated"] for row in found)}
    parts.append(Markup('<polyline class="front" points="{}"></polyline>').format(_points(sorted(front))))
    named = [*sorted(front.items()), *(each for each in sorted(places.items()) if each[0] not in front)]
    parts += _point_names({place: str(found[0]["method"]) for place, found in named})
    for place, found in sorted(places.items(), key=lambda each: each[0] in front):
        parts.append(_point(place, found, "after" if place in front else "before"))
    parts.append(_text("hint", WIDTH / 2, HEIGHT + 8, _HINT))
    return Chart(f"{title} by k", about, rows, Markup("").join(parts), HEIGHT + _TIP, is_group=True)


def sheet(title: str, charts: Sequence[Chart], style: Markup) -> Markup:
    """Charts in a grid under a title, as an SVG file of its own."""
    across = 2 if len(charts) == 4 else min(3, len(charts))
    wide, tall = WIDTH + 20, max(chart.height for chart in charts) + 34
    parts, frame = [_text("", 20, 18, title)], Markup('<svg x="{}" y="{}" width="{}" height="{}">{}</svg>')
    for place, chart in enumerate(charts):
        x, y = 10 + place % across * wide, 44 + place // across * tall
        parts += [_text("", x + 10, y, chart.title), frame.format(x, y + 8, WIDTH, chart.height, chart.body)]
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}"><style>{style}</style>'
        '<rect width="{w}" height="{h}" fill="#ffffff"></rect><g class="incrowd"><svg>{body}</svg></g></svg>\n'
    ).format(w=across * wide, h=36 + -(-len(charts) // across) * tall, style=style, body=Markup("").join(parts))


def sparkline(picture: Row, name: str) -> Markup:
    """A small picture of a column, without axes, from what `studio.tasks.pictures` gives."""
    bars = list(picture["bars"])
    if not bars:
        return Markup('<p class="faint small">no picture: no two people share a value</p>')
    if picture["kind"] == "numbers":
        return _spark_columns(bars, name)
    if picture.get("more", 0) > 0 and picture.get("rest", 0) > 0:
        bars.append({"value": f"{picture['more']:,} more", "records": picture["rest"], "rest": True})
    return _spark_rows(bars, name)


# How they are drawn


def _horizontal_bars(bars: Bars, write: Write, top: float | None = None) -> tuple[Markup, int]:
    """A row for each category, and the height of it all; the axis ends at `top`, or at the highest value."""
    top = top or max(_SMALL, *(value for _, values in bars for value in values))
    tall = _ROWS[min(2, max(len(values) for _, values in bars))]
    height, parts = len(bars) * tall + 4, []
    for place, (name, values) in enumerate(bars):
        y = place * tall + 4
        parts.append(_text("name", _LABEL - 6, y + tall / 2, _short(name, _LETTERS), tooltip=name))
        thick = (tall - 8) / len(values)
        for number, value in enumerate(values):
            length = max(0.0, (WIDTH - _LABEL - 52) * value / top)
            parts.append(_bar(_LABEL, y + number * thick, length, thick - 0.5, number, len(values)))
            parts.append(_text("value", _LABEL + length + 4, y + (number + 0.5) * thick + 3.5, write(value)))
    return Markup("").join([_line("axis", _LABEL, 0, _LABEL, height), *parts]), height


def _vertical_bars(bars: Bars, write: Write, title: str) -> Markup:
    ticks = _ticks_to(max(_SMALL, *(value for _, values in bars for value in values)))
    scale = (BOTTOM - TOP) / ticks[-1]
    parts = _grid(ticks, lambda value: BOTTOM - scale * value, write)
    wide = (RIGHT - LEFT) / len(bars)
    every = max(1, math.ceil(max(min(14, len(name)) for name, _ in bars) * 5.8 / wide))
    room = min(wide * 0.86, _WIDEST)
    for place, (name, values) in enumerate(bars):
        middle = LEFT + (place + 0.5) * wide
        thick = room / len(values)
        for number, value in enumerate(values):
            x = middle - room / 2 + number * thick
            size = (max(0.6, thick - 0.4), scale * value)
            parts.append(_bar(x, BOTTOM - size[1], *size, number, len(values), tooltip=f"{name}: {write(value)}"))
        if place % every == 0 and (place == 0 or len(bars) - place > every / 2):
            parts.append(_text("tick", min(middle, WIDTH - 2.9 * min(14, len(name))), BOTTOM + 14, _short(name, 14)))
    return Markup("").join([*parts, _axis_title(title)])


def _line_chart(
    points: Sequence[Row], write: Write, chosen: int, *, rule: float | None = None, log: bool = False
) -> Markup:
    """A line through "step" and "value", one point marked, and a line across at the height of a rule."""
    steps, values = [float(point["step"]) for point in points], [float(point["value"]) for point in points]
    rules = [] if rule is None else [rule]
    x_of, y_of, parts = _axes(steps, [*values, *rules], write, "step", log_y=log)
    for height in rules:
        parts.append(_line("rule", LEFT, y_of(height), RIGHT, y_of(height), tooltip=f"asked for: {height:g}"))
    places = [(x_of(step), y_of(value)) for step, value in zip(steps, values, strict=True)]
    parts.append(Markup('<polyline class="line" points="{}"></polyline>').format(_points(places)))
    x, y = places[chosen]
    mark = Markup('<circle class="chosen" cx="{:.1f}" cy="{:.1f}" r="4"><title>chosen: step {:g}</title></circle>')
    return Markup("").join([*parts, mark.format(x, y, steps[chosen])])


def _axes(
    xs: Sequence[float], ys: Sequence[float], write: Write, title: str, *, log_x: bool = False, log_y: bool = False
) -> tuple[Place, Place, list[Markup]]:
    x_of, x_ticks = _scale(xs, LEFT + 6, RIGHT - 12, log=log_x)
    y_of, y_ticks = _scale(ys, BOTTOM, TOP, log=log_y)
    ticks = [_text("tick", x_of(tick), BOTTOM + 14, _plain(tick)) for tick in x_ticks]
    return x_of, y_of, [*_grid(y_ticks, y_of, write), *ticks, _axis_title(title)]


def _scale(values: Sequence[float], start: float, end: float, *, log: bool) -> tuple[Place, list[float]]:
    """Where values are between two ends, and the marks of the axis."""
    if not log or min(values) <= _SMALL:  # a rounded 0
        ticks = _ticks_to(max(values))
        return lambda value: start + (end - start) * value / ticks[-1], ticks
    low = math.log10(min(values))
    span = max(math.log10(max(values)) - low, 0.3)
    powers = range(math.floor(low), math.ceil(low + span) + 1, max(1, round(span / 5)))
    digits = (1,) if span > 2.5 else (1, 3) if span > 1.2 else (1, 2, 5)
    marks = [digit * 10.0**power for power in powers for digit in digits]
    ticks = [mark for mark in marks if low - 0.01 <= math.log10(mark) <= low + span + 0.01]
    return lambda value: start + (end - start) * (math.log10(max(value, _SMALL)) - low) / span, ticks


def _ticks_to(high: float) -> list[float]:
    """Round marks from 0 to a bit above the highest value."""
    high = high if high > _SMALL else 1.0
    power = 10.0 ** math.floor(math.log10(high / 4))
    step = next(digit * power for digit in (1, 2, 2.5, 5, 10, 20) if digit * power * 4 >= high * (1 - 1e-9))
    return [step * place for place in range(math.ceil(high / step - 1e-9) + 1)]


def _grid(ticks: Sequence[float], y_of: Place, write: Write) -> list[Markup]:
    parts = []
    for tick in ticks:
        y = y_of(tick)
        parts += [_line("grid", LEFT, y, RIGHT, y), _text("name", LEFT - 5, y + 3.5, write(tick))]
    return parts


def _axis_title(title: str) -> Markup:
    return _text("tick title", (LEFT + RIGHT) / 2, HEIGHT - 6, _short(title, 40))


def _point(place: tuple[float, float], rows: Sequence[Row], colour: str) -> Markup:
    tooltip = "; ".join(str(row["setting"]) for row in rows[:_MOST_NAMED])
    tooltip += f" and {len(rows) - _MOST_NAMED:,} more" if len(rows) > _MOST_NAMED else ""
    button = Markup('role="button" data-row="{}"').format(rows[0]["row"]) if "row" in rows[0] else Markup('role="img"')
    return Markup(
        '<g class="point" tabindex="0" {button} aria-label="{tooltip}">'
        '<circle class="reach" cx="{x}" cy="{y}" r="6.5"></circle>'
        '<circle class="{colour}" cx="{x}" cy="{y}" r="4.5"></circle>{now}{tip}</g>'
    ).format(
        now=Markup('<circle class="now" cx="{}" cy="{}" r="8"></circle>').format(*place)
        if any(row.get("now") for row in rows)
        else "",
        button=button,
        tooltip=tooltip,
        x=place[0],
        y=place[1],
        colour=colour,
        tip=_text("tip", WIDTH / 2, HEIGHT + 8, _short(tooltip, _TIP_LETTERS)),
    )


def _point_names(names: Mapping[tuple[float, float], str]) -> list[Markup]:
    """Names next to points, as far as there is room."""
    parts, taken = [], list[tuple[float, float, float]]()
    for (x, y), name in names.items():
        wide = 6.0 * min(len(name), 14)
        left = x + 8 if x + 8 + wide < WIDTH else x - 8 - wide
        base = max(y - 5, TOP + 8)
        if all(abs(base - other) > 11 or left > end or left + wide < start for start, end, other in taken):
            taken.append((left, left + wide, base))
            parts.append(_text("value", left, base, _short(name, 14)))
    return parts


def _spark_columns(bars: Sequence[Row], name: str) -> Markup:
    top = max(bar["records"] for bar in bars) or 1
    wide = _SPARK_WIDTH / len(bars)
    parts = []
    for place, bar in enumerate(bars):
        tall = max((_SPARK_HEIGHT - 2) * bar["records"] / top, 1.0) if bar["records"] else 0.0
        where = (place * wide, _SPARK_HEIGHT - tall, max(wide - 1, 0.8), tall)
        parts.append(_rect("", *where, tooltip=f"{bar['value']}: {bar['records']:,}"))
    ends = [bar["value"] for bar in bars if bar["records"]]
    low, high = ends[0].partition(" to ")[0], ends[-1].rpartition(" to ")[2]
    return Markup(
        '<svg class="spark" role="img" aria-label="{tooltip}" viewBox="0 0 {w} {h}" preserveAspectRatio="none">'
        '{body}</svg><p class="ends small faint"><span>{low}</span><span>{high}</span></p>'
    ).format(
        tooltip=f"Values of {name} from {low} to {high}",
        w=_SPARK_WIDTH,
        h=_SPARK_HEIGHT,
        body=Markup("").join(parts),
        low=low,
        high=high,
    )


def _spark_rows(bars: Sequence[Row], name: str) -> Markup:
    top = max(bar["records"] for bar in bars) or 1
    parts = []
    for place, bar in enumerate(bars):
        y, length = place * _SPARK_ROW, max((_SPARK_WIDTH - _SPARK_LABEL) * bar["records"] / top, 1)
        parts.append(_text("", 0, y + 13, _short(bar["value"], _SPARK_LETTERS)))
        kind, tooltip = "rest" if bar.get("rest") else "", f"{bar['value']}: {bar['records']:,}"
        parts.append(_rect(kind, _SPARK_LABEL, y + 3, length, _SPARK_ROW - 6, tooltip))
    tooltip = f"Most frequent values of {name}: " + ", ".join(f"{bar['value']} {bar['records']:,}" for bar in bars[:3])
    frame = Markup('<svg class="spark lying" role="img" aria-label="{}" viewBox="0 0 {} {}">{}</svg>')
    return frame.format(tooltip, _SPARK_WIDTH, len(bars) * _SPARK_ROW, Markup("").join(parts))


def _bar(x: float, y: float, width: float, height: float, number: int, series: int, tooltip: str = "") -> Markup:
    return _rect("before" if series > 1 and number == 0 else "after", x, y, width, height, tooltip)


def _rect(kind: str, x: float, y: float, width: float, height: float, tooltip: str = "") -> Markup:
    rect = Markup('<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}">{}</rect>')
    return rect.format(kind, x, y, width, height, _tooltip(tooltip))


def _line(kind: str, x1: float, y1: float, x2: float, y2: float, tooltip: str = "") -> Markup:
    line = Markup('<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}">{}</line>')
    return line.format(kind, x1, x2, y1, y2, _tooltip(tooltip))


def _text(kind: str, x: float, y: float, text: str, tooltip: str = "") -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}">{}{}</text>').format(kind, x, y, _tooltip(tooltip), text)


def _tooltip(text: str) -> Markup:
    return Markup("<title>{}</title>").format(text) if text else Markup("")


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _short(text: str, letters: int) -> str:
    """A text of at most this many letters that keeps its direction to itself."""
    return f"\u2068{text if len(text) <= letters else text[: letters - 1] + '…'}\u2069"


def _percent(value: float) -> str:
    return f"{100 * value:.0f}%" if value >= 0.1 or value == 0 else f"{100 * value:.2g}%"


def _plain(value: float) -> str:
    for unit, size in ("G", 1e9), ("M", 1e6), ("k", 1e4):
        if abs(value) >= size:
            return f"{value / (1e3 if unit == 'k' else size):.3g}{unit}"
    return f"{value:,.4g}"
