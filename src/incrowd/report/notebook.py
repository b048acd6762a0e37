"""Results in notebooks: the pieces of the report, each in a frame with its own style.

Nothing here runs a script, and everything is escaped, like in the report.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from incrowd.errors import many
from incrowd.measures.registry import MEASURES
from incrowd.report.brief import brief, crowd_size, released_records
from incrowd.report.charts import (
    Chart,
    comparison_chart,
    error_chart,
    excess_chart,
    loss_chart,
    releases_charts,
    sheet,
)
from incrowd.report.labels import MOST_COLUMNS, listed, meaning, shown
from incrowd.report.page import environment, style
from incrowd.report.tables import cell, compared, comparison_rows, more, short_figure
from incrowd.report.trees import tree_lines
from incrowd.version import __version__

if TYPE_CHECKING:
    from incrowd.advice.why import Why
    from incrowd.attacks.result import AttackReport
    from incrowd.comparison.comparison import Comparison
    from incrowd.comparison.runs import SettingRun
    from incrowd.display import Tabular
    from incrowd.evaluation.result import Evaluation
    from incrowd.recodings.recoding import Recoding
    from incrowd.release.release import Release
    from incrowd.taxonomies.taxonomy import Taxonomy

MOST_ROWS = 40
_STRONGER = Markup(  # than the style of notebooks, which aligns all cells on the right, in columns of one width
    ".incrowd.incrowd table { table-layout: auto; } .incrowd.incrowd td, .incrowd.incrowd th { text-align: left; } "
    ".incrowd.incrowd .number { text-align: right; }"
)


def piece(template: str, **values: Any) -> str:
    """A piece of a report, with the style that it needs."""
    body = environment().get_template(f"notebook/{template}.html").render(**values)
    frame = Markup('<div class="incrowd"><style>{style}{stronger}</style>{body}</div>')
    return str(frame.format(style=style(), stronger=_STRONGER, body=Markup(body)))


def rows_html(title: str, rows: Sequence[Mapping[str, Any]], notes: Sequence[str] = ()) -> str:
    titles = list(dict.fromkeys(name for row in rows for name in row))
    above = ""
    if len(rows) > 2 and all(row.get(titles[0]) == rows[0].get(titles[0]) for row in rows):  # once is enough
        above = f"{titles[0].replace('_', ' ')}: {cell(rows[0].get(titles.pop(0)))}"
    cells = [[cell(row.get(name)) for name in titles] for row in rows[:MOST_ROWS]]
    return piece(
        "rows",
        title=title,
        above=above,
        titles=[name.replace("_", " ") for name in titles],
        cells=cells,
        numbers=[place for place, name in enumerate(titles) if place and _all_numbers(rows, name)],
        more=len(rows) - MOST_ROWS,
        notes=[shown(note, 400) for note in notes[:MOST_ROWS]],
    )


def _all_numbers(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    found = [row[name] for row in rows if row.get(name) is not None]
    return bool(found) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in found)


def release_html(release: Release) -> str:
    summary = brief(release)
    records, columns = summary["cost"]["records"], summary["cost"]["columns"]
    text = [
        f"{released_records(records)}, each in a crowd of at least {crowd_size(crowd)} on "
        f"{listed(crowd['quasi_identifier'])} ({', '.join(crowd['promises'])})"
        for crowd in summary["safe"]["crowds"]
    ]
    left_out = [f"{many(records['left_out'], 'record was', 'records were')} left out"] if records["left_out"] else []
    warnings = [f"warning: {warning}" for warning in summary["safe"]["warnings"]]
    rows = [
        (
            each["name"],
            f"{each['original_values']:,} → {each['released_values']:,}",
            ", ".join(each["first_values"]) + more(each["released_values"] - len(each["first_values"])),
        )
        for each in columns
    ]
    return piece(
        "release",
        title=f"{summary['title']} by {release.policy.method}",
        notes=[*text, *left_out, *warnings, *summary["done"]["notes"]],
        rows=rows,
        more=summary["cost"]["more_columns"],
        chart=loss_chart(columns),
    )


def recoding_html(recoding: Recoding) -> str:
    """A recoding: the released values of each column, and what they stand for."""
    books = []
    for name in recoding.names[:MOST_COLUMNS]:
        pairs = list(zip(recoding.labels(name), recoding.meanings(name), strict=True))
        rows = [(shown(label), _stands_for(shown(label), shown(text, 200))) for label, text in pairs[:MOST_ROWS]]
        books.append({"column": shown(name), "rows": rows, "more": len(pairs) - MOST_ROWS})
    return piece(
        "codebook",
        books=books,
        more=len(recoding.names) - MOST_COLUMNS,
    )


def _stands_for(label: str, text: str) -> str:
    """What a released value stands for; its own text says it where it is an interval."""
    return text if text != label else meaning(label) or "itself"


def taxonomy_html(taxonomy: Taxonomy) -> str:
    return piece("taxonomy", title=taxonomy.headline(), lines=tree_lines(taxonomy, {}))


def comparison_html(comparison: Comparison) -> str:
    return piece(
        "comparison",
        table=shown(comparison.table),
        charts=_comparison_charts(comparison),
        titles=["method", "k", *compared(comparison).values()],
        rows=comparison_rows(comparison),
        problems=[shown(f"{run}: {run.status}: {run.problem}", 400) for run in comparison.runs if run.problem],
    )


def comparison_svg(comparison: Comparison) -> str:
    """The charts of a comparison as one picture that needs nothing else."""
    title = f"{shown(comparison.table)}: privacy against loss (right and low is better)"
    return str(sheet(title, _comparison_charts(comparison), _plain_style(".incrowd svg .hint { display: none; }")))


def releases_svg(releases: Sequence[Mapping[str, Any]]) -> str:
    """What became of loss, and of people who wait, from release to release, as one picture that needs nothing else."""
    return str(sheet("Releases over time", releases_charts(releases), _plain_style()))


def _plain_style(more: str = "") -> Markup:
    """The style of charts for viewers that do not know variables."""
    colours = dict(re.findall(r"(--\w+): (#\w+)", style().partition("@media")[0]))
    rules = [line for line in style().splitlines() if line.startswith(".incrowd svg")]
    return Markup(re.sub(r"var\((--\w+)\)", lambda found: colours[found[1]], "\n".join(rules)) + more)


def _comparison_charts(comparison: Comparison) -> list[Chart]:
    charts = []
    for loss in comparison.losses:
        title = MEASURES[loss].title if loss in MEASURES else loss.replace("_", " ")
        rows = [_setting(comparison, run, loss, title) for run in comparison.runs if run.value(loss) is not None]
        charts.append(comparison_chart(rows, title))
    return charts


def _setting(comparison: Comparison, run: SettingRun, loss: str, title: str) -> dict[str, Any]:
    better = comparison.dominated_by(run, loss)
    text = f"{run.method}, k={run.k:,}: {title} {short_figure(run.value(loss))}"
    text += "" if better is None else f" (dominated by {better.method}, k={better.k:,})"
    value = run.value(loss)
    return {"setting": text, "method": run.method, "k": run.k, "loss": value, "dominated": better is not None}


def evaluation_html(evaluation: Evaluation) -> str:
    """An evaluation: what each classifier errs with the original, the release, and without the columns at issue."""
    trained = {"baseline": "the original", "anonymity": "the release", "upper": "no quasi-identif."}
    charts = [
        error_chart(shown(each.classifier), {name: getattr(each, field).value for field, name in trained.items()})
        for each in evaluation.errors
    ]
    titles = {**trained, "quality_loss": "release - original", "impact": "no quasi-identif. - original"}
    rows = [
        {
            f"{evaluation.measured} in percent": each.classifier,
            **{name: str(getattr(each, field)) for field, name in titles.items()},
        }
        for each in evaluation.errors
    ]
    drawn = piece("charts", charts=charts)
    notes = [
        f"{evaluation.train:,} training and {evaluation.test:,} test rows: {evaluation.design}, {evaluation.how}",
        evaluation.intervals,
    ]
    return drawn + rows_html("Error of classifiers", rows, notes)


def attacks_html(found: AttackReport) -> str:
    """Attacks: the excess of each, what it means, and what was not tried."""
    rows = found.to_rows()
    drawn = piece("charts", charts=[excess_chart(rows, found.max_excess)]) if rows else ""
    shown = [
        {
            "group": row["group"],
            "attack": row["attack"],
            "trials": row["trials"],
            "successes": f"{row['successes']:.2%}",
            "control": f"{row['control']:.2%}",
            "excess": f"{row['excess']:+.2%} [{row['low']:.2%}, {row['high']:.2%}]",
            "leak": row["leak"],
            "what it means": row["meaning"],
        }
        for row in rows
    ]
    return drawn + rows_html(found.headline(), shown, found.remarks())


def why_html(why: Why) -> str:
    """Why a column lost so much: what was tried, in words alone."""
    rows = [{name: value for name, value in row.items() if name != "words"} for row in why.to_rows()]
    return rows_html(why.headline(), rows, why.remarks())


def page_of(result: Tabular) -> str:
    """A result as a page of its own, with the pieces that a notebook shows; confidential."""
    values = {"title": type(result).__name__, "version": __version__, "body": Markup(result._repr_html_())}
    return environment().get_template("result.html").render(style=style(), **values)
