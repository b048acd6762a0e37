"""Plots of experiments as SVG. Needs matplotlib, which is imported when the first plot is drawn."""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from typing import Any

from incrowd.errors import IncrowdError
from incrowd.reproduce.experiment import Outcome, Panel, Row

WIDTH, HEIGHT = 4.6, 3.8  # inches of a panel
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
    figure = Figure(figsize=(WIDTH * across, HEIGHT * down), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False).flatten()
    for axis, panel in zip(axes, outcome.panels, strict=False):
        _draw(axis, panel, outcome.rows)
    for axis in axes[len(outcome.panels) :]:
        axis.remove()
    named = {name: line for axis in figure.axes for line, name in zip(*axis.get_legend_handles_labels(), strict=True)}
    if named:
        figure.legend(named.values(), named, loc="outside lower center", ncols=2 * across, fontsize=8, frameon=False)
    return figure


def _draw(axis: Any, panel: Panel, rows: list[Row]) -> None:
    draw = {"lines": _lines, "points": _points, "bars": _bars, "steps": _steps}[panel.kind]
    draw(axis, panel, panel.curves(rows))
    axis.set(xlabel=panel.labels.get(panel.x, panel.x), ylabel=panel.labels.get(panel.y, panel.y), title=panel.title)
    if "x" in panel.log:
        axis.set_xscale("log")
        ticks = sorted({row[panel.x] for curve in panel.curves(rows).values() for row in curve})
        axis.set_xticks(ticks, [str(tick) for tick in ticks], rotation=45)
        axis.minorticks_off()
    if "y" in panel.log:
        axis.set_yscale("log")
    axis.spines[["top", "right"]].set_visible(False)


def _lines(axis: Any, panel: Panel, curves: dict[str, list[Row]]) -> None:
    for name, curve in curves.items():
        level = name.startswith(("baseline", "upper", "all generalized"))
        style = {"linestyle": "--", "linewidth": 1} if level else {"marker": "o", "markersize": 3}
        axis.plot([row[panel.x] for row in curve], [row[panel.y] for row in curve], label=name, **style)


def _points(axis: Any, panel: Panel, curves: dict[str, list[Row]]) -> None:
    every = [row[column] for curve in curves.values() for row in curve for column in (panel.x, panel.y)]
    ends = [min(every) - 0.3, max(every) + 0.3]
    axis.plot(ends, ends, color="grey", linewidth=1)
    for curve in curves.values():
        axis.scatter([row[panel.x] for row in curve], [row[panel.y] for row in curve], s=16)


def _bars(axis: Any, panel: Panel, curves: dict[str, list[Row]]) -> None:
    for curve in curves.values():
        for row in curve:
            low, high = row[panel.x], row[panel.until]
            axis.barh(row[panel.y], high - low, left=low, height=0.7, color="#9ecae1", edgecolor="white")
            axis.text((low + high) / 2, row[panel.y], row["label"], ha="center", va="center", fontsize=8)
    axis.set_ylim(max(2, *(row[panel.y] for curve in curves.values() for row in curve)) + 0.5, -0.5)  # the root on top
    axis.set_yticks([])


def _steps(axis: Any, panel: Panel, curves: dict[str, list[Row]]) -> None:
    names = list(dict.fromkeys(row[panel.x] for curve in curves.values() for row in curve))
    width = 0.8 / len(curves)
    for place, (name, curve) in enumerate(curves.items()):
        axis.bar(
            [names.index(row[panel.x]) + place * width for row in curve],
            [row[panel.y] for row in curve],
            width,
            label=name,
        )
    axis.set_xticks([place + 0.4 - width / 2 for place in range(len(names))], names, rotation=20, ha="right")
