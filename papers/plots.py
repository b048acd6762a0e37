"""Plots of experiments as SVG. SizeRule matplotlib, which is imported when the first plot is drawn."""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from typing import Any

from incrowd.errors import IncrowdError
from papers.experiment import Outcome, Panel, Row

WIDTH, HEIGHT, LOW = 4.6, 3.8, 1.8  # inches of a panel, and of one that shows a tree
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")  # apart for the colour-blind too
MARKERS = "osD^vPX"
ACROSS = 2  # panels in a row


def require_matplotlib() -> None:
    """Raise IncrowdError unless matplotlib can be imported."""
    if find_spec("matplotlib") is None:
        raise IncrowdError("a plot needs matplotlib; install it with: pip install incrowd[plot]")


def svg_of(outcome: Outcome) -> bytes:
    """The plot of an outcome; the same outcome gives the same bytes."""
    require_matplotlib()
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "incrowd", "svg.fonttype": "none", "font.size": 9}):
        buffer = BytesIO()
        figure_of(outcome).savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def figure_of(outcome: Outcome) -> Any:
    """The plot of an outcome as a figure of matplotlib."""
    from matplotlib.figure import Figure

    across = min(ACROSS, len(outcome.panels))
    down = -(-len(outcome.panels) // across)
    height = LOW if outcome.panels[0].kind == "bars" else HEIGHT
    figure = Figure(figsize=(WIDTH * across, height * down), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False).flatten()
    for place, (axis, panel) in enumerate(zip(axes, outcome.panels, strict=False)):
        _draw(axis, panel, outcome.rows, first=place % across == 0)
    for axis in axes[len(outcome.panels) :]:
        axis.remove()
    named = {name: line for axis in figure.axes for line, name in zip(*axis.get_legend_handles_labels(), strict=True)}
    if named:
        columns = max(1, 60 * across // (8 + max(map(len, named))))  # as many as there is room for
        columns = -(-len(named) // -(-len(named) // columns))  # and no half-empty last line
        figure.legend(named.values(), named, loc="outside lower center", ncols=columns, fontsize=8, frameon=False)
    return figure


def _draw(axis: Any, panel: Panel, rows: list[Row], *, first: bool) -> None:
    draw = {"lines": _lines, "points": _points, "bars": _bars, "steps": _steps}[panel.kind]
    axis.set(xlabel=panel.labels.get(panel.x, panel.x), ylabel=panel.labels.get(panel.y, panel.y), title=panel.title)
    draw(axis, panel, panel.curves(rows))
    if panel.kind == "steps" and not first:  # the same names stand beside the panel to the left
        axis.set_yticklabels([])
    axis.spines[["top", "right"]].set_visible(False)


def _lines(axis: Any, panel: Panel, curves: dict[str, list[Row]]) -> None:
    """Curves with their own colours and markers, so that those that coincide can be told apart; levels are dashed."""
    drawn = iter(range(len(curves)))
    for name, curve in curves.items():
        if all(row[panel.y] is None for row in curve):  # not measured; it keeps its colour for the other panels
            next(drawn)
            continue
        x, y = ([row[column] for row in curve] for column in (panel.x, panel.y))
        if name.startswith(("baseline", "upper", "all generalized")):
            style = ":" if name.startswith("baseline") else "--"
            axis.plot(x, y, label=name, linestyle=style, linewidth=1.2, color="#555555")
            continue
        place = next(drawn)
        color, marker, size = (
            COLORS[place % len(COLORS)],
            MARKERS[place % len(MARKERS)],
            7.5 - 0.6 * (place % len(MARKERS)),
        )
        axis.plot(x, y, label=name, color=color, linewidth=1.4, marker=marker, markersize=size)
        stopped = [place for place, row in enumerate(curve) if panel.proven and not row[panel.proven]]
        hollow = {"color": color, "linestyle": "none", "marker": marker, "markersize": size, "markerfacecolor": "white"}
        axis.plot([x[place] for place in stopped], [y[place] for place in stopped], **hollow)
    if panel.proven and any(not row[panel.proven] for curve in curves.values() for row in curve):
        axis.plot([], [], "ko", markerfacecolor="white", markersize=6, linestyle="none", label="stopped, no proof")
    _scaled(axis, panel, sorted({row[panel.x] for curve in curves.values() for row in curve}))


def _scaled(axis: Any, panel: Panel, points: list[float]) -> None:
    """Ticks where the points are, and numbers without powers."""
    from matplotlib.ticker import EngFormatter, NullLocator

    if "x" in panel.log:
        axis.set_xscale("log")
    if points[-1] < 10_000:
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set_xticks(points, [f"{point:g}" for point in points], rotation=45 if len(points) > 6 else 0)
    else:
        axis.xaxis.set_major_formatter(EngFormatter(sep=""))
    if "y" in panel.log:
        _logarithmic(axis.yaxis, axis.set_yscale)
    elif axis.get_ylim()[1] >= 10_000:
        axis.yaxis.set_major_formatter(EngFormatter(sep=""))


def _logarithmic(axis: Any, set_scale: Any) -> None:
    """Label 1, 10 and 100 in plain numbers, and 2 and 5 as well where there are few of those."""
    from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

    set_scale("log")
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 100 else (1,), numticks=12))
    axis.set_major_formatter(EngFormatter(sep="") if low > 1000 else "{x:g}")
    axis.set_minor_formatter(NullFormatter())


def _points(axis: Any, panel: Panel, curves: dict[str, list[Row]]) -> None:
    every = [row[column] for curve in curves.values() for row in curve for column in (panel.x, panel.y)]
    ends = [min(every) - 0.3, max(every) + 0.3]
    axis.plot(ends, ends, color="grey", linewidth=1, label="the same")
    for name, curve in curves.items():
        across, up = ([row[column] for row in curve] for column in (panel.x, panel.y))
        axis.scatter(across, up, s=22, alpha=0.6, color=COLORS[0], label=name)
    axis.set_aspect("equal")


def _bars(axis: Any, panel: Panel, curves: dict[str, list[Row]]) -> None:
    for curve in curves.values():
        for row in curve:
            low, high = row[panel.x], row[panel.until]
            axis.barh(row[panel.y], high - low, left=low, height=0.7, color="#9ecae1", edgecolor="white")
            label = "any" if row["label"] == "*" else row["label"]
            axis.text((low + high) / 2, row[panel.y], label, ha="center", va="center", fontsize=8)
    axis.set_ylim(max(1, *(row[panel.y] for curve in curves.values() for row in curve)) + 0.5, -0.5)  # the root on top
    axis.set_yticks([])


def _steps(axis: Any, panel: Panel, curves: dict[str, list[Row]]) -> None:
    """Bars from the left, in groups by the name of x, the first on top."""
    names = list(dict.fromkeys(row[panel.x] for curve in curves.values() for row in curve))
    width = 0.8 / len(curves)
    for place, (name, curve) in enumerate(curves.items()):
        tops = [names.index(row[panel.x]) + place * width for row in curve]
        axis.barh(tops, [row[panel.y] for row in curve], width, label=name, color=COLORS[place % len(COLORS)])
    axis.set_yticks([place + 0.4 - width / 2 for place in range(len(names))], names)
    axis.invert_yaxis()
    axis.set(xlabel=panel.labels.get(panel.y, panel.y), ylabel="")
    if "y" in panel.log:
        _logarithmic(axis.xaxis, axis.set_xscale)
