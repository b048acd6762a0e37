"""The charts of a report, each a Vega-Lite specification as plain data, with a text that says what it shows.

`drawing` draws them without a script; any tool that knows Vega-Lite can draw them too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from incrowd.errors import many
from incrowd.report.labels import PEOPLE, shown

Spec = dict[str, Any]
BEFORE, AFTER = "original", "released"
TRAINED = {"original": "the original", "released": "the release", "without": "no quasi-identif."}
_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_MOST_TOLD = 3
_FAR = 30  # times the least loss: above, the small ones could not be told apart on an even scale


def _spec(title: str, told: str, rows: Sequence[Mapping[str, Any]], mark: str, **encoding: Any) -> Spec:
    return {
        "$schema": _SCHEMA,
        "title": title,
        "description": told,
        "data": {"values": [dict(row) for row in rows]},
        "layer": [{"mark": mark, "encoding": encoding}],
    }


def _ruled(spec: Spec, height: float) -> Spec:
    """A chart with a line across it, at a height."""
    rule = {"mark": "rule", "encoding": {"y": {"datum": height}}}
    return {**spec, "layer": [*spec["layer"], rule]}


def distribution_chart(column: Mapping[str, Any]) -> Spec:
    """The values of one column, before and after, beside each other.

    Args:
        column: An entry of `cost.columns` of a steward's summary.
    """
    told = column["distribution"]
    rows = [
        {"value": bar["value"], "table": table, "share": bar[key]}
        for bar in told["bars"]
        for table, key in ((BEFORE, "before"), (AFTER, "after"))
    ]
    largest = sorted(told["bars"], key=lambda bar: -bar["before"])[:_MOST_TOLD]
    pairs = "; ".join(f"{bar['value']}: {bar['before']:.1%} before, {bar['after']:.1%} after" for bar in largest)
    text = f"Shares of the values of {column['name']} before and after the release. Most frequent: {pairs}."
    value = {"field": "value", "type": "ordinal", "sort": None, "title": column["name"]}
    share = {"field": "share", "type": "quantitative", "axis": {"format": "%"}}
    colour = {"field": "table", "type": "nominal"}
    if told["kind"] == "numbers":
        return _spec(column["name"], text, rows, "bar", x=value, y=share, color=colour, xOffset={"field": "table"})
    return _spec(column["name"], text, rows, "bar", y=value, x=share, color=colour, yOffset={"field": "table"})


def class_sizes_chart(sizes: Mapping[str, Any]) -> Spec:
    """How many records stand in crowds of which size; people stand in the smallest one of theirs.

    Args:
        sizes: An entry of `safe.class_sizes`.
    """
    counted = sizes["counted"]
    rows = [
        {"size": str(b["from"]) if b["from"] == b["to"] else f"{b['from']:,}–{b['to']:,}", counted: b["records"]}
        for b in sizes["bins"]
    ]
    one = {"records": "record", "people": "person"}[counted]
    text = (
        f"{many(sizes['crowds'], 'crowd')}: the smallest has {many(sizes['smallest'], one, counted)}, the one in "
        f"the middle {sizes['median']:,}, the largest {sizes['largest']:,}."
    )
    size = {"field": "size", "type": "ordinal", "sort": None, "title": f"{counted} in the crowd"}
    their = "smallest crowd" if counted == PEOPLE else "crowd"
    return _spec(f"{counted.capitalize()} by the size of their {their}", text, rows, "bar", x=size, y=_count(counted))


def loss_chart(columns: Sequence[Mapping[str, Any]]) -> Spec:
    """What each column lost.

    Args:
        columns: The entries of `cost.columns` of a steward's summary.
    """
    rows = [{"column": each["name"], "loss": each["loss"]} for each in columns]
    worst = max(columns, key=lambda each: each["loss"])
    best = min(columns, key=lambda each: each["loss"])
    text = (
        f"Share of detail that each column lost, from {best['loss']:.0%} ({best['name']}) "
        f"to {worst['loss']:.0%} ({worst['name']})."
    )
    loss = {"field": "loss", "type": "quantitative", "axis": {"format": "%"}, "scale": {"domain": [0, 1]}}
    name = {"field": "column", "type": "nominal", "sort": None}
    return _spec("Loss of each column", text, rows, "bar", y=name, x=loss)


def path_charts(path: Mapping[str, Any]) -> list[Spec]:
    """Anonymity and loss over the steps of a search.

    Args:
        path: `cost.path` of a steward's summary.
    """
    step = {"field": "step", "type": "quantitative", "title": "step"}
    points = path["anonymity"]
    text = (
        f"Smallest crowd after each of {many(path['chosen'], 'step')}, from {points[0]['value']:,} "
        f"to {points[-1]['value']:,}; {path['asked']:,} were asked for."
    )
    worst = {"field": "value", "type": "quantitative", "scale": {"type": "log"}, "title": "smallest crowd"}
    made = [_ruled(_spec("Smallest crowd over the steps", text, points, "line", x=step, y=worst), path["asked"])]
    if losses := path["losses"]:
        text = f"Loss over the steps, from {losses[0]['value']:.1%} to {losses[-1]['value']:.1%}."
        loss = {"field": "value", "type": "quantitative", "axis": {"format": "%"}, "title": "loss"}
        made.append(_spec("Loss over the steps", text, losses, "line", x=step, y=loss))
    return made


def error_chart(classifier: str, errors: Mapping[str, float]) -> Spec:
    """How often a classifier errs, by what it was trained on.

    Args:
        classifier: Its name.
        errors: Its error, a share of 1, by what it was trained on.
    """
    rows = [{"trained on": name, "error": value} for name, value in errors.items()]
    text = f"Error of {classifier}: " + ", ".join(f"{value:.1%} with {name}" for name, value in errors.items()) + "."
    error = {"field": "error", "type": "quantitative", "axis": {"format": ".1%"}}
    name = {"field": "trained on", "type": "nominal", "sort": None}
    return _spec(f"Error of {classifier}", text, rows, "bar", y=name, x=error)


def comparison_chart(rows: Sequence[Mapping[str, Any]], loss: str, title: str) -> Spec:
    """Privacy against utility: each setting by its k and what it loses.

    Args:
        rows: The settings: "setting", which says all that is shown of it, "method", "k", "loss", and whether it is
            "dominated".
        loss: Name of the loss.
        title: What the loss is called.
    """
    best = [shown(f"{row['method']}, k={row['k']:,}", 40) for row in rows if not row["dominated"]]
    text = f"{title} of {len(rows)} settings by k. Not dominated by another: {'; '.join(best[:12])}."
    values = [row["loss"] for row in rows]
    wide = min(values) > 0 and max(values) > _FAR * min(values)
    return _spec(
        f"{title} by k",
        text,
        rows,
        "point",
        x={"field": "k", "type": "quantitative", "scale": {"type": "log"}, "title": "k"},
        y={"field": "loss", "type": "quantitative", "scale": {"type": "log" if wide else "linear"}, "title": loss},
        color={"field": "dominated", "type": "nominal"},
        tooltip={"field": "setting", "type": "nominal"},
    )


def _count(field: str) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "axis": {"format": ",d"}}
