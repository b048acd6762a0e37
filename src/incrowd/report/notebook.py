"""Results in notebooks: the pieces of the report, each in a frame with its own style.

Nothing here runs a script, and everything is escaped, like in the report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from incrowd.report.charts import comparison_chart, error_chart
from incrowd.report.labels import shown
from incrowd.report.page import environment, style
from incrowd.report.tables import figure

if TYPE_CHECKING:
    from incrowd.comparison.comparison import Comparison
    from incrowd.evaluation.result import Evaluation
    from incrowd.release import Release
    from incrowd.tabular import Tabular

MOST_ROWS = 40
_PARTS = "{% import 'parts.html' as part with context %}"


def piece(template: str, **words: Any) -> str:
    """A piece of a report, with the style that it needs."""
    body = environment().from_string(_PARTS + template).render(**words)
    frame = Markup('<div class="incrowd"><style>{style}</style>{body}</div>')
    return str(frame.format(style=style(), body=Markup(body)))


def rows_html(title: str, rows: Sequence[Mapping[str, Any]], notes: Sequence[str] = ()) -> str:
    """A result that is a table."""
    titles = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_cell(row.get(name)) for name in titles] for row in rows[:MOST_ROWS]]
    return piece(
        "<h3><bdi>{{ title }}</bdi></h3>{{ part.table(titles, cells) }}"
        "{% if more > 0 %}<p class='faint'>and {{ more|count }} more rows</p>{% endif %}"
        "{% if notes %}<ul>{% for note in notes %}<li><bdi>{{ note }}</bdi></li>{% endfor %}</ul>{% endif %}",
        title=title,
        titles=[name.replace("_", " ") for name in titles],
        cells=cells,
        more=len(rows) - MOST_ROWS,
        notes=[shown(note, 400) for note in notes[:MOST_ROWS]],
    )


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(shown(each, 30) for each in value[:6]) + (
            f" and {len(value) - 6:,} more" if len(value) > 6 else ""
        )
    return figure(value) if isinstance(value, int | float) else shown(value, 200)


def release_html(release: Release) -> str:
    """A release: its crowds, and what became of each column."""
    measures = release.measures
    crowds = [
        f"{qid.anonymity:,} on {', '.join(shown(name, 40) for name in qid.attributes[:12])} (k={qid.k:,})"
        for qid in measures.quasi_identifiers
    ]
    released = measures.records - measures.total.suppressed
    told = [f"{released:,} records released, each in a crowd of at least {crowd}" for crowd in crowds]
    if measures.total.suppressed:
        told.append(f"{measures.total.suppressed:,} records were left out")
    title = f"Release of {shown(release.source.name)} by {release.policy.method}"
    return rows_html(title, release.to_rows(), [*told, *release.notes])


def comparison_html(comparison: Comparison) -> str:
    """A comparison: privacy against each loss, and the table."""
    charts = []
    for loss in comparison.losses:
        rows = [
            {
                "setting": f"{run.method}, k={run.k}: {figure(value)}",
                "k": run.k,
                "loss": value,
                "dominated": comparison.dominated_by(run, loss) is not None,
            }
            for run in comparison.runs
            if (value := run.value(loss)) is not None
        ]
        charts.append(comparison_chart(rows, loss, loss.replace("_", " ").upper() if len(loss) < 4 else loss))
    drawn = piece(
        "<div class='cards'>{% for spec in charts %}{{ part.chart(spec, note) }}{% endfor %}</div>",
        charts=charts,
        note="a point is a setting; grey ones are dominated by another",
    )
    return drawn + rows_html(f"Comparison of {shown(comparison.table)}", comparison.to_rows())


def evaluation_html(evaluation: Evaluation) -> str:
    """An evaluation: what each classifier errs with the original, the release, and without the columns at issue."""
    trained = {"baseline": "the original", "anonymity": "the release", "upper": "no quasi-identif."}
    charts = [
        error_chart(shown(each.classifier), {name: getattr(each, word).value for word, name in trained.items()})
        for each in evaluation.errors
    ]
    titles = {**trained, "quality_loss": "release - original", "impact": "no quasi-identif. - original"}
    rows = [
        {"error in percent": each.classifier, **{name: str(getattr(each, word)) for word, name in titles.items()}}
        for each in evaluation.errors
    ]
    drawn = piece("<div class='cards'>{% for spec in charts %}{{ part.chart(spec) }}{% endfor %}</div>", charts=charts)
    notes = [
        f"{evaluation.train:,} training and {evaluation.test:,} test rows: {evaluation.design}",
        evaluation.intervals,
    ]
    return drawn + rows_html("Error of classifiers", rows, notes)


def page_of(result: Tabular) -> str:
    """A result as a page of its own, with the pieces that a notebook shows; confidential."""
    title, body = type(result).__name__, Markup(result._repr_html_())
    return environment().get_template("result.html").render(title=title, style=style(), body=body)
