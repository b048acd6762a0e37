"""Registers how each result is printed and drawn; results themselves know nothing of it (`incrowd.display`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from incrowd.display import Renderer, Tabular, register
from incrowd.report import notebook, terminal
from incrowd.report.brief import brief
from incrowd.report.terminal import as_text

if TYPE_CHECKING:
    from incrowd.release.release import Release
    from incrowd.risk.assessment import ReleaseRisk


def summary_text(release: Release) -> str:
    """What a steward wants to know of a release."""
    return as_text(terminal.print_summary, brief(release))


def _release_risk(risk: ReleaseRisk) -> str:
    return "\n\n".join(
        as_text(terminal.print_risk, pair.before, pair.after, width=160) for pair in risk.quasi_identifiers
    )


def _table(result: Tabular) -> str:
    title, notes = result.title_and_notes()
    return notebook.rows_html(title, result.to_rows(), notes)


def _printed(show: Callable[..., None], width: int = terminal.WIDTH) -> Callable[[Any], str]:
    return lambda result: as_text(show, result, width=width)


register("Release", Renderer(_printed(terminal.print_brief_release), notebook.release_html))
register("Verification", Renderer(_printed(terminal.print_verification), _table))
register("Inspection", Renderer(_printed(terminal.print_inspection, 110), _table))
register("Risk", Renderer(_printed(terminal.print_risk, 160), _table))
register("ReleaseRisk", Renderer(_release_risk, _table))
register("Evaluation", Renderer(_printed(terminal.print_evaluation), notebook.evaluation_html))
register("Comparison", Renderer(_printed(terminal.print_comparison, 160), notebook.comparison_html))
register("Why", Renderer(_printed(terminal.print_why), _table))
register("Recoding", Renderer(str, notebook.recoding_html))
register("Taxonomy", Renderer(repr, notebook.taxonomy_html))
