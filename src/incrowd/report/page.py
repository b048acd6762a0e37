"""A summary as one HTML file that needs nothing else: no network, no script, and no text that is not escaped.

The templates escape everything; charts come as SVG, whose texts are escaped where they are drawn. A policy in the page
itself forbids scripts and requests, so that even a mistake here could run and fetch nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from incrowd.report import tables
from incrowd.report.charts import (
    TRAINED,
    class_sizes_chart,
    distribution_chart,
    error_chart,
    excess_chart,
    loss_chart,
    path_charts,
)
from incrowd.report.summary import sections_for
from incrowd.report.tables import count, figure

_MOST_DATA = 60  # rows of the data of a chart


def html_of(summary: Mapping[str, Any]) -> str:
    return (
        environment()
        .get_template("report.html")
        .render(**summary, **_charts(summary), sections=sections_for(summary["reader"]), style=style())
    )


def style() -> Markup:
    loader = environment().loader
    assert loader is not None
    return Markup(loader.get_source(environment(), "style.css")[0])


def _charts(summary: Mapping[str, Any]) -> dict[str, Any]:
    cost, columns = summary["cost"], summary["cost"]["columns"]
    attacks = summary["safe"].get("attacks")
    whole = bool(columns) and "distribution" in columns[0]
    losses = [each["value"] for each in cost.get("measures", ()) if each["name"] == "ncp"]
    return {
        "class_size_charts": [class_sizes_chart(sizes) for sizes in summary["safe"]["class_sizes"]],
        "excess_chart": excess_chart(attacks, summary["safe"]["max_excess"]) if attacks else None,
        "loss_chart": loss_chart(columns) if whole else None,
        "total_loss": losses[0] if losses else None,
        "distribution_charts": [(distribution_chart(column), column) for column in columns if whole],
        "error_charts": [
            error_chart(each["classifier"], {title: each[data]["value"] for data, title in TRAINED.items()})
            for each in cost.get("errors", ())
        ],
        "path_charts": path_charts(cost["path"]) if cost.get("path") else [],
    }


@cache
def environment() -> Environment:
    made = Environment(loader=PackageLoader("incrowd.report"), autoescape=True, trim_blocks=True)
    made.filters |= {name: each for name, each in vars(tables).items() if callable(each)}
    made.filters |= {
        "decimals": lambda value: f"{value:.2f}",
        "cut": lambda text, letters: text if len(text) <= letters else text[: letters - 1] + "…",
        "cells": _cells,
        "shade": _shade,
        "pairs": lambda table: [(key, _text(value)) for key, value in table.items()],
        "column_rows": lambda columns: [(each["name"], count(each["released_values"])) for each in columns],
    }
    made.globals["trial_titles"] = tables.TRIAL
    return made


def _cells(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    found = [[_text(value) for value in row.values()] for row in rows[:_MOST_DATA]]
    more = len(rows) - len(found)
    return [*found, *([[f"and {more:,} more"]] if more > 0 else [])]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return figure(value) if isinstance(value, int | float) else str(value)


def _shade(value: float) -> str:
    """The background of a cell of a matrix, the stronger the larger its value."""
    share = round(70 * min(1.0, max(0.0, value)))
    return f"background: color-mix(in srgb, var(--after) {share}%, transparent)"
